"""Pictures: crossing branches, event indices, SVG that is XML."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from click.testing import CliRunner, Result

from d2c import Tree
from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.pictures import ctree_svg, ctree_text, drawing, dtree_svg, dtree_text, stacked_svg

TEXT = "(S (VP (V 0=wake) (P 2=<up>)) (N 1=me))\n(S (A 0=a) (B 1=b))\n"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    file = tmp_path / "x.discbracket"
    file.write_text(TEXT)
    return file


def draw(*arguments: str | Path) -> str:
    run = CliRunner().invoke(cli, ["draw", *map(str, arguments)])
    assert run.exit_code == 0, run.output or run.exception
    return run.stdout


def test_text(trees: Path) -> None:
    drawn = draw(trees, "--sentence", "1", "--what", "both")
    lines = drawn.splitlines()
    assert [line.split() for line in lines if "wake" in line][0] == ["wake", "me", "<up>"]
    assert [line for line in lines if "←" in line or "root" in line] == [
        "1  wake  V  root",
        "2  me    N  ← wake  S#2",
        "3  <up>  P  ← wake  VP#1",
    ]
    assert draw(trees).count("\n") > drawn.count("\n") - 5


@pytest.mark.parametrize("what", ["ctree", "dtree", "both"])
def test_svg(trees: Path, what: str) -> None:
    picture = fromstring(draw(trees, "--svg", "--what", what))
    words = {"".join(element.itertext()).strip() for element in picture.iter()}
    assert {"wake", "me", "<up>"} <= words
    assert ("S#2" in words) == (what != "ctree") and ("VP" in words) == (what != "dtree")


@pytest.mark.parametrize("head", [-1, -2, 4])
def test_a_head_outside_the_sentence_is_no_other_word(head: int) -> None:
    tokens = Tokens(("wake", "up", "me"), ("V", "P", "N"))
    dtree = DTree(tokens, (0, head, 1), labels=("root", "PRT", "NP"))
    assert dtree_text(dtree).splitlines() == [
        "1  wake  V  root",
        "2  up    P  ← ?     PRT",
        "3  me    N  ← wake  NP",
    ]
    picture = dtree_svg(dtree)
    shown = [element.text for element in fromstring(picture).iter() if element.text]
    assert "? PRT" in shown and "NP" in shown and "PRT" not in shown
    one_arc = dtree_svg(DTree(tokens, (0, 0, 1), labels=("root", "root", "NP")))
    assert picture.count("<path") == one_arc.count("<path")


def test_the_name_of_a_file_says_svg(trees: Path, tmp_path: Path) -> None:
    draw(trees, "-o", tmp_path / "x.svg", "--sentence", "2")
    assert (tmp_path / "x.svg").read_text() == draw(trees, "--svg", "--sentence", "2")
    draw(trees, "-o", tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text() == draw(trees)


def test_sentences_keep_their_numbers_beside_bad_ones(trees: Path) -> None:
    whole = draw(trees, "--sentence", "2")
    trees.write_text("(S (A x))\n" + TEXT)
    run = CliRunner().invoke(cli, ["draw", str(trees), "--sentence", "3"])
    assert str(run.exception).startswith(f"{trees}:1: sentence 1: expected a leaf")
    run = CliRunner().invoke(cli, ["draw", str(trees), "--sentence", "3", "--skip-bad"])
    assert run.stdout == whole


def test_sentences_of_several_texts_are_numbered_in_the_file_that_is_drawn(tmp_path: Path) -> None:
    file, span = tmp_path / "x.jsonl", {"label": "NP", "start": 0, "end": 1}
    parsed = [{"file": word, "line": 1, "tokens": [word], "tags": ["NN"], "spans": [span]} for word in "abc"]
    file.write_text("".join(json.dumps(line) + "\n" for line in parsed))
    assert draw(file, "--what", "dtree", "--sentence", "3") == "1  c  NN  root\n"


def test_a_picture_shows_one_sentence_and_says_so(trees: Path, tmp_path: Path) -> None:
    """Unless it is the only one, or was asked for; broken ones behind it do not matter."""
    told = f"{trees}: the picture shows the first sentence; --sentence N draws another\n"
    for rest in ("", "(S (A x))\n"):
        trees.write_text(TEXT.splitlines()[0] + "\n" + (rest or TEXT))
        run = CliRunner().invoke(cli, ["draw", str(trees), "-o", str(tmp_path / "x.svg")])
        assert (run.exit_code, run.stderr) == (0, told)
        asked = CliRunner().invoke(cli, ["draw", str(trees), "--svg", "--sentence", "1"])
        assert asked.stderr == "" and asked.stdout == (tmp_path / "x.svg").read_text()
    trees.write_text(TEXT.splitlines()[0] + "\n")
    assert CliRunner().invoke(cli, ["draw", str(trees), "--svg"]).stderr == ""
    file, line = tmp_path / "x.jsonl", {"tokens": ["a"], "tags": ["A"], "spans": []}
    file.write_text(f'{{"error": "too long"}}\n{json.dumps(line)}\n')
    assert "too long" in CliRunner().invoke(cli, ["draw", str(file), "--svg"]).stderr


def test_a_number_is_that_of_a_sentence_in_each_file(tmp_path: Path) -> None:
    """Those of a directory, as `corpus` writes it, too; sentences without a tree have a number."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.mrg").write_text("(S (A a))\n(())\n(S (D d))\n")
    (tmp_path / "a" / "2.conllu").write_text("1\tb\t_\tB\t_\t_\t0\troot\t_\t_\n\n")
    first, second = sorted((tmp_path / "a").iterdir())

    for given in ([tmp_path / "a"], [first, second]):
        words = ["draw", *map(str, given), "--what", "dtree"]

        def drawn(*options: str, words: list[str] = words) -> Result:
            return CliRunner().invoke(cli, [*words, *options])

        assert drawn("--sentence", "1").stdout.splitlines() == ["1  a  A  root", "1  b  B  root"]
        assert drawn("--sentence", "3").stdout.splitlines() == ["1  d  D  root"]
        assert str(drawn("--sentence", "2").exception) == (
            f"{first} and 1 more file: sentence 2: there is no such sentence"
        )
        for options, shown in ((("--sentence", "1"), "sentence 1"), ((), "the first sentence")):
            told = f"the picture shows {shown} of {first}; a file alone draws another"
            assert told in drawn("--svg", *options).stderr
        assert "shows" not in drawn("--svg", "--sentence", "3").stderr


def test_a_sentence_that_is_not_there(trees: Path, tmp_path: Path) -> None:
    output = tmp_path / "x.txt"
    run = CliRunner().invoke(cli, ["draw", str(trees), "--sentence", "3", "-o", str(output)])
    assert str(run.exception) == f"{trees}: sentence 3: there is no such sentence"
    assert not output.exists()


def test_deep_trees_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text("(S (A a))\n" + "(S " * 300 + "(A a)" + ")" * 300 + "\n")
    run = CliRunner().invoke(cli, ["draw", str(file)])
    message = "a tree of 301 levels cannot be drawn; 300 is the most"
    assert str(run.exception) == f"{file}: sentence 2: {message}"
    assert draw(file, "--what", "dtree", "--sentence", "2") == "1  a  A  root\n"


def test_words_of_any_length(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text(f"(S (A {'a' * 1_000}) (B {'b' * 200_000}))\n")
    assert "a" * 1_000 in draw(file)


def test_characters_that_no_picture_can_hold(tmp_path: Path) -> None:
    file, output = tmp_path / "x.mrg", tmp_path / "x.tex"
    file.write_text("(S (N\x02 a\x01b) (N c))\n")
    for what in ("ctree", "dtree", "both"):
        shown = {element.text for element in fromstring(draw(file, "--svg", "--what", what)).iter()}
        assert {"a\ufffdb", "N\ufffd"} <= shown
    draw(file, "-o", output)
    assert "[{N\ufffd} [{a\ufffdb}]]" in output.read_text()


def test_sizes_of_wide_pictures_are_whole_numbers() -> None:
    dtree = DTree(Tokens(("a" * 120_000, "b"), ("A", "B")), (0, 1), labels=("root", "X"))
    width = 9 * 120_000 + 24 + 9 * 1 + 24
    for picture in (dtree_svg(dtree), stacked_svg(dtree_svg(dtree), dtree_svg(dtree))):
        assert fromstring(picture).attrib["width"] == str(width)


def test_latex(tmp_path: Path) -> None:
    file, output = tmp_path / "x.mrg", tmp_path / "x.tex"
    file.write_text("(TOP (S (NP (PRP$ a_b|c) (NN [,])) (. \\\\<é{)))\n(S (A a))\n")
    draw(file, "-o", output)
    begin, tree, end = output.read_text().partition(
        "[{S} [{NP} [{PRP\\$} [{a\\_b\\textbar{}c}]] [{NN} [{[,]}]]]"
    )
    assert tree and begin.startswith("\\documentclass[border=4pt]{standalone}\n\\usepackage{forest,iftex}\n")
    rest = r" [{.} [{\textbackslash{}\textbackslash{}\textless{}é\{}]]]"
    assert end.splitlines() == [rest, "\\end{forest}", "\\end{document}"]
    draw(file, "-o", output, "--sentence", "2")
    assert "\n[{S} [{A} [{a}]]]\n" in output.read_text()


@pytest.mark.parametrize(("what", "cannot"), [("ctree", "a tree with gaps"), ("dtree", "a d-tree")])
def test_what_latex_cannot_draw(trees: Path, tmp_path: Path, what: str, cannot: str) -> None:
    run = CliRunner().invoke(cli, ["draw", str(trees), "--what", what, "-o", str(tmp_path / "x.tex")])
    message = f"{cannot} cannot be drawn by LaTeX's forest; write .svg, .pdf or .png"
    assert str(run.exception) == f"{trees}: sentence 1: {message}" and not (tmp_path / "x.tex").exists()


def test_pdf_and_png(trees: Path, tmp_path: Path) -> None:
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError) as error:
        pytest.skip(str(error))
    for what in ("ctree", "both"):
        draw(trees, "--what", what, "-o", tmp_path / "x.png")
        png = (tmp_path / "x.png").read_bytes()
        svg = re.search(r'width="(\d+)" height="(\d+)"', draw(trees, "--what", what, "--svg"))
        assert svg and png[:4] == b"\x89PNG"
        assert [int.from_bytes(png[i : i + 4]) for i in (16, 20)] == [2 * int(size) for size in svg.groups()]
    Tree(parse_bracket("(S (A a) (B b))")).draw(tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-")
    Tree(parse_bracket("(S " + "(A a)" * 500 + ")")).draw(
        tmp_path / "x.png"
    )  # of 36,000 pixels, if it were twice as large


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("raise ImportError('no cairosvg')", "this needs a package (no cairosvg): in the clone of d2c, pip"),
        (
            "raise OSError('no library called cairo')",
            "this needs the library cairo, of the system: apt install",
        ),
    ],
)
def test_what_pictures_need(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, told: str
) -> None:
    (tmp_path / "cairosvg.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cairosvg", raising=False)
    run = CliRunner().invoke(cli, ["draw", str(trees), "-o", str(tmp_path / "x.png")])
    assert isinstance(run.exception, ModelError) and str(run.exception).startswith(told)
    assert not (tmp_path / "x.png").exists()


def test_notebooks_show_trees() -> None:
    ctree = parse_bracket("(S (A a) (B b))")
    dtree = Reduction("direct", "leftmost").encode(ctree)
    assert f"{ctree._repr_svg_()}\n" == drawing(ctree, dtree, "ctree", ".svg").decode()
    assert f"{dtree._repr_svg_()}\n" == drawing(ctree, dtree, "dtree", ".svg").decode()


def test_long_words_stay_whole_and_do_not_overlap() -> None:
    long = ("Straßenbauvorhabenverwaltung", "Verwirklichungsmöglichkeiten")
    ctree = parse_bracket(f"(S (NN {long[0]}) (NN {long[1]}) (VV ist))")
    assert all(word in ctree_text(ctree) for word in long)
    xs = {
        element.text: float(element.attrib["x"])
        for element in fromstring(ctree_svg(ctree)).iter()
        if element.tag.endswith("text")
    }
    assert xs[long[1]] - xs[long[0]] >= 7 * len(long[0]) and xs["ist"] - xs[long[1]] >= 3.5 * len(long[1])


def test_wide_and_combining_characters_are_in_columns() -> None:
    """Of a terminal, where the first are two columns wide and the second none."""
    ctree = parse_bracket("(S (NN 我们) (VV cafe\u0301) (NN 北京市民) (X x))")
    assert ctree_text(ctree).splitlines()[-1] == "我们 cafe\u0301 北京市民  x "
    same = parse_bracket("(S (NN abcd) (VV cafe) (NN abcdefgh) (X x))")
    assert ctree_text(same).splitlines()[:-1] == ctree_text(ctree).splitlines()[:-1]
    rows = dtree_text(Reduction("direct", "leftmost").encode(ctree)).splitlines()
    assert rows[0] == "1  我们      NN  root" and rows[3] == "4  x         X   ← 我们  S#1"
    xs = [float(x) for x in re.findall(r'class="word" x="([\d.]+)"', ctree_svg(ctree))]
    assert xs == [float(x) for x in re.findall(r'class="word" x="([\d.]+)"', ctree_svg(same))]


def test_conllu_that_is_called_as_a_treebank_is(tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text("1\tShe\t_\tPRP\tPRP\t_\t0\troot\t_\t_\n\n")
    assert draw(tmp_path / "x.mrg", "--format", "conllu").splitlines() == ["1  She  PRP  root"]


def test_what_parse_wrote(tmp_path: Path) -> None:
    spans = [
        {"label": "S", "start": 0, "end": 2, "head": 0},
        {"label": "NP", "start": 0, "end": 1, "head": 0},
    ]
    good = {"tokens": ["She", "slept"], "tags": ["PRP", "VBD"], "spans": spans}
    bad = {"error": "too long", "tokens": [], "tags": []}
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, (bad, good))))
    lines = draw(tmp_path / "x.jsonl", "--what", "dtree").splitlines()
    assert lines == ["1  She    PRP  root", "2  slept  VBD  ← She  S#1"]
    assert draw(tmp_path / "x.jsonl", "--sentence", "2", "--what", "dtree").splitlines() == lines
    fromstring(draw(tmp_path / "x.jsonl", "--svg", "--sentence", "2"))
