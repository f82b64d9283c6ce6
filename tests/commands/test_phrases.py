"""`d2c phrases`: columns, formats, gaps, and what is wrong with files."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest
from click.testing import CliRunner, Result

from d2c.base.files import open_input
from d2c.commands.cli import cli

TREES = """\
(TOP (S (NP-SBJ (NP (DT the) (NN cat)) (PP (IN on) (NP (NN mats)))) (VP (VBD slept)) (. .)))
(TOP (S (VP (VB Go))))
( (S (NP (PRP She)) (VP (VBD slept)) (. .)))
"""


def phrases(*arguments: str | Path, text: str = TREES) -> Result:
    return CliRunner().invoke(cli, ["phrases", *map(str, arguments)], input=text)


def test_table() -> None:
    assert phrases("-", "--label", "NP").stdout == (
        "sentence\tlabel\tstart\tend\ttext\n1\tNP\t0\t4\tthe cat on mats\n3\tNP\t0\t1\tShe\n"
    )
    assert phrases("-", "--label", "NP", "--label", "PP", "--nested", "--head").stdout.splitlines()[1:] == [
        "1\tNP\t0\t4\tthe cat on mats\t1\tcat\t4\tslept",
        "1\tNP\t0\t2\tthe cat\t1\tcat\t4\tslept",
        "1\tPP\t2\t4\ton mats\t2\ton\t1\tcat",
        "1\tNP\t3\t4\tmats\t3\tmats\t2\ton",
        "3\tNP\t0\t1\tShe\t0\tShe\t1\tslept",
    ]


def test_labels_that_no_constituent_has_are_named() -> None:
    others = "`d2c search` also finds tags, words, and ROOT above the sentence"
    done = phrases("-", "--label", "np", "--label", "NP", "--label", "NN")
    assert done.stdout.count("\n") == 3
    assert done.stderr.splitlines() == [
        "<stdin>: no constituent is called np; did you mean NP?",
        f"<stdin>: no constituent is called NN; {others}",
    ]


def test_json_with_gaps(tmp_path: Path) -> None:
    (tmp_path / "x.discbracket").write_text("(S (VP (V 0=wake) (P 2=up)) (N 1=me))\n")
    done = phrases(tmp_path / "x.discbracket", "--label", "VP", "--head", "--to", "json")
    assert json.loads(done.stdout) == {
        **{"sentence": 1, "label": "VP", "start": 0, "end": 3, "text": "wake up", "tokens": [0, 2]},
        **{"head": 0, "head_word": "wake"},
    }


def test_marked_heads(tmp_path: Path) -> None:
    (tmp_path / "x.export").write_text(
        "#BOS 1\na\t--\tA\t--\tNK\t500\nb\t--\tB\t--\tHD\t500\n#500\t--\tNP\t--\t--\t0\n#EOS 1\n"
    )
    done = phrases(tmp_path / "x.export", "--label", "NP", "--head", "--head-rules", "marked")
    assert done.stdout.splitlines()[1:] == ["1\tNP\t0\t2\ta b\t1\tb\t\t"]


def test_words_with_tabs_stay_on_a_line(tmp_path: Path) -> None:
    words = '<t id="1" word="a&#9;b" pos="A"/><t id="2" word="c" pos="B"/>'
    edges = '<edge idref="1" label="--"/><edge idref="2" label="--"/>'
    graph = f'<graph root="9"><terminals>{words}</terminals><nonterminals><nt id="9" cat="NP">{edges}</nt>'
    (tmp_path / "x.tiger.xml").write_text(
        f"<corpus><body><s>{graph}</nonterminals></graph></s></body></corpus>"
    )
    assert phrases(tmp_path / "x.tiger.xml", "--label", "NP").stdout.splitlines()[1:] == [
        "1\tNP\t0\t2\ta b c"
    ]


@pytest.mark.parametrize("suffix", ["tsv", "csv"])
def test_pandas_reads_what_was_written(suffix: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    words = ['"', 'a"b', "'", "a,b", ";", '""', "#", "x"]
    trees = "".join(f"(S (NP (A {word}) (B b)))\n" for word in words)
    output = tmp_path / f"x.{suffix}"
    assert phrases("-", "--label", "NP", "-o", output, text=trees).exit_code == 0
    table = pandas.read_csv(output, sep={"tsv": "\t", "csv": ","}[suffix])
    assert [*table["text"]] == [f"{word} b" for word in words]


def test_cells_that_a_spreadsheet_would_compute(tmp_path: Path) -> None:
    trees = "(S (NP (A =1+1) (B b)) (NP (A -) (B b)) (NP (A b) (B =)))\n"
    for name, options, mark in (
        ("x.csv", [], "'"),
        ("x.csv", ["--plain-cells"], ""),
        ("x.tsv", [], ""),
        ("x", ["--safe-cells"], "'"),
    ):
        assert phrases("-", "--label", "NP", "-o", tmp_path / name, *options, text=trees).exit_code == 0
        rows = (tmp_path / name).read_text().replace(",", "\t").splitlines()[1:]
        assert [row.split("\t")[4] for row in rows] == [f"{mark}=1+1 b", f"{mark}- b", "b ="]


def test_nothing_found() -> None:
    done = phrases("-", "--label", "XP")
    assert (done.exit_code, done.stdout) == (0, "sentence\tlabel\tstart\tend\ttext\n")
    assert done.stderr == (
        "<stdin>: no constituent is called XP; "
        "`d2c search` also finds tags, words, and ROOT above the sentence\n"
    )


def test_bad_sentences(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text("(S (A a) b)\n" + TREES)
    output = tmp_path / "out.tsv.gz"
    done = phrases(file, "--label", "NP", "-o", output)
    assert str(done.exception).startswith(f"{file}:1: sentence 1: the word 'b' stands beside")
    assert not output.exists()
    assert phrases(file, "--label", "NP", "-o", output, "--skip-bad").exit_code == 0
    with open_input(output) as stream:
        assert [line.split("\t")[0] for line in stream] == ["sentence", "2", "4"]


def test_labels_must_be_said() -> None:
    done = phrases("-")
    assert done.exit_code == 2 and "--label says which phrases; only --count goes without" in done.stderr


@pytest.mark.parametrize(
    "tree",
    [
        "(S (NP-SBJ (-NONE- *T*-1)) (NP (-NONE- 0) (CD 0)) (VP (VBP go) (NP (-NONE- *-2) (NN x))))",
        "(IP-MAT (CODE <P_1>) (NP-SBJ *exp*) (C 0) (NUM 0) (BEPI is) (NP (N x)) (CP-REL (WNP *T*-1)))",
    ],
)
def test_empty_elements_are_no_words(tree: str) -> None:
    """Of Penn's family, and historical."""
    for options in ([], ["--raw"]):
        row = phrases("-", "--count", "--label", "NP", *options, text=tree).stdout.splitlines()[1]
        assert row.split("\t")[-2] == "3", options


def test_counts_by_file_and_label(tmp_path: Path) -> None:
    """Words have letters or digits; what was parsed from several files is counted by these."""
    header = "file\tlabel\tphrases\tsentences_with\tsentences\twords\tper_1000_words\n"
    assert phrases("-", "--label", "NP", "--label", "QP", "--count").stdout == (
        f"{header}<stdin>\tNP\t2\t2\t3\t8\t250.0\n<stdin>\tQP\t0\t0\t3\t8\t0.0\n"
    )
    nested = phrases("-", "--label", "NP", "--nested", "--count").stdout
    assert nested == f"{header}<stdin>\tNP\t4\t2\t3\t8\t500.0\n"
    file, table = tmp_path / "x.jsonl", tmp_path / "x.xlsx"
    with file.open("w") as stream:
        for name, label in (("a.txt", "NP"), ("a.txt", "VP"), ("b.txt", "VP")):
            spans = [{"label": "S", "start": 0, "end": 2}, {"label": label, "start": 0, "end": 1}]
            line = {"file": name, "line": 1, "tokens": ["a", "."], "tags": ["A", "."], "spans": spans}
            print(json.dumps(line), file=stream)
    assert phrases(file, "--count", "-o", table).exit_code == 0
    rows = [[*row] for row in pandas.read_excel(table).itertuples(index=False)]
    assert rows == [
        ["a.txt", "NP", 1, 1, 2, 2, 500],
        ["a.txt", "S", 2, 2, 2, 2, 1000],
        ["a.txt", "VP", 1, 1, 2, 2, 500],
        ["b.txt", "NP", 0, 0, 1, 1, 0],
        ["b.txt", "S", 1, 1, 1, 1, 1000],
        ["b.txt", "VP", 1, 1, 1, 1, 1000],
    ]
    shown = phrases(file, "--count", "--to", "columns").stdout.splitlines()
    assert shown[:3] == [
        "a.txt: 2 sentences, 2 words",
        "label  phrases  sentences_with  per_1000_words",
        "NP           1               1          500.00",
    ]
    assert shown[11:15] == [
        "",
        "total: 3 sentences, 3 words",
        "label  phrases  sentences_with  per_1000_words",
        "NP           1               1          333.33",
    ]
    assert phrases(file, "--count", "--label", "S", "--to", "columns").stdout.splitlines() == [
        "S",
        "file   phrases  sentences_with  sentences  words  per_1000_words",
        "a.txt        2               2          2      2         1000.00",
        "b.txt        1               1          1      1         1000.00",
        "total        3               3          3      3         1000.00",
    ]
    file.write_text('{"tokens": ["."], "tags": ["."], "spans": []}\n')  # no word, no label
    assert phrases(file, "--count", "--to", "columns").stdout == ""
    counts = phrases(file, "--count", "--label", "S", "--to", "json").stdout
    assert json.loads(counts) == {
        **{"file": str(file), "label": "S", "phrases": 0, "sentences_with": 0, "sentences": 1, "words": 0}
    }


def test_search_writes_the_same_kinds_of_tables(tmp_path: Path) -> None:
    spans = [{"label": "NP", "start": 0, "end": 2, "head": 1, "start_char": 0, "end_char": 7}]
    read = {
        "file": "a.txt",
        "text": "a\nrow",
        "tokens": ["a", "row"],
        "tags": ["DT", "NN"],
        "offsets": [[0, 1], [2, 5]],
    }
    trees, runner = tmp_path / "t.jsonl", CliRunner()
    trees.write_text(json.dumps(read | {"spans": spans}))

    def search(name: str) -> Path:
        run = runner.invoke(cli, ["search", "NP < DT=first", str(trees), "-o", str(tmp_path / name)])
        assert run.exit_code == 0, run.output or run.exception
        return tmp_path / name

    row = [str(trees), "1", "a.txt", "NP", "0", "2", "0", "5", "a row", "DT", "0", "1", "0", "1", "a"]
    assert search("x.tsv").read_text().splitlines()[1] == "\t".join(row)
    assert search("x.csv").read_text().splitlines()[1] == ",".join(row)
    assert json.loads(search("x.jsonl").read_text())["captures"]["first"]["text"] == "a"
    sheet, parquet = pandas.read_excel(search("x.xlsx")), pandas.read_parquet(search("x.parquet"))
    assert [*map(str, sheet.values[0])] == row and [*sheet] == [*parquet]
    assert parquet.text[0] == "a\nrow" and parquet["first.start"][0] == 0
