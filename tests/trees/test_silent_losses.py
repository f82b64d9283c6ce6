"""Files of which readers would lose words: an error with file and line, or, with --skip-bad, one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.registry import read_treebank

TIGER_SENTENCE = (
    '<s id="{0}"><graph root="{0}_2">\n<terminals><t id="{0}_1" word="a" pos="A"/>{1}</terminals>\n'
    '<nonterminals><nt id="{0}_2" cat="S">{2}<edge idref="{0}_1"/></nt></nonterminals>{3}</graph></s>\n'
)
ALPINO_SENTENCE = (
    '<alpino_ds id="{0}"><node cat="S" rel="--">\n{1}<node begin="0" word="a" pt="A">{2}</node></node>'
    "<sentence>a</sentence><comments><comment>b</comment></comments>{3}</alpino_ds>\n"
)
EXPORT_SENTENCE = "#BOS {0}\na\tA\t--\t--\t500\n{1}#500\tS\t--\t--\t0\n#EOS {0}\n"


def tiger(name: str, *texts: str) -> str:
    return TIGER_SENTENCE.format(name, *texts, *[""] * (3 - len(texts)))


def alpino(name: str, *texts: str) -> str:
    return ALPINO_SENTENCE.format(name, *texts, *[""] * (3 - len(texts)))


def export(name: str, text: str = "") -> str:
    return EXPORT_SENTENCE.format(name, text)


BROKEN = "the line break {} hides a tree in the first line of an item; write a line feed"
FULL_WIDTH = "the full-width ｜ in {!r} hides words; write |"
TEXT = "the text {!r} stands between elements; words are attributes"
COMMENT = "the word '%%{}' begins a comment; write it otherwise"
CASES = [
    ("tigerxml", "<body>\n" + tiger("s1", "lost") + tiger("s2") + "</body>", ":3", TEXT.format("lost")),
    ("tigerxml", "<body>" + tiger("s1", "", "x\n") + tiger("s2") + "</body>", ":3", TEXT.format("x")),
    ("tigerxml", "<body>" + tiger("s1", "", "", "&#x20AC;&#x41;") + tiger("s2") + "</body>", ":3",
     TEXT.format("€A")),
    ("tigerxml", "<corpus><body>\nlost" + tiger("s2") + "</body></corpus>", ":2", TEXT.format("lost")),
    ("alpinoxml", "<alpino>" + alpino("s1", "lost") + alpino("s2") + "</alpino>", ":2",
     TEXT.format("lost")),
    ("alpinoxml", "<alpino>" + alpino("s1", "", "<![CDATA[lost]]>") + alpino("s2") + "</alpino>", ":2",
     TEXT.format("lost")),
    ("alpinoxml", "<alpino>" + alpino("s1", "", "", "lost") + alpino("s2") + "</alpino>", ":2",
     TEXT.format("lost")),
    ("alpinoxml", "<alpino>lost" + alpino("s2") + "</alpino>", ":1", TEXT.format("lost")),
    ("sinica", "#1:1.[0] VP(Head:VC2:看｜goal:Nab:書)#\n#2:2.[0] Nab:a\n", ":1",
     FULL_WIDTH.format("Head:VC2:看｜goal:Nab:書")),
    ("sinica", "#1:1.[0] VP(VC2:看｜Nab:書)#\n#2:2.[0] Nab:a\n", ":1", FULL_WIDTH.format("VC2:看｜Nab:書")),
    ("sinica", "#1:1.[0] VP(Head:VC2:看｜goal:NP(Head:Nab:書))#\n#2:2.[0] Nab:a\n", ":1",
     FULL_WIDTH.format("Head:VC2:看｜goal:NP")),
    ("sinica", "#1:1.[0] VP(Head:VC2:看:書)#\n#2:2.[0] Nab:a\n", ":1",
     "the leaf 'Head:VC2:看:書' has more than a role, a tag and a word"),
    ("floresta", "#1 A-1 a b\u2029(UTT+np (H+n b))\n#2 A-2 a\n(UTT+A a)\n", ":1", BROKEN.format("U+2029")),
    ("floresta", "#1 A-1 a b\x0b (UTT+np\n(H+n b))\n#2 A-2 a\n(UTT+A a)\n", ":1", BROKEN.format("U+000B")),
    ("export", "#FORMAT 3\n" + export("1", "%%\tB\t--\t--\t500\n") + export("2"), ":4", COMMENT.format("")),
    ("export", export("1", "%%b  B  --  --  500  %% of b\n") + export("2"), ":3", COMMENT.format("b")),
    ("export", "#FORMAT 4\n#BOS 1\n%%\tl\tB\t--\t--\t0\n#EOS 1\n#BOS 2\na\tl\tA\t--\t--\t0\n#EOS 2\n", ":3",
     COMMENT.format("")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "message"), CASES)
def test_no_word_is_lost(tmp_path: Path, name: str, text: str, line: str, message: str) -> None:
    path, out = tmp_path / "x", tmp_path / "out.discbracket"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as error:
        list(read_treebank(path, name))
    assert str(error.value) == f"{path}{line}: sentence 1: {message}"
    arguments = ["convert", str(path), str(out), "--from", name]
    failed = CliRunner().invoke(cli, arguments)
    assert str(failed.exception) == str(error.value) and not out.exists()
    assert CliRunner().invoke(cli, [*arguments, "--skip-bad"]).exit_code == 0
    assert out.read_text().count("0=a") == 1 == len(out.read_text().splitlines())


def test_comments_of_conllu_stand_before_the_first_token(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    row = "\tx\t_\tT\tT\t_\t0\troot\t_\t_\n"
    for lost, message in (
        ("# c\n", "a line that begins with # is a comment, which stands before"),
        ("#" + row, "a line that begins with # is a comment, which stands before"),
    ):
        path.write_text(f"# a\n1{row}{lost}2{row}\n# b\n1{row}")
        with pytest.raises(FormatError) as error:
            list(read_conllu(path))
        assert str(error.value).startswith(f"{path}:3: sentence 1: {message}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tigerxml", f"<corpus><head><meta>x</meta></head>{tiger('s1', '+<!-- x -->')}</corpus>"),
        ("sinica", "#1:1.[0] VP(Head:VC2:a|PARENTHESISCATEGORY:｜)#\n"),
        ("floresta", "#1 A-1 a\x85 b\n(UTT+A a)\n"),
        ("export", export("1", "%% see also node 500\n%%\n%%\tx\n")),
    ],
)  # fmt: skip
def test_what_is_no_word_is_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    (ctree,) = read_treebank(path, name)
    assert ctree.tokens.forms[0] == "a"
