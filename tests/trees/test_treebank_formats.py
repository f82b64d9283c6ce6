"""Export, TIGER XML, Alpino XML, Penn-historical and Sinica: round trips, details, errors, the real files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pytest
from click.testing import CliRunner
from hypothesis import given

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens, canonical
from d2c.trees.formats.alpinoxml import read_alpinoxml, write_alpinoxml
from d2c.trees.formats.discbracket import format_discbracket, parse_discbracket
from d2c.trees.formats.export import format_export, read_export, write_export
from d2c.trees.formats.graphs import listed
from d2c.trees.formats.historical import read_historical
from d2c.trees.formats.registry import format_of, read_treebank
from d2c.trees.formats.sinica import read_sinica
from d2c.trees.formats.tigerxml import read_tigerxml, write_tigerxml
from d2c.trees.heads import load_head_rules
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.errors import faulty
from tests.strategies import ctrees
from tests.treebanks import TREEBANKS, needs_treebanks

ROOT = Path(__file__).resolve().parents[2]

Write = Callable[[Iterable[CTree], TextIO], None]
GRAPHS = [(write_export, read_export), (write_tigerxml, read_tigerxml), (write_alpinoxml, read_alpinoxml)]


def written(ctrees: Iterable[CTree], write: Write, path: Path) -> Path:
    with open(path, "w", encoding="utf-8") as stream:
        write(ctrees, stream)
    return path


def parse(text: str) -> CTree:
    return parse_discbracket(text)


@pytest.mark.parametrize("word", ["#5", "#499", "#", "#x", "#BOSS", "#BOS2", "#EOSX", "#BOT", "#FORMAT"])
def test_export_holds_words_that_begin_like_its_marks(tmp_path: Path, word: str) -> None:
    ctree = parse(f"(S (A 0={word}) (B 1=b) (A 2={word}))")
    assert list(read_export(written([ctree, ctree], write_export, tmp_path / "x"))) == [ctree, ctree]


@pytest.mark.parametrize(("write", "read"), GRAPHS)
@given(ctree=ctrees())
def test_graph_formats_hold_every_tree(
    tmp_path_factory: pytest.TempPathFactory, write: Write, read: Any, ctree: CTree
) -> None:
    bare = replace(ctree, head_children=None)
    path = written([bare, bare], write, tmp_path_factory.mktemp("x") / "x")
    expected = bare if bare.top != "" else replace(bare, top="TOP")
    assert list(read(path)) == [expected, expected]


@pytest.mark.parametrize(("write", "read"), GRAPHS)
@given(ctree=ctrees())
def test_graph_formats_mark_heads(
    tmp_path_factory: pytest.TempPathFactory, write: Write, read: Any, ctree: CTree
) -> None:
    path = written([ctree], write, tmp_path_factory.mktemp("x") / "x")
    assert list(read(path, marked=True)) == [ctree if ctree.top != "" else replace(ctree, top="TOP")]


def test_wrappers_and_virtual_roots() -> None:
    whole, parents, _ = listed(parse("(TOP (S (A 0=a) (B 1=b)))"))
    assert whole.labels == ("S", "TOP") and parents == [2, 2, 3, -1]
    _, parents, _ = listed(parse("(VROOT (S (A 0=a) (B 1=b)) (C 2=.))"))
    assert parents == [3, 3, -1, -1]


EXPORT = """#FORMAT 3
#BOT ORIGIN
0 x
#EOT ORIGIN
%% a comment
#BOS 1 2 890 1 %% another
Er\tPPER\t3.Sg\tSB\t500
kommt\tVVFIN\t--\tHD\t500 MO\t500 %% and another
.\t$.\t--\t--\t0
#500\tS\t--\t--\t0
#EOS 1
"""


def test_export_of_version_3(tmp_path: Path) -> None:
    path, left_out = tmp_path / "x.export", Counter[str]()
    path.write_text(EXPORT)
    (ctree,) = read_export(path, left_out=left_out)
    assert format_discbracket(ctree) == "(VROOT (S (PPER 0=Er) (VVFIN 1=kommt)) ($. 2=.))"
    assert ctree.tokens.morphs == ("3.Sg", "--", "--") and ctree.head_children is None
    assert ctree.functions == ("SB", "HD", "", "", "") and ctree.secondary == ((1, "MO", 3),)
    assert +left_out == {"header tables": 1, "comments": 2}
    (marked,) = read_treebank(path, marked=True)
    assert [marked.label(head) for head in marked.head_children or ()] == ["VVFIN", "S"]
    path.write_text(EXPORT.replace("#FORMAT 3\n", ""))  # told by the columns
    assert list(read_export(path)) == [ctree]
    assert format_export(ctree).splitlines()[1:3] == [
        "Er\t--\tPPER\t3.Sg\tSB\t500",
        "kommt\t--\tVVFIN\t--\tHD\t500\tMO\t500",
    ]
    for word in ("#BOS", "#EOS", "#0500"):
        with pytest.raises(ValueError, match=f"the word '{word}' cannot be written"):
            format_export(parse(f"(S (A 0={word}) (B 1=b))"))
    with pytest.raises(ValueError, match="the word '#500' cannot be written"):
        format_export(parse("(S (A 0=#500) (B 1=b))"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#EOS 1\n", "", ":6: sentence 1: #EOS is missing"),
        ("#BOS 1 2 890 1 %% another\n", "", ":6: sentence 1: expected #BOS before the lines of a sentence"),
        ("SB\t500", "SB\t501", ":7: sentence 1: the parent '501' does not exist"),
        ("3.Sg\tSB\t500", "500", ":7: sentence 1: expected 5 columns, the last a node"),
        ("--\t0\n#EOS", "--\t500\n#EOS", ":10: sentence 1: the nodes form a circle"),
        ("#FORMAT 3", "#FORMAT 5", ":1: this format is neither 3 nor 4"),
    ],
)
def test_errors_of_export(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "x.export"
    path.write_text(EXPORT.replace(old, new))
    with pytest.raises(FormatError) as error:
        list(read_export(path))
    assert str(error.value) == f"{path}{message}"


def read_export_with(path: Path, text: str, **options: Any) -> tuple[int, list[str], Counter[str]]:
    """How many trees a text has, what is wrong with it, and what is left out."""
    path.write_text(text)
    faults, left_out = list[str](), Counter[str]()
    trees = read_export(path, lambda error: faults.append(str(error)), left_out=left_out, **options)
    return len(list(trees)), [fault.removeprefix(f"{path}:") for fault in faults], +left_out


def test_a_header_table_that_has_no_end(tmp_path: Path) -> None:
    """It ends where the next one, or a sentence, begins."""
    path, again = tmp_path / "x.export", EXPORT[EXPORT.index("#BOS") :].replace("#FORMAT 3\n", "")
    assert read_export_with(path, EXPORT + again)[0] == 2
    for old, new in (("#EOT ORIGIN\n", ""), ("#EOT ORIGIN\n", "#BOT A\n0 x\n#BOT B\n#EOT B\n")):
        text = EXPORT.replace(old, new).replace("%% a comment\n", "") + again
        count, faults, left_out = read_export_with(path, text)
        assert (count, faults) == (2, []) and left_out["lines outside trees"] == 1 + new.count("A")
        count, faults, left_out = read_export_with(path, text, strict=True)
        assert count == 2 and faults[0] == "2: sentence 1: the header table that begins here has no #EOT"
    text = EXPORT + "#BOT late\n" + again + "#BOT last\n1 2\n"
    assert read_export_with(path, text)[0] == 2


def test_lines_outside_of_the_sentences_of_export(tmp_path: Path) -> None:
    """They are counted, or refused; a sentence whose first line is missing is an error that costs itself."""
    path = tmp_path / "x.export"
    text = EXPORT + "* * *\nedited 2003\n\n" + EXPORT[EXPORT.index("#BOS") :] + "end\n"
    count, faults, left_out = read_export_with(path, text)
    assert (count, faults) == (2, []) and left_out["lines outside trees"] == 3
    count, faults, _ = read_export_with(path, text, strict=True)
    assert count == 2
    assert faults == [
        "12: sentence 2: '* * *' belongs to no tree; see --strict",
        "21: sentence 4: 'end' belongs to no tree; see --strict",
    ]
    text = text.replace("#BOS 1 2 890 1 %% another\n", "", 1)
    count, faults, left_out = read_export_with(path, text)
    assert count == 1 and left_out["lines outside trees"] == 3
    assert faults == ["6: sentence 1: expected #BOS before the lines of a sentence"]
    path.write_text("It is\nno treebank\n")
    with pytest.raises(FormatError, match="no sentence found in this file"):
        list(read_export(path))
    path.write_bytes(EXPORT.replace("Er", "Ér").encode("cp1252"))
    assert next(read_export(path, charset="cp850")).tokens.forms[0] == "╔r"


@pytest.mark.parametrize(("write", "read"), GRAPHS)
def test_what_says_no_lemma_is_written_as_none(tmp_path: Path, write: Write, read: Any) -> None:
    """`_`, as in CoNLL-U, and nothing; the lemma of the word `_` is `_`."""
    tokens = Tokens(("a", "b", "_", "c"), ("A",) * 4, ("_", "", "_", "be"), ("", "X", "_", "_"))
    tree = CTree(tokens, ("S",), ((0, 1, 2, 3),))
    (found,) = read(written([tree], write, tmp_path / "x"))
    assert found.tokens.lemmas == ("--", "--", "_", "be") and found.tokens.morphs == ("--", "X", "_", "--")


ALPINO = """<?xml version="1.0"?>
<alpino><alpino_ds id="a"><node cat="top" rel="top" begin="0" end="4">
<node cat="smain" rel="--" begin="0" end="3"><node rel="su" index="1" begin="0" end="1" pos="pron" word="ik"/>
<node rel="hd" pos="verb" begin="1" end="2" word="zie"/>
<node cat="inf" rel="vc" begin="0" end="3"><node rel="su" index="1" begin="0" end="1"/>
<node rel="hd" pos="verb" begin="2" end="3" word="x"/></node></node>
<node rel="--" pos="punct" begin="3" end="4" word="."/></node></alpino_ds></alpino>
"""


def test_alpino_xml(tmp_path: Path) -> None:
    path, left_out = tmp_path / "x.xml", Counter[str]()
    path.write_text(ALPINO)
    assert format_of(path) == "alpinoxml"
    (ctree,) = read_alpinoxml(path, left_out=left_out)
    assert format_discbracket(ctree) == (
        "(top (smain (pron 0=ik) (verb 1=zie) (inf (verb 2=x))) (punct 3=.))"
    )
    assert ctree.functions == ("su", "hd", "hd", "", "vc", "", "top") and ctree.head_children is None
    assert ctree.secondary == ((0, "su", 4),) and not left_out.total()
    (marked,) = read_treebank(path, marked=True)
    assert [marked.label(head) for head in marked.head_children or ()] == ["verb", "verb", "smain"]
    path.write_text(ALPINO.replace('begin="2" end="3" word', 'begin="5" end="3" word'))
    with faulty(path, sentence=1, about="a: `begin` does not number"):
        list(read_alpinoxml(path))
    path.write_text(ALPINO.replace("</alpino_ds>", ""))
    with faulty("x.xml", 7, about="mismatched tag"):
        list(read_alpinoxml(path))


TIGER = """<corpus><body><s id="s1"><graph root="s1_VROOT"><terminals>
<t id="1" word="«" pos="$("/><t id="2" word="Den" pos="ART"/><t id="3" word="Hund" pos="NN"/>
<t id="4" word="sah" pos="VVFIN"/><t id="5" word="er" pos="PPER"/></terminals><nonterminals>
<nt id="7" cat="NP"><edge label="NK" idref="3"/><edge label="NK" idref="2"/></nt>
<nt id="8" cat="S"><edge label="OA" idref="7"/><edge label="hd" idref="4"/><edge label="SB" idref="5"/></nt>
</nonterminals></graph></s></body></corpus>
"""


def test_heads_of_tiger_xml(tmp_path: Path) -> None:
    """An edge HD; without one the leftmost child that is not punctuation."""
    path = tmp_path / "x.tiger.xml"
    path.write_text(TIGER)
    (marked,) = read_treebank(path, marked=True)
    assert marked.labels == ("NP", "S", "VROOT")
    assert [marked.label(head) for head in marked.head_children or ()] == ["ART", "VVFIN", "S"]


def test_tiger_xml_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.tiger.xml"
    good = written([parse("(S (A 0=a) (B 1=b))")], write_tigerxml, path).read_text()
    for old, new, message in (
        ('idref="s1_1"', 'idref="s1_9"', "sentence 1: s1: an edge leads to 's1_9', which does not exist"),
        ('idref="s1_1"', 'idref="s1_2"', "sentence 1: s1: two edges lead to 's1_2'"),
        (' cat="S"', "", "sentence 1: s1: the attribute 'cat' is missing"),
    ):
        path.write_text(good.replace(old, new))
        with pytest.raises(FormatError) as error:
            list(read_tigerxml(path))
        assert str(error.value) == f"{path}: {message}"


def test_historical(tmp_path: Path) -> None:
    path = tmp_path / "x.psd"
    path.write_text(
        "( (CODE <heading>) (ID X,.1))\n\n( (IP-MAT (NP-SBJ *con*) (VBDI sagði-segja)\n"
        "  (NP-SBJ-1 (PRO-N hann-hann)) (CODE {x}) (. .-.)) (ID X,.2))\n"
    )
    (ctree,) = read_historical(path, clean=True)
    assert format_discbracket(ctree) == "(TOP (IP-MAT (VBDI 0=sagði) (NP-SBJ (PRO-N 1=hann)) (. 2=.)))"
    assert ctree.tokens.lemmas == ("segja", "hann", ".")


def test_sinica(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(
        "#1:1.[2] VP(evaluation:Dbb:竟然|Head:VP(Head:VH11:生病))#，(COMMACATEGORY)\n#2:2.[3] Nab:貓\n"
    )
    first, second = read_sinica(path, marked=True)
    assert format_discbracket(first) == "(VP (Dbb 0=竟然) (VP (VH11 1=生病)) (COMMACATEGORY 2=，))"
    assert [first.label(head) for head in first.head_children or ()] == ["VH11", "VP"]
    assert second.tokens.forms == ("貓",) and second.labels == ()
    path.write_text(
        "#3:1.[2] V‧的(head:VH11:急促|Head:DE:的)#\n"
    )  # `head` is the head of what 的 turns into it
    (ctree,) = read_sinica(path, marked=True)
    assert ctree.head_children == (1,)
    path.write_text("#1:1.[2] VP(Head:VH11:生病\n")
    with faulty("x.txt", 1, 1, about="closing bracket"):
        list(read_sinica(path))


FLORESTA = """#1 CP1-1 Ele vai (hoje) falar de tudo.
(STA+fcl (SUBJ+pron-pers Ele) (P-+vp (AUX+v-fin vai)) ({) (ADVL+adv hoje) (})
 (-P+vp (MV+v-inf falar)) (PIV+pp (H+prp de) tudo) (.))
#2 CP1-2 Helena Pereira
(UTT+prop Helena_Pereira
#3 CP1-3 Sim . Pois
(UTT+adv Sim)
(.)
(UTT+adv Pois cá)
"""


def test_items_without_tokens_are_no_sentences(tmp_path: Path) -> None:
    path = tmp_path / "x.floresta"
    path.write_text("#1 X X\n\n")
    with faulty("x.floresta", 1, about="no sentence"):
        list(read_treebank(path))


def test_floresta(tmp_path: Path) -> None:
    path = tmp_path / "x.floresta"
    path.write_text(FLORESTA, encoding="latin-1")
    first, second, third = read_treebank(path, marked=True)
    assert format_discbracket(first) == (
        "(fcl (pron-pers 0=Ele) (vp (v-fin 1=vai) (v-inf 5=falar)) (-LRB- 2=-LRB-) (adv 3=hoje) "
        "(-RRB- 4=-RRB-) (pp (prp 6=de) (pp 7=tudo)) (. 8=.))"
    )
    assert [first.label(head) for head in first.head_children or ()] == ["v-inf", "prp", "vp"]
    assert second.tokens.forms == ("Helena_Pereira",) and second.labels == ()
    assert format_discbracket(third) == "(VROOT (adv 0=Sim) (. 1=.) (adv 2=Pois_cá))"
    path.write_text("(S (A a))")
    with faulty("x.floresta", 1, about="an item"):
        list(read_treebank(path))


REAL = {
    "floresta-dev.ptb.gz": (950, 21191),
    "alpino-dev.xml.gz": (700, 13572),
    "pcc-dev.tiger.xml.gz": (218, 3376),
    "icepahc-dev.psd.gz": (6490, 88504),
    "sinica-dev.txt.gz": (1000, 10183),
    "icon-dev.mrg.gz": (1000, 18137),
}


def real(file: str) -> Iterator[CTree]:
    name, clean = file.split("-")[0], file.startswith("icepahc")
    return read_treebank(
        TREEBANKS / file, {"sinica": "sinica", "floresta": "floresta"}.get(name), clean=clean
    )


def _without_blanks(ctree: CTree) -> CTree:
    """As an export file holds it: blanks, which some lemmas of Alpino have, are no-break spaces."""
    lemmas = ctree.tokens.lemmas and tuple(lemma.replace(" ", "\u00a0") for lemma in ctree.tokens.lemmas)
    return replace(ctree, tokens=replace(ctree.tokens, lemmas=lemmas))


@needs_treebanks
@pytest.mark.parametrize("file", REAL)
def test_real_treebanks_are_read_whole_and_come_back(file: str, tmp_path: Path) -> None:
    treebank = list(real(file))
    assert (len(treebank), sum(len(ctree.tokens) for ctree in treebank)) == REAL[file]
    some = list(islice(treebank, 300))
    for write, read in GRAPHS:
        held = [_without_blanks(ctree) if write is write_export else ctree for ctree in some]
        assert list(read(written(some, write, tmp_path / "x"))) == held
    heads, route = load_head_rules("leftmost"), Reduction("direct", continuous=False)
    for ctree in some:
        headed = canonical(heads.apply(ctree))
        back = canonical(route.decode(route.encode(headed)))
        whole = restore_unaries(back, strip_unaries(headed)[1])
        assert replace(whole, top=headed.top) == headed


def test_convert_says_what_a_format_cannot_hold(tmp_path: Path) -> None:
    source, target = tmp_path / "x.discbracket", tmp_path / "x.mrg"
    source.write_text("(S (VP (V 0=a) (P 2=c)) (N 1=b))\n")

    def convert(*arguments: str | Path) -> Any:
        return CliRunner().invoke(cli, ["convert", *map(str, arguments)])

    result = convert(source, target)
    assert isinstance(result.exception, FormatError) and not target.exists()
    assert str(result.exception) == (
        f"{source}: sentence 1: a tree with gaps, which brackets cannot hold; see --continuous"
    )
    assert convert(source, target, "--continuous", "split").exit_code == 0
    assert target.read_text() == "(S (VP*1 (V a)) (N b) (VP*2 (P c)))\n"
    back = tmp_path / "back.discbracket"
    assert convert(target, back, "--merge").exit_code == 0
    assert back.read_text() == source.read_text()
    for name in ("x.export", "x.tiger.xml", "x.alpino.xml"):
        assert convert(source, tmp_path / name).exit_code == 0
        assert convert(tmp_path / name, back).exit_code == 0 and back.read_text() == source.read_text()
    result = convert(source, tmp_path / "x.psd")
    assert "reads the format historical, but does not write it" in str(result.exception)


def test_encodings(tmp_path: Path) -> None:
    """XML declares its encoding; an export file is what its first word beyond ASCII is: UTF-8 or Latin-1."""
    trees = [parse("(S (A 0=a) (B 1=b))"), parse("(S (A 0=Äpfel) (B 1=fürs))"), parse("(S (A 0=Ñ) (B 1=b))")]
    for write, name in ((write_export, "x.export"), (write_tigerxml, "x.tiger.xml")):
        path = written(trees, write, tmp_path / name)
        assert list(read_treebank(path)) == trees
        text = path.read_text().replace('"UTF-8"', '"ISO-8859-1"')
        path.write_text(text, encoding="latin-1")
        assert list(read_treebank(path)) == trees
    alpino = written(trees, write_alpinoxml, tmp_path / "x.xml")
    alpino.write_text(alpino.read_text().replace('"UTF-8"', '"ISO-8859-1"'), encoding="latin-1")
    assert format_of(alpino) == "alpinoxml" and list(read_treebank(alpino)) == trees
    path = written(trees, write_export, tmp_path / "x.export")
    path.write_bytes(
        path.read_bytes() + written(trees[1:], write_export, tmp_path / "y").read_bytes()[10:-40]
    )
    path.write_bytes(path.read_bytes().replace("Ñ".encode(), b"\xd1", 1))
    with faulty("x.export", about="UTF-8"):
        list(read_treebank(path))


def test_comments_of_export(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    lines = EXPORT.splitlines()
    lines[6:6] = ["%% between the lines", ""]
    path.write_text("\n".join(lines).replace("Er\t", "50%%\t").replace("500 %% and", "500\t%% and") + "\n")
    (ctree,) = read_export(path)
    assert ctree.tokens.forms == ("50%%", "kommt", ".")
    assert format_export(ctree).splitlines()[1] == "50%%\t--\tPPER\t3.Sg\tSB\t500"
    for form in ("%%", "%%x"):
        with pytest.raises(ValueError, match="cannot be written in the export format"):
            format_export(parse(f"(S (A 0={form}) (B 1=b))"))
    with pytest.raises(ValueError, match="cannot be written in the export format"):
        format_export(replace(ctree, tokens=replace(ctree.tokens, comments=("50\t%% off",))))


def test_attributes_of_older_alpino_xml(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text(ALPINO.replace('word="zie"', 'root="zien" word="zie"'))
    (ctree,) = read_alpinoxml(path)
    assert ctree.tokens.tags == ("pron", "verb", "verb", "punct")
    assert ctree.tokens.lemmas == ("--", "zien", "--", "--") and ctree.tokens.morphs is None
    path.write_text(ALPINO.replace('pos="verb" begin="1"', 'pos="verb" pt="ww" lemma="z" root="y" begin="1"'))
    (ctree,) = read_alpinoxml(path)
    assert ctree.tokens.tags[1] == "ww" and ctree.tokens.lemmas == ("--", "z", "--", "--")


def test_tiger_xml_holds_the_head_of_a_virtual_root(tmp_path: Path) -> None:
    ctree = replace(
        parse("(VROOT (NP (A 0=a) (B 2=c)) (S (C 1=b) (D 3=d)) (X 4=e))"), head_children=(2, 3, 6)
    )
    path = written([ctree], write_tigerxml, tmp_path / "x.tiger.xml")
    assert list(read_treebank(path, marked=True)) == [ctree]
    assert '<graph root="s1_VROOT">' in path.read_text()
    assert '<nt id="s1_VROOT" cat="VROOT">' in path.read_text()
