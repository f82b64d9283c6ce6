"""The page of `d2c view`: what it holds of treebanks, JSON lines and CoNLL-U, and what is no input for it."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.viewing import view as view_module
from tests.pages import NASTY, Page

TREES = "(S (VP (V 0=wake) (P 2=up)) (N 1=me))\n(S (A 0=a) (B 1=b))\n"
DTREES = "1\tShe\t_\tPRP\tPRP\t_\t2\tnsubj\t_\t_\n2\tslept\t_\tVBD\tVBD\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    file = tmp_path / "x.discbracket"
    file.write_text(TREES)
    return file


def page_of(*arguments: str | Path, given: str | None = None) -> dict[str, Any]:
    run = CliRunner().invoke(cli, ["view", *map(str, arguments), "-o", "-"], input=given)
    assert run.exit_code == 0, run.output or run.exception
    return Page(run.stdout).data


def error_of(*arguments: str | Path) -> str:
    run = CliRunner().invoke(cli, ["view", *map(str, arguments)])
    assert run.exit_code and run.exception
    return run.output or str(run.exception)


def test_a_treebank_with_gaps(trees: Path) -> None:
    assert page_of(trees, "--head-rules", "leftmost") == {
        "sure": False,
        "query": "",
        "tags": ["V", "N", "P", "A", "B"],
        "labels": ["VP", "S"],
        "arcs": ["root", "S#2", "VP#1", "S#1"],
        "sentences": [
            {
                **{"i": 1, "w": ["wake", "me", "up"], "t": [0, 1, 2], "h": [0, 1, 1], "d": [0, 1, 2]},
                "c": [[[3, 4, 3, 4, -1], [0, 1], []]],
            },
            {
                **{"i": 2, "w": ["a", "b"], "t": [3, 4], "h": [0, 1], "d": [0, 3]},
                "c": [[[2, 2, -1], [1], []]],
            },
        ],
    }


def test_json_lines_have_heads_and_confidences(tmp_path: Path) -> None:
    spans = [
        {"label": "S", "start": 0, "end": 2, "head": 1, "confidence": 0.625},
        {"label": "NP", "start": 0, "end": 1, "head": 0, "confidence": 0.5},
    ]
    line = json.dumps({"line": 1, "tokens": ["She", "slept"], "tags": ["PRP", "VBD"], "spans": spans})
    data = page_of(
        "-", "--format", "json", given=line + '\n{"error": "too long", "tokens": [], "tags": []}\n'
    )
    assert data["sure"] and data["labels"] == ["NP", "S", "ERROR"] and data["arcs"] == ["S#1", "root"]
    first, second = data["sentences"]
    assert (first["h"], first["d"], first["c"]) == ([2, 0], [0, 1], [[[2, 3, 3, -1], [0, 1], [50, 62]]])
    assert second["w"] == ["too long"] and second["c"] == [[[1, -1], [2], []]]


def test_json_lines_without_heads_have_those_of_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    span = {"label": "S", "start": 0, "end": 2}
    file.write_text(json.dumps({"tokens": ["a", "b"], "tags": ["A", "B"], "spans": [span]}))
    for rules, heads in (("leftmost", [0, 1]), ("rightmost", [2, 0])):
        assert page_of(file, "--head-rules", rules)["sentences"][0]["h"] == heads


def test_d_trees_alone_and_instead(tmp_path: Path) -> None:
    arcs, trees = tmp_path / "x.conllu", tmp_path / "x.mrg"
    arcs.write_text(DTREES)
    trees.write_text("(S (PRP She) (VBD slept))\n")
    [sentence] = page_of(arcs)["sentences"]
    assert (sentence["w"], sentence["h"], sentence["c"]) == (["She", "slept"], [2, 0], [])
    data = page_of(trees, "--dtrees", arcs)
    assert data["arcs"] == ["nsubj", "root"] and data["sentences"][0]["c"] == [[[2, 2, -1], [0], []]]
    trees.write_text("(S (PRP She) (VBD slept))\n(S (PRP She) (VBD slept))\n")
    assert error_of(trees, "--dtrees", arcs).startswith(f"{arcs}: sentence 2: missing; 1 sentence here, ")
    trees.write_text("(S (PRP She))\n")
    assert error_of(trees, "--dtrees", arcs) == f"{arcs}: sentence 1: 2 tokens; in the other file it has 1"
    trees.write_text("(S (NNP Mary) (VBD slept))\n")
    assert page_of(trees, "--dtrees", arcs)["sentences"][0]["w"] == ["Mary", "slept"]
    trees.write_text("(S (NNP Mary) (VBD sleeps))\n")
    others = "2 of 2 words are not those of the other file: word 1 is 'She', not 'Mary'"
    assert error_of(trees, "--dtrees", arcs) == f"{arcs}: sentence 1: {others}"
    arcs.write_text(DTREES + DTREES)
    trees.write_text("(S (PRP She) (VBD slept))\n")
    assert error_of(trees, "--dtrees", arcs).startswith(f"{trees}: sentence 2: missing; 1 sentence here, ")
    others = DTREES.replace("She", "He").replace("slept", "swam")
    (other := tmp_path / "y.conllu").write_text(others)
    assert error_of(other, "--dtrees", arcs).startswith(f"{arcs}: sentence 1: 2 of 2 words are not those")
    assert "--dtrees needs all sentences" in error_of(trees, "--dtrees", arcs, "--skip-bad")


def test_the_format_that_is_said_counts(tmp_path: Path) -> None:
    """CoNLL-U whose comments hold c-trees, and CoNLL-U that is called as a treebank is."""
    for name, comment in (("x.conllu", "# constituency = (S (PRP She) (VBD slept))\n"), ("x.mrg", "")):
        (tmp_path / name).write_text(comment + DTREES)
        [sentence] = page_of(tmp_path / name, "--format", "conllu")["sentences"]
        assert (sentence["w"], sentence["h"], sentence["c"]) == (["She", "slept"], [2, 0], [])
    assert page_of(tmp_path / "x.conllu")["sentences"][0]["c"] == [[[2, 2, -1], [0], []]]


def test_sentences_have_their_numbers_in_their_files(tmp_path: Path) -> None:
    parsed = tmp_path / "x.jsonl"
    line = {"tokens": ["a"], "tags": ["A"], "spans": [{"label": "S", "start": 0, "end": 1}]}
    parsed.write_text("\n".join(json.dumps(line | {"file": name}) for name in ("a.txt", "a.txt", "b.txt")))
    (tmp_path / "y.mrg").write_text("(S (A x))\n")
    shown = page_of(parsed, tmp_path / "y.mrg")["sentences"]
    assert [s["i"] for s in shown] == [1, 2, 3, 1]
    assert [s["file"] for s in shown] == [str(parsed)] * 3 + [str(tmp_path / "y.mrg")]
    assert [s.get("source") for s in shown] == ["a.txt", "a.txt", "b.txt", None]
    for chosen, numbers in (("2-3", [2, 3]), ("1", [1, 1]), ("1-2", [1, 2, 1])):
        some = page_of(parsed, tmp_path / "y.mrg", "--sentences", chosen)["sentences"]
        assert [s["i"] for s in some] == numbers
    [one] = page_of(parsed, "--sentences", "3")["sentences"]
    assert (one["i"], one["source"]) == (3, "b.txt") and "file" not in one


def test_some_sentences_keep_their_numbers(trees: Path) -> None:
    assert [s["i"] for s in page_of(trees, "--sentences", "2-9")["sentences"]] == [2]
    assert [s["i"] for s in page_of(trees, "--sentences", "2")["sentences"]] == [2]
    trees.write_text("(S (A x))\n" + TREES)
    assert [s["i"] for s in page_of(trees, "--skip-bad")["sentences"]] == [2, 3]
    for wrong in ("2-1", "0-3", "0", "3-", "a-b"):
        assert "is not FIRST-LAST" in error_of(trees, "--sentences", wrong)
    trees.write_text(TREES)
    assert error_of(trees, "--sentences", "5-6") == f"{trees}: there is no such sentence"


def test_nothing_breaks_out(tmp_path: Path) -> None:
    tags = ["\\ud83d" if text == "<b>" else text for text in NASTY]
    span = {"label": "</script><b>", "start": 0, "end": len(NASTY), "head": 0, "confidence": 1}
    file = tmp_path / "<b>&.jsonl"
    file.write_text(json.dumps({"line": 1, "tokens": NASTY, "tags": tags, "spans": [span]}))
    run = CliRunner().invoke(cli, ["view", str(file), "-o", "-"])
    page = Page(run.stdout)
    assert page.title == "d2c view: <b>&.jsonl"
    assert page.data["labels"] == ["</script><b>"] and page.data["tags"] == tags
    assert page.data["sentences"][0]["w"] == list(NASTY)
    assert run.stdout.count("</script>") == page.tags.count("script") == 3 and "b" not in page.tags
    assert "http" not in run.stdout.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_the_file_is_written_whole(trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(cli, ["view", str(trees), "--open"])
    assert (run.exit_code, run.stderr) == (0, "view.html: 2 sentences\n")
    assert opened == [(tmp_path / "view.html").as_uri()]
    assert (tmp_path / "view.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert "--open needs a file" in error_of(trees, "--open", "-o", "-")
    (tmp_path / "view.html").unlink()
    trees.write_text(TREES + "(S (A x))\n")
    assert error_of(trees).startswith(f"{trees}:3: sentence 3: expected a leaf")
    monkeypatch.setattr(view_module, "MOST", 1)
    trees.write_text(TREES)
    most = "a page shows 1 sentences at most; choose some by --sentences"
    assert error_of(trees) == f"{trees}: sentence 2: {most}"
    assert [file.name for file in tmp_path.iterdir()] == [trees.name]
