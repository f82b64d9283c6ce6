"""Files that ask for much with few bytes, or that cannot be what they say: one line, soon, without memory."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.base.files import open_output
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.registry import FORMATS, Place, read_treebank, write_treebank
from d2c.trees.heads import HeadRules, HeadSearch, format_head_rules, load_head_rules
from d2c.trees.scores.prm import EvalbParameters
from d2c.trees.unaries import restore_unaries
from tests.errors import faulty
from tests.steps import is_linear

DIGITS = "1" * 5000
HEAD = "#FORMAT 4\n#BOS 1\n"
TIGER = (
    '<corpus><s id="a"><graph><terminals>{}</terminals><nonterminals>{}</nonterminals></graph></s></corpus>'
)
ALPINO = '<alpino><alpino_ds id="a"><node cat="S" rel="--">{}</node></alpino_ds></alpino>'
WORD = '<t id="1" word="a" pos="A"/>'
BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x><s id="1">{}</s></x>'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("discbracket", "(S (A 200000000=x))", ":1: sentence 1: the token 0 is missing"),
        ("discbracket", f"(S (A {DIGITS}=x))", f":1: sentence 1: the number {'1' * 20}... is too large"),
        ("discbracket", "(S (A 0=))", ":1: sentence 1: the token 0 has no word"),
        ("discbracket", "(S ( (A 0=a)))", ":1: sentence 1: a node inside a tree has no label"),
        ("export", HEAD + "a\n#EOS 1\n", ":3: sentence 1: expected 6 columns, the last a node"),
        ("export", HEAD + "\n\na\t--\tA\n#EOS 1\n", ":5: sentence 1: expected 6 columns, the last a node"),
        (
            "export",
            HEAD + "a\t--\tA\t--\t--\t٣\n#EOS 1\n",
            ":3: sentence 1: expected 6 columns, the last a node",
        ),
        (
            "export",
            HEAD + "a\t--\tA\t--\t--\t500\n#500\t--\tS\t--\t--\t0\n#500\t--\tS\t--\t--\t0\n#EOS 1\n",
            ":5: sentence 1: the node #500 comes twice",
        ),
        (
            "export",
            HEAD + "a\t--\tA\t--\t--\t0\nb\t--\tB\t--\t--\t501\n#EOS 1\n",
            ":4: sentence 1: the parent '501' does not exist",
        ),
        ("export", HEAD + "#EOS 1\n", ":2: sentence 1: a sentence without tokens"),
        ("tigerxml", TIGER.format(WORD + WORD, ""), ": sentence 1: a: the id '1' comes twice"),
        (
            "tigerxml",
            TIGER.format(WORD, '<nt id="2" cat="S"/><nt id="2" cat="T"/>'),
            ": sentence 1: a: the id '2' comes twice",
        ),
        (
            "tigerxml",
            TIGER.format(WORD, '<nt id="1" cat="S"><edge idref="1"/></nt>'),
            ": sentence 1: a: the id '1' comes twice",
        ),
        (
            "tigerxml",
            TIGER.format(WORD.replace('"a"', '""'), ""),
            ": sentence 1: a: the attribute 'word' is empty",
        ),
        (
            "tigerxml",
            '<?xml version="1.0" encoding="nope"?><x/>',
            ":1: this XML is not read: unknown encoding: nope",
        ),
        (
            "tigerxml",
            BOMB.format("&b;"),
            ":1: this XML is not read: it declares the entity 'a'; write what it stands for",
        ),
        ("tigerxml", "", ":1: malformed XML (no element found)"),
        ("tigerxml", "<corpus>\n<body>\n", ":3: malformed XML (the file ends before </body>)"),
        ("alpinoxml", "<alpino_ds>\n<node be", ":2: malformed XML (the file ends before </alpino_ds>)"),
        (
            "alpinoxml",
            ALPINO.format(f'<node begin="{DIGITS}" word="x"/>'),
            f": sentence 1: a: the number {'1' * 20}... is too large",
        ),
        ("alpinoxml", ALPINO.format('<node begin="x" word="x"/>'), ": sentence 1: a: 'x' is no whole number"),
        ("sinica", "#1:1.[2] VP(Head:VH11:)\n", ":1: sentence 1: the leaf 'Head:VH11:' has no word"),
    ],
)
def test_errors(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        list(read_treebank(path, name))
    assert str(error.value) == f"{path}{message}"


def test_long_numbers_of_conllu(tmp_path: Path) -> None:
    """An id is an error of its line; a head outside the sentence is read as any other."""
    path = tmp_path / "x.conllu"
    path.write_text(f"{DIGITS}\ta\t_\tA\tA\t_\t0\troot\t_\t_\n")
    with pytest.raises(FormatError) as error:
        list(read_conllu(path))
    assert str(error.value) == f"{path}:1: sentence 1: '{'1' * 20}...' is not a valid ID."
    path.write_text(f"1\ta\t\t\tA\t\t{DIGITS}\t\t\t\n")
    (dtree,) = read_conllu(path)
    assert (dtree.heads, dtree.tokens, dtree.labels) == ((-1,), Tokens(("a",), ("A",)), ("_",))
    path.write_text("1\ta\t_\tA\tA\t_\tabcdefghijkl\troot\t_\t_\n")
    with faulty(path, 1, 1, about="abcdefghijkl"):
        list(read_conllu(path))


def test_long_numbers_of_prm_files(tmp_path: Path) -> None:
    path = tmp_path / "x.prm"
    path.write_text(f"MAX_ERROR 5\nCUTOFF_LEN {DIGITS}\n")
    with faulty("x.prm", 2, about="CUTOFF_LEN needs a whole number of at most 18 digits"):
        EvalbParameters.read(path)


def test_long_messages_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    path.write_text(HEAD + f"a\t--\tA\t--\t--\t{DIGITS}\n#EOS 1\n")
    message = r"x.export:3: sentence 1: the parent '1+\.\.\.1+' does not exist$"
    with pytest.raises(FormatError, match=message) as error:
        list(read_treebank(path))
    assert len(error.value.message) == 399


def test_sentences_of_many_words(tmp_path: Path) -> None:
    """Nodes of TIGER XML have other ids than tokens however many these are."""
    n = 600
    ctree = CTree(Tokens(("w",) * n, ("T",) * n), ("S",), (tuple(range(n)),))
    for name in ("export", "tigerxml", "alpinoxml"):
        with open_output(tmp_path / name) as stream:
            write_treebank([ctree], name, stream, Place("x"))
        assert list(read_treebank(tmp_path / name, name)) == [ctree]


@pytest.mark.parametrize("name", [name for name, known in FORMATS.items() if known.write])
def test_deep_trees_take_linear_time(tmp_path: Path, name: str) -> None:
    def write_and_read(depth: int) -> None:
        deep = restore_unaries(CTree(Tokens(("w",), ("T",)), (), ()), [("X",) * depth])
        with open_output(tmp_path / name) as stream:
            write_treebank([deep], name, stream, Place("x"))
        (read,) = read_treebank(tmp_path / name, name)
        assert len(read.labels) == depth and set(read.labels) == {"X"}

    write_and_read(20_000)
    assert is_linear(write_and_read, 500)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("brackets", "(A " + "x" * 100_000 + " b c)"),
        ("historical", "( (NP" + "-1" * 100_000 + "x (A b-b)))"),
        ("sinica", "#1 " + " " * 100_000 + "x"),
        ("tigerxml", "<a>" * 100_000),
        ("export", "#BOS 1\na" + " %" * 100_000),
        ("export", "#BOS 1" + " " * 400_000 + "x"),
        ("sejong", "(S (NP " + "x" * 100_000 + "))"),
        ("jsontrees", '{"tree": "' + '\\"' * 100_000),
    ],
)
def test_long_lines_take_linear_time(tmp_path: Path, name: str, text: str) -> None:
    """In quadratic time each takes minutes: regular expressions, whose steps cannot be counted."""
    path = tmp_path / "x"
    path.write_text(text)
    with contextlib.suppress(FormatError):
        list(read_treebank(path, name))


def test_head_tables(tmp_path: Path) -> None:
    """Other spaces than blanks are parts of labels; what is no text, or cannot be held, is one line."""
    rules = HeadRules("x", {"N\u00a0P\u2028": (HeadSearch("left", ("a\x0bb",)), HeadSearch("right"))})
    (tmp_path / "x.txt").write_text(format_head_rules(rules), encoding="utf-8")
    assert load_head_rules(str(tmp_path / "x.txt")).searches == rules.searches
    for name in ("", "a b", "default", "#x"):
        with faulty("x", about=f"'{name}'"):
            format_head_rules(HeadRules("x", {name: (HeadSearch("left"),)}))
    (tmp_path / "x.txt").write_bytes(b"NP left \xff\n")
    with faulty("x.txt", about="UTF-8"):
        load_head_rules(str(tmp_path / "x.txt"))


def test_entities_of_an_external_dtd(tmp_path: Path) -> None:
    """Files may name a DTD, but not use entities that only it declares, wherever pieces of the file end."""
    path, head = tmp_path / "x.tiger.xml", '<!DOCTYPE corpus SYSTEM "x.dtd">'
    word, many = WORD.replace('"a"', '"a&amp;&#98;"'), " " * (1 << 16)
    for k in range(1, 14):
        path.write_text(
            head + many[: -len(head) - TIGER.index("{}") - word.index("&") - k] + TIGER.format(word, "")
        )
        assert [ctree.tokens.forms for ctree in read_treebank(path)] == [("a&b",)]
    path.write_text(head + many + TIGER.format(WORD.replace('"a"', '"a&auml;b"'), ""))
    with pytest.raises(FormatError) as error:
        list(read_treebank(path))
    assert str(error.value) == (
        f"{path}: this XML is not read: its DTD, which is not read, may declare the entity 'auml'; "
        "write what it stands for"
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_xml_is_read_as_bytes(tmp_path: Path, encoding: str) -> None:
    """Of the letters U+0D0A and U+010D UTF-16 makes bytes that would be line breaks elsewhere."""
    path, head = tmp_path / "x.xml", f'<?xml version="1.0" encoding="{encoding}"?>\r\n'
    for text in (TIGER.format(WORD, ""), ALPINO.format('<node begin="0" word="a"/>')):
        path.write_bytes((head + text.replace('word="a"', 'word="\u0d0a\u010d"')).encode(encoding))
        assert [ctree.tokens.forms for ctree in read_treebank(path)] == [("\u0d0a\u010d",)]


def test_sentences_before_malformed_xml_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.tiger.xml"
    path.write_text(TIGER.format(WORD, "").replace("</corpus>", "</x>"))
    trees = read_treebank(path)
    assert next(trees).tokens.forms == ("a",)
    with faulty("x.tiger.xml", 1, about="mismatched tag"):
        next(trees)
