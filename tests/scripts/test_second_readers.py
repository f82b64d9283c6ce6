"""Treebanks read twice: equal where both are right, and told where they are not."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

import second_readers
from treebanks import second
from treebanks.second import Sentence

PENN = """( (S (NP-SBJ-1 (DT A) (NN thin\u200aspace)) (VP (VBD was) (VP (VBN set)
  (NP (-NONE- *-1)))) (-LRB- -LRB-)))
( (S (NP (NN b))
     (VP (VBZ c))) )
"""
PSD = """( (IP-MAT=1 (NP-SBJ-1 (PRO-N Hun-hún)) (VBDI sá-sjá) (CODE <P_1>) (NP *T*-1) (, ,-,)
  (NUM 0-0)) (ID 1.A,.1))

( (CODE <x>) (ID 1.A,.2))
"""
FLORESTA = """#1 CP1-1 Ela foi (dar) .
(STA+fcl (SUBJ+pron Ela) (P-+vp (AUX+v foi)) ({) (-P+vp (H+v ver)) (}) (.))

#2 CP1-2 Sim
(UTT+adv Sim
"""
SINICA = """#1:1.[2] S(theme:NP(Head:Nad:a)|time:Dd:b|Head:V_2:c)#，(COMMACATEGORY)
#2:[3] Nab:d
"""
TIGER = """<corpus><body><s id="s1"><graph root="s1_VROOT"><terminals>
<t id="s1_1" word="Ja" pos="ITJ"/><t id="s1_2" word="(" pos="$("/>
<t id="s1_3" word="so" pos="ADV"/></terminals>
<nonterminals><nt id="s1_500" cat="AVP"><edge label="HD" idref="s1_1"/><edge label="MO" idref="s1_3"/></nt>
</nonterminals></graph></s></body></corpus>
"""
ALPINO = """<alpino><alpino_ds id="a1"><node cat="top" rel="top" begin="0" end="3">
<node cat="np" rel="--" begin="0" end="3"><node rel="hd" pt="n" lemma="a b" begin="2" end="3" word="b"/><node
 rel="mod" index="1" begin="0" end="1"/><node rel="mod" pt="adj" begin="0" end="1" word="a"/></node><node
 rel="--" pt="let" begin="1" end="2" word=","/></node></alpino_ds></alpino>
"""
CONLLU = "1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_\n2\tb\tb\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "a-dev.mrg.gz": PENN,
        "b-dev.psd.gz": PSD,
        "floresta-dev.ptb.gz": FLORESTA,
        "sinica-dev.txt.gz": SINICA,
        "c-dev.tiger.xml.gz": TIGER,
        "alpino-dev.xml.gz": ALPINO,
        "d-dev.conllu.gz": CONLLU,
    }
    for name, text in texts.items():
        encoding = "latin-1" if name.startswith("floresta") else "utf-8"
        (tmp_path / name).write_bytes(gzip.compress(text.encode(encoding)))
    monkeypatch.setenv("D2C_TREEBANKS", str(tmp_path))


def run(*arguments: str) -> tuple[int, list[list[str]], str]:
    """Run the script; return its status, the cells of its table, and all it printed."""
    result = CliRunner().invoke(second_readers.main, arguments, catch_exceptions=False)
    rows = [line.strip("| ").split(" | ") for line in result.output.splitlines() if line.startswith("| ")]
    return result.exit_code, rows[2:], result.output


def test_both_readers_agree() -> None:
    pytest.importorskip("udapi")
    names = [] if find_spec("treetools") else ["--treebanks", "a-,b-,sinica,d-"]
    status, rows, output = run(*names, "--part", "dev")
    assert status == 0, output
    assert {row[-1] for row in rows} == {"0"} and "sentence 1" not in output
    counted = {(row[0], row[1]): row[3:8] for row in rows}
    assert counted["a-dev.mrg.gz", "raw"] == ["2", "8", "8", "0", "0"]
    assert counted["a-dev.mrg.gz", "cleaned"] == ["2", "7", "7", "0", "0"]
    assert counted["b-dev.psd.gz", "cleaned"] == ["1", "4", "2", "0", "0"]
    assert counted["sinica-dev.txt.gz", "raw"] == ["2", "5", "2", "0", "2"]
    assert counted["d-dev.conllu.gz", "raw"] == ["1", "2", "0", "0", "2"]
    if not names:
        assert counted["c-dev.tiger.xml.gz", "raw"] == ["1", "3", "2", "1", "1"]
        assert counted["alpino-dev.xml.gz", "export"] == counted["alpino-dev.xml.gz", "discbracket"]
        assert counted["c-dev.tiger.xml.gz", "discobrackets"] == ["1", "3", "2", "1", "0"]
        assert counted["floresta-dev.ptb.gz", "raw"] == ["2", "7", "2", "1", "1"]


def test_differences_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(path: Path, clean: bool) -> Iterator[Sentence]:
        first, _ = second.penn(path, clean)
        first.tags[0] = "WRONG"
        first.nodes["X", (0,)] += 1
        yield first

    kind = second_readers.Kind("a-*", "brackets", "nltk", wrong)
    monkeypatch.setattr(second_readers, "KINDS", (kind,))
    status, rows, output = run()
    assert status == 1 and rows[0][-1] == "1 tags, 1 nodes, 1 sentences"
    assert (
        "sentence 1: words [], tags [('DT', 'WRONG')], nodes (Counter(), Counter({('X', (0,)): 1}))" in output
    )
