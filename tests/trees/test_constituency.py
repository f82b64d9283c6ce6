"""`# constituency = (ROOT ...)` in CoNLL-U: read, written over the same rows, and as Stanza does it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.constituency import format_constituency
from d2c.trees.formats.registry import FORMATS, read_treebank
from tests.errors import faulty
from tests.strategies import ctrees

HI = (
    "# sent_id = s1\n#text = Ann's cat (here) won't sleep.\n"
    "# constituency = (ROOT (S (NP (NP (NNP Ann) (POS 's)) (NN cat) (-LRB- -LRB-) (RB here) (-RRB- -RRB-))"
    " (VP (MD wo) (RB n't) (VP (VB sleep))) (. .)))\n# sentiment = 1\n"
    "1-2\tAnn's\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t3\tnmod:poss\t3:nmod:poss\tner=S-PERSON\n"
    "2\t's\t's\tPART\tPOS\t_\t1\tcase\t_\t_\n"
    "3\tcat\tcat\tNOUN\tNN\tNumber=Sing\t9\tnsubj\t_\t_\n"
    "4\t(\t(\tPUNCT\t-LRB-\t_\t5\tpunct\t_\tSpaceAfter=No\n"
    "5\there\there\tADV\tRB\t_\t3\tadvmod\t_\tSpaceAfter=No\n"
    "6\t)\t)\tPUNCT\t-RRB-\t_\t5\tpunct\t_\t_\n"
    "7\two\twill\tAUX\tMD\t_\t9\taux\t_\t_\n"
    "8\tn't\tnot\tPART\tRB\t_\t9\tadvmod\t_\t_\n"
    "9\tsleep\tsleep\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\tSpaceAfter=No\n"
    "9.1\tnow\tnow\tADV\tRB\t_\t_\t_\t9:advmod\t_\n"
    "10\t.\t.\tPUNCT\t.\t_\t9\tpunct\t_\t_\n\n"
)
TREE = (
    "(ROOT (S (NP (NP (NNP Ann) (POS 's)) (NN cat) (-LRB- -LRB-) (RB here) (-RRB- -RRB-))"
    " (VP (MD wo) (RB n't) (VP (VB sleep))) (. .)))\n"
)
UPOS_TAGS = (
    "# constituency = (ROOT (S (VERB Vai) (ADV giù)))\n"
    "1\tVai\tandare\tVERB\tV\tMood=Imp\t0\troot\t_\t_\n2\tgiù\tgiù\tADV\tB\t_\t1\tadvmod\t_\t_\n\n"
)


def run(*arguments: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=text)


def read(tmp_path: Path, text: str, **options: object) -> list[CTree]:
    path = tmp_path / "x.conllu"
    path.write_text(text)
    return [*read_treebank(path, "constituency", **options)]


def written(ctrees_: list[CTree]) -> str:
    stream = StringIO()
    write = FORMATS["constituency"].write
    assert write is not None
    write(ctrees_, stream)
    return stream.getvalue()


def test_trees_and_columns(tmp_path: Path) -> None:
    (ctree,) = read(tmp_path, HI)
    assert replace(ctree, tokens=parse_bracket(TREE).tokens) == parse_bracket(TREE)
    assert ctree.tokens.forms[3] == "(" and ctree.tokens.tags[3] == "-LRB-"
    assert ctree.tokens.comments == ("sent_id = s1", "text = Ann's cat (here) won't sleep.", "sentiment = 1")
    assert written([ctree]) == HI


def test_tags_are_those_of_the_tree(tmp_path: Path) -> None:
    (ctree,) = read(tmp_path, UPOS_TAGS)
    assert ctree.tokens.tags == ("VERB", "ADV")
    assert written([ctree]) == UPOS_TAGS


def test_another_tree_over_the_same_rows(tmp_path: Path) -> None:
    (ctree,) = read(tmp_path, UPOS_TAGS)
    assert written([replace(ctree, labels=("X",))]) == UPOS_TAGS.replace("(S ", "(X ")
    tokens = replace(ctree.tokens, forms=("Va'", "giù"), tags=("A", "B"))
    other = written([replace(ctree, tokens=tokens)])
    assert other == UPOS_TAGS.replace("(VERB Vai) (ADV", "(A Va') (B").replace("\tVai\t", "\tVa'\t")


def test_heads(tmp_path: Path) -> None:
    (ctree,) = read(tmp_path, HI, marked=True)
    assert [ctree.tokens.forms[head] for head in ctree.lexical_heads()[10:]] == ["Ann", "cat", *["sleep"] * 3]
    assert written([ctree]) == HI  # as the file has them
    assert ctree.head_children
    other = written([replace(ctree, head_children=(1, *ctree.head_children[1:]))])  # 's
    assert "\n1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t2\t_\t3:nmod:poss\tner=S-PERSON\n2\t's\t" in other
    assert read(tmp_path, other, marked=True)[0].head_children == (1, *ctree.head_children[1:])
    assert read(tmp_path, HI)[0].head_children is None


def test_a_tree_from_elsewhere() -> None:
    tokens = Tokens(("(a", "b c"), ("$(", "X"), ("a", "_"), comments=("sent_id = 1",))
    ctree = CTree(tokens, ("S",), ((0, 1),), (1,), "")
    text = "# sent_id = 1\n# constituency = ( (S ($-LRB- -LRB-a) (X b\xa0c)))\n"
    assert format_constituency(ctree) == (
        text + "1\t(a\ta\t$(\t$(\t_\t2\t_\t_\t_\n2\tb c\t_\tX\tX\t_\t0\t_\t_\t_\n\n"
    )
    assert "\t_\t_\t_\t_\t_\n2" in format_constituency(replace(ctree, head_children=None))


def test_what_says_no_lemma_in_export_is_written_as_none(tmp_path: Path) -> None:
    """The lemma of the word `--` is `--`."""
    path = tmp_path / "x.export"
    rows = "She she PRP -- -- 500\nslept -- VBD past -- 500\n-- -- : -- -- 500\n#500 -- S -- -- 0\n"
    path.write_text(f"#FORMAT 4\n#BOS 1\n{rows}#EOS 1\n".replace(" ", "\t"))
    for command in ("convert - --to constituency", "convert - --to ud", "encode -o -"):
        name, *options = command.split()
        lines = run(name, path, *options).stdout.splitlines()
        cells = [line.split("\t") for line in lines if line and not line.startswith("#")]
        assert [(row[2], row[5]) for row in cells] == [("she", "_"), ("_", "past"), ("--", "--")]


def test_further_trees_of_a_sentence_are_counted(tmp_path: Path) -> None:
    left_out = Counter[str]()
    text = UPOS_TAGS.replace("# ", "# a\n# constituency = (X (A Vai) (B giù))\n# ")
    (ctree,) = read(tmp_path, text, left_out=left_out)
    assert ctree.labels == ("X",) and ctree.tokens.comments == ("a",) and +left_out == {"comments": 1}


@given(ctrees(gaps=False))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, ctree: CTree) -> None:
    path = tmp_path_factory.getbasetemp() / "any.trees.conllu"
    path.write_text(format_constituency(ctree))
    assert [*read_treebank(path, "constituency", marked=True)] == [ctree]
    assert [*read_treebank(path, "constituency")] == [replace(ctree, head_children=None)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# constituency", "# tree", "there is no comment `# constituency = ...` with its tree"),
        ("(VERB Vai) ", "", "its tree has 1 words, not 2"),
        ("VERB Vai", "VERB Va", "word 1 of its tree is 'Va', not 'Vai'"),
        ("(ADV giù)))", "(ADV giù))", "a closing bracket is missing in this tree"),
        ("\tgiù\tgiù", "\tgiù", "expected 10 columns separated by tabs, found 9"),
    ],
)
def test_errors(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        read(tmp_path, UPOS_TAGS.replace(old, new, 1))
    assert str(error.value).endswith(f"sentence 1: {message}")


def test_a_comment_with_two_trees(tmp_path: Path) -> None:
    with faulty("x.conllu", 1, 1, about="one tree"):
        read(tmp_path, UPOS_TAGS.replace("(ROOT (S (VERB Vai) (ADV giù)))", "(A Vai) (B giù)"))


@pytest.mark.parametrize("label", ["A B", "(", "a-LRB-b", "NP\n"])
def test_labels_that_the_comment_cannot_hold(label: str) -> None:
    with pytest.raises(ValueError, match="has a blank or a bracket"):
        format_constituency(CTree(Tokens(("a",), ("A",)), (label,), ((0,),)))


def test_words_with_blanks_as_stanza_writes_them(tmp_path: Path) -> None:
    text = "# constituency = (ROOT (NP (N nhà nước) (A mới )))\n" + "".join(
        f"{i}\t{form}\t_\t_\t{tag}\t_\t0\t_\t_\t_\n"
        for i, form, tag in ((1, "nhà nước", "N"), (2, "mới", "A"))
    )
    (ctree,) = read(tmp_path, text)
    assert ctree.tokens.forms == ("nhà nước", "mới")


def test_stanza_reads_what_is_written(tmp_path: Path) -> None:
    conll = pytest.importorskip("stanza.utils.conll")
    document = conll.CoNLL.conll2doc(input_str=HI + UPOS_TAGS)
    assert [f"{one.constituency}\n" for one in document.sentences] == [
        TREE,
        "(ROOT (S (VERB Vai) (ADV giù)))\n",
    ]
    assert written(read(tmp_path, f"{document:C}")) == f"{document:C}\n\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_encode_and_decode_keep_the_rows(tmp_path: Path, jobs: str) -> None:
    """Heads and labels are the encoding's, then the tree comes back; all else stays, whoever works."""
    given_, encoded, decoded = (tmp_path / name for name in ("x.conllu", "y.conllu", "z.trees.conllu"))
    hi = HI.replace("(ROOT", "(TOP")
    given_.write_text(hi * 600)
    done = run(
        "encode", given_, "-o", encoded, "--encoding", "spine", "--head-rules", "collins", "--jobs", jobs
    )
    assert done.exit_code == 0, done.exception
    text = encoded.read_text()
    assert without_arcs(text) == without_arcs(given_.read_text().replace(hi.splitlines(True)[2], ""))
    assert text.count("\t9\tnsubj\t") == 0 and text.count("3:nmod:poss\tner=S-PERSON") == 600
    run("decode", encoded, "-o", decoded, "--encoding", "spine", "--jobs", jobs)
    assert trees(decoded) == trees(given_)
    assert sorted(without_arcs(decoded.read_text())) == sorted(without_arcs(given_.read_text()))


def without_arcs(text: str) -> list[list[str]]:
    """Lines without HEAD and DEPREL, comments whole."""
    rows = ([line] if line.startswith("#") else line.split("\t") for line in text.splitlines())
    return [row[:6] + row[8:] for row in rows]


def trees(path: Path) -> list[CTree]:
    return [replace(ctree, head_children=None) for ctree in read_treebank(path)]


def test_what_brackets_do_not_hold_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(HI)
    assert run("convert", tmp_path / "x.conllu", tmp_path / "x.mrg").stderr.partition(": ")[2] == (
        "left out: 4 words with MISC, 2 comments, 10 dependencies, 1 empty node, 2 enhanced dependencies, "
        "10 lemmas, 3 words with morphology, 1 multi-word range, 10 universal tags\n"
    )
    assert run("convert", tmp_path / "x.conllu", tmp_path / "x.trees.conllu").stderr == ""
    assert (tmp_path / "x.trees.conllu").read_text() == HI
    assert run("convert", tmp_path / "x.conllu", tmp_path / "y.conllu").stderr == ""
    assert (tmp_path / "y.conllu").read_text() == HI


def test_commands_that_read_trees(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(HI)
    (tmp_path / "x.mrg").write_text(TREE)
    assert "100.00" in run("evaluate", tmp_path / "x.conllu", tmp_path / "x.mrg").stdout
    assert run("search", "NP", tmp_path / "x.conllu").stdout.count("\n") >= 2
    assert "sleep" in run("draw", tmp_path / "x.conllu").stdout
    assert run("convert", tmp_path / "x.conllu", "-").stdout == TREE
    assert run("view", tmp_path / "x.conllu", "-o", tmp_path / "x.html").exit_code == 0
    assert '"NP"' in (tmp_path / "x.html").read_text()
    assert run("combine", tmp_path / "x.conllu", tmp_path / "x.conllu").stdout == HI  # d-trees
    (tmp_path / "plain.conllu").write_text(HI.replace("# constituency", "# tree"))
    assert "root" in run("draw", tmp_path / "plain.conllu").stdout  # its d-tree


def test_trees_below_long_comments_on_a_document(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(f"# newdoc\n# meta::summary = {'word ' * 5000}\n{HI}")
    assert run("convert", tmp_path / "x.conllu", "-").stdout == TREE
