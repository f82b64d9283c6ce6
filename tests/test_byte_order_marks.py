"""Files that begin with UTF-8's byte order mark, as Windows' programs write it, are read as without it."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from d2c.base.files import AnyPath, open_input
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.registry import FORMATS, read_treebank
from d2c.trees.heads import load_head_rules
from d2c.trees.scores.evalb import evaluate_files
from d2c.trees.scores.prm import DiscoParameters, EvalbParameters
from treebanks.files import read_treebanks

BOM = "\ufeff"
TREEBANKS = {
    "brackets": "(S (NP (NN Café)) (. .))\n",
    "discbracket": "(S (NP (NN 0=Café)) (. 1=.))\n",
    "export": "#BOS 1\nCafé\tNN\t--\tHD\t0\n#EOS 1\n",
    "historical": "((IP-MAT (NP-SBJ (N Café-café)) (. .-.)) (ID X,.1))\n",
    "cess": "(S (NP (NN Café café)) (. . .))\n",
    "nbest": "1 s.1\n-2.5\n(S (NP (NN Café)) (. .))\n",
    "indexbracket": "(S (NN 0) (. 1))\tCafé .\n",
    "sejong": "(S (NP Café/NNG) (VP a/NP + b/JX))\n",
    "conll2012": "#begin document (a); part 000\na 0 0 Café NN (TOP*) - - - A * -\n\n#end document\n",
    "constituency": "# constituency = (ROOT (NN Café))\n1\tCafé\t_\tNN\tNN\t_\t0\troot\t_\t_\n\n",
    "corenlp": '{"sentences": [{"parse": "(ROOT (NN Café))", "tokens": [{"index": 1, "word": "Café"}]}]}\n',
    "corenlpxml": (
        "<root><document><sentences><sentence id='1'><tokens><token id='1'><word>Café</word></token></tokens>"
        "<parse>(ROOT (NN Café))</parse></sentence></sentences></document></root>"
    ),
    "json": '{"tokens": ["Café"], "tags": ["NN"], "spans": [{"label": "NP", "start": 0, "end": 1}]}\n',
    "jsontrees": '{"trees": "(S (NN Café))"}\n',
    "genia": "<Annotation><sentence><cons cat='S'><tok cat='NN'>Café</tok></cons></sentence></Annotation>",
    "frenchxml": "<text><SENT><NP><w cat='N' lemma='café'>Café</w></NP></SENT></text>",
    "sinica": "#1:1.[0] NP(Head:Nab:看)#。(PERIODCATEGORY)\n",
    "floresta": "#1 CP1 A\n(STA+fcl (SUBJ+np (H+n história)) (.))\n",
    "tigerxml": '<s id="s1"><graph><terminals><t id="a" word="Café" pos="NN"/></terminals></graph></s>',
    "alpinoxml": '<alpino_ds><node cat="top"><node begin="0" end="1" word="Café" pt="n"/></node></alpino_ds>',
}


def _conllu(path: AnyPath) -> Any:
    return list(read_conllu(path))


def _heads(path: Path) -> Any:
    rules = load_head_rules(str(path))
    return rules.searches, rules.default


OTHERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "conllu": (_conllu, "1\tCafé\t_\tNN\tNN\t_\t0\troot\t_\t_\n\n"),
    "heads": (_heads, "NP left NN Né\n"),
    "prm": (EvalbParameters.read, "DELETE_LABEL É\n"),
    "disco.prm": (DiscoParameters.read, "DELETE_LABEL É\n"),
    "evalb lines": (lambda path: list(evaluate_files(path, path, EvalbParameters())), "(S (NN Café))\n"),
    "toml": (read_treebanks, '["é"]\ntrain = "a.mrg"\ndev = "b.mrg"\n'),
}


@pytest.mark.parametrize("format_name", sorted(FORMATS.keys() - {"parquet"}))
@pytest.mark.parametrize("packed", [False, True])
def test_treebanks(tmp_path: Path, format_name: str, packed: bool) -> None:
    text = TREEBANKS[format_name]
    for name, content in (("without", text), ("with", BOM + text)):
        data = content.encode()
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
        (tmp_path / name).write_bytes(data)
    suffix = ".gz" if packed else ""
    ctrees = [list(read_treebank(tmp_path / f"{name}{suffix}", format_name)) for name in ("without", "with")]
    assert ctrees[0] == ctrees[1]
    assert ctrees[1][0].tokens.forms[0] in ("Café", "看", "história")


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_other_files(tmp_path: Path, name: str) -> None:
    read, text = OTHERS[name]
    (tmp_path / "file").write_text(text, encoding="utf-8")
    without = read(tmp_path / "file")
    (tmp_path / "file").write_text(BOM + text, encoding="utf-8")
    assert read(tmp_path / "file") == without


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("é\n", BOM + "é\n"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        with open_input("-") as stream:
            assert stream.read() == "é\n"
