"""`encode` and `decode` over treebanks of every format, and what formats cannot hold."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.reduction.reduction import Reduction
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import FORMATS, WRITABLE, read_treebank
from d2c.trees.marks import NOTHING_MARKED
from tests.treebanks import TREEBANKS, needs_treebanks

GAPS = "(TOP (S (VP (V 0=wake) (P 2=up)) (N 1=me) (. 3=.)))\n(TOP (S (A 0=a) (B 1=b)))\n"
PTB = "( (SBARQ (WHNP-1 (WP what)) (SQ (VBD did) (NP (PRP he)) (VP (VB see) (NP (-NONE- *T*-1)))) (. ?)) )\n"


def d2c(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def ok(*arguments: str | Path) -> Result:
    done = d2c(*arguments)
    assert done.exit_code == 0, done.output or done.exception
    return done


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    file = tmp_path / "gaps.discbracket"
    file.write_text(GAPS)
    return file


@pytest.mark.parametrize("name", [name for name in WRITABLE if "gaps" in FORMATS[name].holds])
def test_trees_with_gaps_come_back_from_every_format(gaps: Path, tmp_path: Path, name: str) -> None:
    treebank, conllu, back = (
        tmp_path / "x",
        tmp_path / "x.conllu",
        tmp_path / f"back{FORMATS[name].suffixes[0]}",
    )
    ok("convert", gaps, treebank, "--to", name)
    ok("encode", treebank, "--format", name, "-o", conllu, "--encoding", "spine", "--head-rules", "leftmost")
    ok("decode", conllu, "-o", back, "--encoding", "spine")  # the name says the format
    trees = list(read_treebank(gaps))
    assert list(read_treebank(back)) == trees
    assert ok("decode", conllu, "--to", name, "--encoding", "spine").stdout == back.read_text()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_treebank_in_several_parts(gaps: Path, tmp_path: Path, jobs: str) -> None:
    gaps.write_text(GAPS * 700)
    for name in ("discbracket", "export"):
        treebank, conllu = tmp_path / f"many.{name}", tmp_path / f"{name}.conllu"
        ok("convert", gaps, treebank)
        done = ok("encode", treebank, "--head-rules", "leftmost", "-o", conllu, "--jobs", jobs, "--stats")
        assert done.stderr.startswith("sentences                   1,400\n")
        back = tmp_path / f"back.{name}"
        ok("decode", conllu, "-o", back, "--jobs", jobs)
        assert [replace(tree, head_children=None) for tree in read_treebank(back)] == list(
            read_treebank(gaps)
        )


@pytest.mark.parametrize("name", ["discbracket", "export"])
def test_an_error_in_a_later_part_names_its_sentence(gaps: Path, tmp_path: Path, name: str) -> None:
    gaps.write_text("(S (A 0=a) (B 1=b))\n" * 999 + GAPS)
    treebank = tmp_path / f"x.{name}"
    ok("convert", gaps, treebank)
    done = d2c("encode", treebank, "--encoding", "delta", "-o", tmp_path / "out")
    message = (
        "the delta encoding takes continuous trees only; use the direct encoding, "
        "or make them so (--continuous)"
    )
    assert str(done.exception) == f"{treebank}: sentence 1000: {message}"
    assert not (tmp_path / "out").exists()


def test_how_trees_are_read_for_encoding(gaps: Path, tmp_path: Path) -> None:
    def labels(*arguments: str | Path) -> list[str]:
        lines = ok("encode", *arguments).stdout.splitlines()
        return [line.split("\t")[7] for line in lines if line and line[0] != "#"]

    one = tmp_path / "one.discbracket"
    one.write_text("(TOP (S (VP (V 0=a) (P 2=c)) (N 1=,)))\n")
    assert labels(one, "--head-rules", "leftmost") == ["root", "S#2", "VP#1"]
    assert labels(one, "--head-rules", "leftmost", "--move-punctuation") == ["root", "VP#1", "VP#1"]
    ptb = tmp_path / "x.mrg"
    ptb.write_text(PTB)
    assert labels(ptb) == ["SBARQ#2", "root", "SQ#1", "SQ#1", "SBARQ#2"]
    assert labels(ptb, "--traces") == ["VP#1", "root", "SQ#1", "SQ#1", "SBARQ#2"]
    alpino = tmp_path / "x.alpino.xml"
    ok("convert", gaps, alpino)
    alpino.write_text(alpino.read_text().replace('rel="--" word="up"', 'rel="hd" word="up"'))
    assert labels(alpino, "--head-rules", "marked")[:4] == ["VP#1", "S#2", "root", "S#2"]
    assert labels(alpino, "--head-rules", "marked", "--traces")[:4] == ["VP#1", "S#2", "root", "S#2"]


def test_what_encode_refuses(gaps: Path, tmp_path: Path) -> None:
    done = d2c("encode", gaps, "--head-rules", "marked")
    assert str(done.exception) == f"{gaps}: {NOTHING_MARKED}"
    done = d2c("encode", gaps, "--raw", "--traces")
    assert done.exit_code == 2 and "--raw" in done.output


def test_what_a_format_cannot_hold(gaps: Path, tmp_path: Path) -> None:
    conllu = tmp_path / "x.conllu"
    ok("encode", gaps, "-o", conllu, "--head-rules", "leftmost")
    # Without a model, what is written as brackets is made continuous, and the repair is counted.
    done = ok("decode", conllu)
    assert done.stdout.startswith("(TOP (S ") and "order not nested" in done.stderr
    closed = f"{conllu}: gaps were closed, which brackets cannot hold; --to discbracket keeps them"
    assert done.stderr.splitlines()[-1] == closed
    assert "gaps" not in ok("decode", conllu, "--to", "discbracket").stderr
    gaps.write_text("(S (A 0=a) (B 1=b))\n(S (A 0=#500) (B 1=b))\n")
    for command in ("convert", gaps, tmp_path / "x.export"), ("encode", gaps, "-o", conllu):
        done = d2c(*command)
    assert done.exit_code == 0
    message = "sentence 2: the word '#500' cannot be written in the export format"
    assert str(d2c("convert", gaps, tmp_path / "x.export").exception) == f"{gaps}: {message}"
    assert str(d2c("decode", conllu, "--to", "export").exception) == f"{conllu}: {message}"
    for target in ("x.psd", "x.sinica"):
        for arguments in (["convert", gaps, tmp_path / target], ["decode", conllu, "-o", tmp_path / target]):
            error = d2c(*arguments).exception
            assert isinstance(error, FormatError) and "but does not write it" in str(error)


REAL = {
    "alpino-dev.xml.gz": None,
    "pcc-dev.tiger.xml.gz": None,
    "icon-dev.mrg.gz": None,
    "icepahc-dev.psd.gz": None,
    "floresta-dev.ptb.gz": "floresta",
    "sinica-dev.txt.gz": "sinica",
}


@needs_treebanks
@pytest.mark.parametrize("file", REAL)
def test_real_treebanks_come_back(tmp_path: Path, file: str) -> None:
    name, conllu, back = REAL[file], tmp_path / "x.conllu", tmp_path / "x.dbr"
    options = [] if name is None else ["--format", name]
    ok("encode", TREEBANKS / file, "-o", conllu, "--encoding", "spine", *options)
    ok("decode", conllu, "-o", back, "--encoding", "spine")
    gold = read_treebank(TREEBANKS / file, name, clean=True)
    for tree, again in zip(gold, read_treebank(back), strict=True):
        assert (again.tokens.forms, again.tokens.tags) == (tree.tokens.forms, tree.tokens.tags)
        assert replace(again, tokens=tree.tokens, top=tree.top) == tree


@pytest.mark.parametrize("route", ["reduction", "combined"])
def test_delta_is_refused_in_training_before_anything_is_learned(
    gaps: Path, tmp_path: Path, route: str
) -> None:
    arguments = ["--dev", gaps, "--route", route, "--dparser", "gold", "-o", tmp_path / "model"]
    done = d2c("train", gaps, "--encoding", "delta", "--head-rules", "leftmost", *arguments)
    message = (
        "the delta encoding takes continuous trees only; use the direct encoding, "
        "or make them so (--continuous)"
    )
    assert str(done.exception) == f"{gaps}: sentence 1: {message}"
    assert list(tmp_path.iterdir()) == [gaps]


def test_a_model_of_trees_with_gaps_writes_discbracket(gaps: Path, tmp_path: Path) -> None:
    model, conllu = tmp_path / "model", tmp_path / "x.conllu"
    route = Reduction("direct", "leftmost").fit(list(read_treebank(gaps)))
    route.save(model / "route")
    (model / "model.json").write_text('{"format": 2, "route": "reduction", "dparser": "stanza"}')
    ok("encode", gaps, "--head-rules", "leftmost", "-o", conllu)
    assert ok("decode", conllu, "-m", model).stdout == GAPS
    ok("decode", conllu, "-m", model, "-o", tmp_path / "x.export")
    assert [tree.yields() for tree in read_treebank(tmp_path / "x.export")] == [
        tree.yields() for tree in read_treebank(gaps)
    ]
    done = d2c("decode", conllu, "-m", model, "--to", "brackets")
    message = "sentence 1: brackets cannot hold a tree with gaps; discbracket can"
    assert str(done.exception) == f"{conllu}: {message}"


def test_discbracket_is_known_by_its_words(gaps: Path, tmp_path: Path) -> None:
    """A model of trees with gaps writes it to *.txt, and into pipes."""
    text, packed = tmp_path / "x.txt", tmp_path / "x.mrg.gz"
    text.write_text(GAPS)
    packed.write_bytes(gzip.compress(GAPS.encode()))
    for file in (text, packed):
        assert ok("convert", file, "-", "--to", "discbracket").stdout == GAPS
        assert ok("encode", file).stdout == ok("encode", gaps).stdout
        assert ok("combine", file, gaps, "--to", "discbracket").stdout == GAPS
    for command in ("encode", "convert - --to discbracket"):
        line = [sys.executable, "-m", "d2c", *command.split(), "-"]
        done = subprocess.run(line, input=GAPS.encode(), capture_output=True)
        assert done.stdout.decode() == (ok("encode", gaps).stdout if command == "encode" else GAPS)
    text.write_text("(S (NN 0=a) (NN b))\n")  # one word that looks so says nothing
    assert ok("convert", text, "-").stdout == text.read_text()


def test_convert_says_what_it_left_out(tmp_path: Path) -> None:
    source = tmp_path / "x.export"
    source.write_text(
        "#FORMAT 4\n#BOS 1\nEr\ter\tPPER\t3.Sg\tSB\t500\tSB\t501\nwill\t--\tVM\t--\tHD\t500\n"
        "gehen\t--\tVV\t--\tHD\t501\n#500\t--\tS\t--\t--\t0\n#501\t--\tVP\t--\tOC\t500\tX\t500\n#EOS 1\n"
    )
    assert ok("convert", source, tmp_path / "x.tiger.xml").stderr == ""
    left_out = "left out: 4 functions, 1 lemma, 1 word with morphology, 2 secondary edges"
    assert ok("convert", source, "-").stderr == f"{source}: {left_out}\n"
    written = tmp_path / "x.tiger.xml"
    alpino = tmp_path / "x.alpino.xml"
    assert ok("convert", written, alpino).stderr == ""
    for file in (written, alpino):
        done = ok("convert", file, tmp_path / "x.dbr")
        assert done.stderr == f"{file}: {left_out}\n"
    assert ok("convert", tmp_path / "x.dbr", "-").stderr == ""
    psd = tmp_path / "x.psd"
    psd.write_text("( (IP (VBDI sagði-segja) (. .-.)) (ID X,.2))\n")
    assert ok("convert", psd, tmp_path / "x.dbr").stderr == f"{psd}: left out: 2 lemmas\n"
    tiger = tmp_path / "x.tiger.xml"
    tiger.write_text(tiger.read_text().replace('word="Er"', 'word="E r"').replace("3.Sg", "3. Sg"))
    lost = "1 blank in morphology, 1 word with blanks"
    assert ok("convert", tiger, tmp_path / "y.export").stderr == f"{tiger}: left out: {lost}\n"
    tiger.write_text(tiger.read_text().replace('cat="VP"', 'cat="V P"').replace('pos="VV"', 'pos="V V"'))
    lost = "1 label with blanks, 1 blank in morphology, 1 tag with blanks, 1 word with blanks"
    done = ok("convert", tiger, tmp_path / "y.export")
    assert done.stderr == f"{tiger}: left out: {lost}\n"
    tiger.write_text(tiger.read_text().replace("V P", "VP").replace("V V", "VV"))
    tiger.write_text(tiger.read_text().replace('pos="VM"', 'pos="$("'))
    lost = "1 word with blanks"
    assert ok("convert", tiger, "-").stderr == f"{tiger}: {left_out}, {lost}\n"


def test_disco_scores_treebanks_of_any_format(gaps: Path, tmp_path: Path) -> None:
    export, plain = tmp_path / "x.export", tmp_path / "plain"
    ok("convert", gaps, export)
    plain.write_text(GAPS)  # no name says a format: discbracket
    scores = ok("evaluate", gaps, gaps, "--metric", "disco").stdout
    assert ok("evaluate", export, plain, "--metric", "disco").stdout == scores


def test_heads_from_dependencies(tmp_path: Path) -> None:
    trees, conllu = tmp_path / "x.mrg", tmp_path / "x.conllu"
    trees.write_text("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)))))\n" * 2)
    ok("encode", trees, "-o", conllu)
    table = tmp_path / "table.txt"
    ok("heads", trees, "--induce", conllu, "-o", table)
    assert table.read_text() == (
        f"# Estimated by `d2c heads {trees} --induce {conllu}`\nNP left NN\nS left VP\nVP left VBD\n"
    )
    assert ok("encode", trees, "--head-rules", table).stdout == conllu.read_text()
    assert "default: 0 (0.00 %)" in ok("heads", trees, "--head-rules", table).stdout
    # The heads themselves, marked in a format that marks them: of all words the last one here.
    row = "{}\t{}\t_\t_\tX\t_\t{}\tx\t_\t_\n"
    conllu.write_text("".join(row.format(i, "_", (i + 1) % 6) for i in range(1, 6)) + "\n")
    trees.write_text("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)))))\n")
    export = tmp_path / "x.export"
    ok("convert", trees, export, "--heads", conllu)
    heads = [
        line.split("\t")[6]
        for line in ok("encode", export, "--head-rules", "marked").stdout.splitlines()[:-1]
    ]
    assert heads == ["2", "5", "5", "5", "0"]
    trees.write_text(trees.read_text() * 2)
    message = str(d2c("heads", trees, "--induce", conllu).exception)
    assert message.startswith(f"{conllu}: sentence 2: missing; 1 sentence here, ")
    conllu.write_text("1\tx\t_\t_\tX\t_\t0\tx\t_\t_\n\n" * 2)
    assert str(d2c("convert", trees, export, "--heads", conllu).exception) == (
        f"{conllu}: sentence 1: 1 token; in the other file it has 5"
    )


def test_heads_are_of_the_same_words(tmp_path: Path) -> None:
    trees, conllu = tmp_path / "x.mrg", tmp_path / "x.conllu"
    trees.write_text("(S (`` ``) (NN cat) (-LRB- -LRB-) (VBD saw))\n(S (DT a) (NN cat) (VBD saw) (PRP it))\n")
    others = "3 of 4 words are not those of the other file: word 1 is 'the', not 'a'"
    for second, says in (("the cat sees it", ""), ("the cats sees it", f"{conllu}: sentence 2: {others}")):
        conllu.write_text("")
        for text in ('" cats ( seen', second):
            rows = (f"{i}\t{word}\t_\t_\tX\t_\t{i - 1}\tx\t_\t_\n" for i, word in enumerate(text.split(), 1))
            conllu.write_text(conllu.read_text() + "".join(rows) + "\n")
        for command, *options in (("heads", "--induce"), ("convert", "-", "--to", "export", "--heads")):
            assert str(d2c(command, trees, *options, conllu).exception or "") == says


def test_trees_are_made_continuous_for_training(gaps: Path, tmp_path: Path) -> None:
    ways = (
        ("raise", "(TOP (S (VP (V wake)) (N me) (P up) (. .)))"),
        ("split", "(TOP (S (VP*1 (V wake)) (N me)"),
    )
    for way, text in ways:
        conllu, model = tmp_path / "x.conllu", tmp_path / way
        options = ["--head-rules", "leftmost", "--continuous", way]
        ok("encode", gaps, "-o", conllu, *options, "--encoding", "delta")
        assert ok("convert", gaps, "-", "--to", "brackets", "--continuous", way).stdout.startswith(text)
        ok("encode", gaps, "-o", conllu, *options, "--encoding", "spine")
        assert ok("decode", conllu, "--encoding", "spine").stdout.startswith(text)
        reading = Reading(continuous=way)
        routes = {"encoding": "delta", "head_rules": "leftmost"}
        spec = TrainingSpec.of(gaps, gaps, reading=reading, dparser="gold", **routes)
        assert not train_models(spec, [model]).models[0].route.gaps_
    gaps.write_text("(S (A 0=a) (B 1=b))\n(X*1 (A 0=a) (B 1=b))\n")
    for command in ("encode", gaps, "--continuous", "split"), ("convert", gaps, "-", "--continuous", "split"):
        message = "sentence 2: a label ends in *NUMBER, which marks the blocks of split nodes"
        assert str(d2c(*command).exception) == f"{gaps}: {message}"
