"""What is read: formats, directories, records and their sentences, ids, lines, bad ones; cuts into shards."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from d2c.base.errors import FormatError
from d2c.corpora.inputs import Inputs, corpus_files
from d2c.corpora.job import cut, digest_of_records
from d2c.corpora.options import CorpusOptions
from d2c.corpora.records import Record, sentences_of_record
from d2c.parsing.input import read_sentences
from tests.errors import faulty

CONLLU = """\
# newdoc id = D
# sent_id = first
1\tShe\t_\tA\tPRP\t_\t0\tr\t_\t_

1\tslept\t_\tA\tVBD\t_\t0\tr\t_\t_
x

# newdoc id = E
1\t.\t_\tA\t.\t_\t0\tr\t_\t_
"""
Shown = tuple[str, str, int, str]  # document, id, line, words or error


def sentences(inputs: Inputs) -> list[Shown]:
    found = [one for record in inputs for one in sentences_of_record(record, inputs.options)]
    return [(one.document, one.id, one.line, one.why or " ".join(one.tokens.forms)) for one in found]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lines(here: Path) -> None:
    (here / "a.txt").write_bytes(b"\xef\xbb\xbfShe slept.\r\n\r\nb \xff\n")
    expected = [
        ("a.txt", "a.txt:1.1", 1, "She slept ."),
        ("a.txt", "a.txt:3.1", 3, "not UTF-8 text; iconv converts it"),
    ]
    assert sentences(Inputs([Path("a.txt")])) == expected
    (here / "a.txt.gz").write_bytes(gzip.compress(b"She slept.\n"))
    assert [shown[3] for shown in sentences(Inputs([Path("a.txt.gz")], CorpusOptions(kind="tokenized")))] == [
        "She slept."
    ]


def test_free_text(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\nShe\nslept. He saw\nher. It\nis.\n\nNo.\n"
    (here / "a.txt").write_text(text)
    expected = [("1", 2, "She slept ."), ("2", 3, "He saw her ."), ("3", 4, "It is ."), ("1", 7, "No .")]
    expected_ids = [
        (f"a.txt:{line}.{number}", at, words)
        for (number, at, words), line in zip(expected, (2, 2, 2, 7), strict=True)
    ]
    inputs = Inputs([Path("a.txt")], CorpusOptions(kind="split"))
    assert [shown[1:] for shown in sentences(inputs)] == expected_ids
    monkeypatch.setattr("d2c.parsing.text.PennRules.longest", 80)  # a quarter of it is not cut
    assert [shown[2:] for shown in sentences(inputs)] == [shown[1:] for shown in expected]
    assert len([*inputs]) == 3


def test_conllu(here: Path) -> None:
    (here / "a.conllu").write_text(CONLLU)
    found = sentences(Inputs([Path("a.conllu")]))
    assert [shown[:3] for shown in found] == [
        ("D", "first", 1),
        ("D", "a.conllu:5.1", 6),
        ("E", "a.conllu:8.1", 8),
    ]
    assert [shown[3] for shown in (found[0], found[2])] == ["She", "."] and "column" in found[1][3]


def test_conllu_is_read_as_parse_reads_it(here: Path) -> None:
    """Comments may have an empty line behind them; where one word has two tags, UPOS is none of them."""
    row = "1\tHi\t_\tINTJ\t{}\t_\t0\tr\t_\t_\n"
    text = f"# newdoc id = D\n# sent_id = u1\n\n\n# text = Hi\n{row}\n{row}\n# the end\n"
    (here / "a.conllu").write_text(text.format("UH", "_"))
    inputs = Inputs([Path("a.conllu")])
    found = [one for record in inputs for one in sentences_of_record(record, inputs.options)]
    assert [(one.document, one.id, one.line) for one in found] == [("D", "u1", 5), ("D", "a.conllu:8.1", 8)]
    comments = ("newdoc id = D", "sent_id = u1", "text = Hi")
    shown = [(one.tokens.tags, one.tokens.comments) for one in found]
    assert shown == [(("UH",), comments), (("",), ())]
    parsed = list(read_sentences(Path("a.conllu"), "conllu"))
    assert [(one.tokens, one.line) for one in parsed] == [(one.tokens, one.line) for one in found]


def test_a_new_document_without_an_id_has_the_files_name(here: Path) -> None:
    (here / "a.conllu").write_text(CONLLU.replace("newdoc id = E", "newdoc"))
    assert [shown[0] for shown in sentences(Inputs([Path("a.conllu")]))] == ["D", "D", "a.conllu"]


DOCUMENTS = [
    {"id": 7, "text": "She slept. He saw\nher."},
    {"id": "x", "text": ["She", "slept"]},
    {"text": "No id."},
    {"id": "y", "text": 5},
    {"id": "z", "body": "No text."},
]
OF_DOCUMENTS = [
    ("7", "a.jsonl:1.1", 1, "She slept ."),
    ("7", "a.jsonl:1.2", 1, "He saw her ."),
    ("x", "a.jsonl:2.1", 2, "She slept"),
    ("a.jsonl:3", "a.jsonl:3.1", 3, "No id ."),
    ("y", "a.jsonl:4.1", 4, "'text' is neither text nor a list of words"),
    ("z", "a.jsonl:5.1", 5, "there is no 'text'; --text-field names another field"),
]


def test_json_lines(here: Path) -> None:
    (here / "a.jsonl").write_text("\n".join([*map(json.dumps, DOCUMENTS), "[1]", '{"text']) + "\n")
    found = sentences(Inputs([Path("a.jsonl")], CorpusOptions(kind="split")))
    assert found[:6] == OF_DOCUMENTS
    assert found[6] == ("a.jsonl:6", "a.jsonl:6.1", 6, "not an object of JSON")
    assert found[7][3] == "not JSON: Unterminated string starting at character 2"
    named = Inputs([Path("a.jsonl")], CorpusOptions(text_field="id", id_field="nothing"))
    assert sentences(named)[1] == ("a.jsonl:2", "a.jsonl:2.1", 2, "x")


def test_line_breaks_of_any_kind_are_those_of_a_documents_text(here: Path) -> None:
    (here / "a.jsonl").write_text(json.dumps({"id": "x", "text": "They slept\rShe ran.\r\rHe left"}))
    found = sentences(Inputs([Path("a.jsonl")], CorpusOptions(kind="text")))
    assert [shown[3] for shown in found] == ["They slept", "She ran .", "He left"]


def test_parquet(here: Path) -> None:
    texts = [
        {"id": document.get("id") and str(document["id"]), "text": document["text"]}
        for document in (DOCUMENTS[0], DOCUMENTS[2])
    ]
    texts += [{"id": "y", "text": ""}, {"id": "z", "text": None}]  # no sentence; a gap in the data
    pq.write_table(pa.Table.from_pylist(texts), here / "a.parquet")
    found = sentences(Inputs([Path("a.parquet")], CorpusOptions(kind="split")))
    assert found[:2] == [("7", f"a.parquet:1.{k}", 1, OF_DOCUMENTS[k - 1][3]) for k in (1, 2)]
    assert found[2] == ("a.parquet:2", "a.parquet:2.1", 2, "No id .")
    assert found[3:] == [("z", "a.parquet:4.1", 4, "'text' is neither text nor a list of words")]
    with faulty("a.parquet", about="'body', but id text; see --text-field"):
        [*Inputs([Path("a.parquet")], CorpusOptions(text_field="body", strict=True))]
    pq.write_table(pa.table({"text": [["She", "slept"], ["He"]]}), here / "b.parquet")
    assert [shown[3] for shown in sentences(Inputs([Path("b.parquet")]))] == ["She slept", "He"]
    (here / "c.parquet").write_text("no")
    with faulty("c.parquet", about="is no Parquet file"):
        [*Inputs([Path("c.parquet")], CorpusOptions(strict=True))]


def test_ids_that_repeat(here: Path) -> None:
    (here / "a.jsonl").write_text('{"id": "x", "text": "She slept."}\n' * 2)
    found = sentences(Inputs([Path("a.jsonl")]))
    assert [shown[:2] for shown in found] == [("x", "a.jsonl:1.1"), ("x", "a.jsonl:2.1")]


BYTES = [b"She slept.", "Élan .".encode(), b"They sl\xe9pt.\nYes.", None]
SHOWN = [
    "She slept .",
    "Élan .",
    "'text': not UTF-8 text; iconv converts it",
    "Yes .",
    "'text' is neither text nor a list of words",
]


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.string(), pa.dictionary(pa.int8(), pa.binary())]
)
def test_bytes_in_parquet(kind: pa.DataType, here: Path) -> None:
    """Text is what UTF-8 says that they are, whatever the type of the column is."""
    raw = pa.array(BYTES, pa.binary())
    column = raw.view(kind) if pa.types.is_string(kind) else raw.cast(kind)
    pq.write_table(pa.table({"text": column, "id": pa.array([b"a", b"b", b"c", b"d"])}), here / "a.parquet")
    found = sentences(Inputs([Path("a.parquet")]))
    assert [shown[3] for shown in found] == SHOWN
    assert [(shown[0], shown[2]) for shown in found] == [*zip("abccd", (1, 2, 3, 3, 4), strict=True)]


def test_bytes_in_lists_and_ids_of_parquet(here: Path) -> None:
    words = pa.array([[b"She", b"slept"], [b"sl\xe9pt"], [b"She"]], pa.list_(pa.binary()))
    ids = pa.array([b"1", b"2", b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": words, "id": ids}), here / "a.parquet")
    found = sentences(Inputs([Path("a.parquet")]))
    assert [shown[::3] for shown in found] == [
        ("1", "She slept"),
        ("2", "'text': '\\udce9' is half a character, which no file holds"),
        ("a.parquet:3", "'id': not UTF-8 text; iconv converts it"),
    ]


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("text", pa.array([1 << 62], pa.timestamp("ms")), "holds timestamp[ms], not text"),
        ("text", pa.array([[1]]), "holds list<element: int64>, not text"),
        ("text", pa.array([5]), "holds int64, not text"),
        ("id", pa.array([1 << 62], pa.duration("s")), "holds duration[s], not text or numbers"),
        ("id", pa.array([{"a": 1}]), "holds struct<a: int64>, not text or numbers"),
    ],
)
def test_columns_that_hold_no_text(column: str, values: pa.Array, says: str, here: Path) -> None:
    columns = {"text": pa.array(["She slept."]), "id": pa.array([7])} | {column: values}
    pq.write_table(pa.table(columns), here / "a.parquet")
    with pytest.raises(FormatError) as caught:
        [*Inputs([Path("a.parquet")], CorpusOptions(strict=True))]
    assert str(caught.value) == f"a.parquet: the column {column!r} {says}"


def test_parquet_with_odd_names_of_columns_is_broken_alone(here: Path) -> None:
    text = pa.array(["She slept."])
    pq.write_table(pa.table({"text": text}), here / "a.parquet")
    for name, names in ("b", ["text", "text"]), ("c", ["text", "id", "id"]), ("d", ["text", "x", "x"]):
        pq.write_table(pa.Table.from_arrays([text] * len(names), names=names), here / f"{name}.parquet")
    named = pa.table({"text": text, "wxyz": text})
    pq.write_table(named, here / "e.parquet", store_schema=False)
    (here / "e.parquet").write_bytes((here / "e.parquet").read_bytes().replace(b"wxyz", b"wx\xffz"))
    inputs = Inputs([Path(f"{name}.parquet") for name in "abcdea"])
    assert [sentence[1] for sentence in sentences(inputs)] == [f"{name}.parquet:1.1" for name in "ada"]
    assert {name: why.partition(": ")[0] for name, why in inputs.broken.items()} == {
        "b.parquet": "has 2 columns 'text', not one",
        "c.parquet": "has 2 columns 'id', not one",
        "e.parquet": "is no Parquet file that can be read",
    }


def test_files(here: Path) -> None:
    for name in (
        "d/b.txt",
        "d/a.jsonl.gz",
        "d/e/c.conllu",
        "d/x.bin",
        "d/.hidden.txt",
        "d/out/p.parquet",
        "d/other/.p.txt",
        "x",
    ):
        (here / name).parent.mkdir(exist_ok=True, parents=True)
        (here / name).touch()
    named = ["d/a.jsonl.gz", "d/b.txt", "d/e/c.conllu"]
    out = Path("d/out")
    files, others = corpus_files([Path("d"), Path("x"), Path("d/b.txt")], None, out)
    assert ([*map(str, files)], [*map(str, others)]) == ([*named, "x"], ["d/x.bin"])
    assert corpus_files([Path("d"), Path("d/x.bin")], None, out)[1] == []
    files, others = corpus_files([Path("d")], "text", out)
    assert ([*map(str, files)], others) == ([*named, "d/x.bin"], [])
    with pytest.raises(FormatError, match=r"^d/other: no file in it is called .txt .text .* say --format$"):
        corpus_files([Path("d/other")], None, out)
    with faulty("nowhere", about="No such file or directory"):
        corpus_files([Path("nowhere")], None, out)
    os.mkfifo("pipe")
    for name, called in (("pipe", "pipe"), ("-", "<stdin>")):
        with faulty(called, about="several times"):
            corpus_files([Path(name)], None, out)


def test_links_to_nothing_are_broken(here: Path) -> None:
    for name in ("d/a.txt", "d/b.txt"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("x")
    for link in ("d/aa.txt", "d/zz.md"):
        (here / link).symlink_to("nowhere")
    files, others = corpus_files([Path("d")], None, Path("out"))
    inputs = Inputs(files, others=others)
    assert [one[0] for one in sentences(inputs)] == ["d/a.txt", "d/b.txt"]
    assert inputs.broken == {"d/aa.txt": "is a link to what is not there"}
    assert [*inputs.skipped] == ["d/zz.md"]


def test_shards(here: Path) -> None:
    """Exactly so many sentences of lines; about so many of what is cut later, by its length."""
    lines = [Record("a", line, "x", "a", "text") for line in range(1, 12)]
    shards = [*cut(lines, CorpusOptions(shard_size=5, batch_size=2))]
    assert [[len(batch.records) for batch in shard.batches] for shard in shards] == [
        [2, 2, 1],
        [2, 2, 1],
        [1],
    ]
    assert [shard.number for shard in shards] == [0, 1, 2]
    assert [batch.size for batch in shards[1].batches] == [2, 2, 1]
    assert [record for shard in shards for p in shard.batches for record in p.records] == lines
    assert len({digest_of_records(shard.records) for shard in shards}) == 3
    other_batches = cut(lines[:5], CorpusOptions(shard_size=5, batch_size=3))
    assert [shard.records for shard in other_batches] == [shards[0].records]
    long = [Record("a", 1, "x" * 450, "a", "text")]
    split = CorpusOptions(kind="split", shard_size=10, batch_size=2)
    assert [[p.size for p in shard.batches] for shard in cut(long * 3, split)] == [[5, 5], [5]]
    assert [*cut([], split)] == []


def test_how_far_it_is(here: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (here / name).write_text("x\n" * 50_000)
    inputs = Inputs([Path("a.txt"), Path("b.txt")])
    assert inputs.total == 200_000 and inputs.position == 0
    stream = iter(inputs)
    for _ in range(75_000):
        next(stream)
    assert 150_000 <= inputs.position < 170_000
    assert len([*stream]) == 25_000 and inputs.position == 200_000
    assert len([*inputs]) == 100_000
