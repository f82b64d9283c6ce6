"""The report: what it holds, that no token breaks it, and how it is used in a real browser."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.experiments.report import render, write_report
from d2c.experiments.rows import Comparison, GoldStandard, Parses, score, table_lines
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets, save_brackets
from tests.pages import NASTY, Page, opened_in

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def noisy(dtree: DTree, seed: int) -> DTree:
    """The d-tree with another head for one token in ten, as a d-parser might err."""
    rng, n = random.Random(seed), len(dtree.heads)
    heads = tuple(rng.randint(1, n) if head and rng.random() < 0.1 else head for head in dtree.heads)
    return replace(dtree, heads=heads)


def compared(gold: list[CTree], training: list[CTree]) -> Comparison:
    """Two encodings as two routes, on gold d-trees and on noisy ones."""
    routes = [Reduction(encoding).fit(training) for encoding in ("direct", "delta")]
    standards = [GoldStandard.of(gold, list(map(route.encode, gold)), routes) for route in routes]
    rows = []
    for name in ("gold", "noisy"):
        for route, standard in zip(routes, standards, strict=True):
            arcs = standard.dtrees
            predicted = [noisy(dtree, i) for i, dtree in enumerate(arcs)] if name == "noisy" else arcs
            rows.append(score(route.encoding, route, standard, Parses(name, predicted)))
    return Comparison(standards[0], rows)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    trees = list(islice(read_brackets(SAMPLE / "train.mrg", clean=True), 200))
    return compared(trees[:60], trees)


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> Page:
    return Page(render(comparison))


def test_tables(comparison: Comparison, page: Page) -> None:
    rows = comparison.rows
    table = page.tables["table"]
    assert [row[:2] for row in table[1:]] == [[row.route, row.d_trees] for row in rows]
    assert [row[6] for row in table[1:]] == [f"{row.brackets.f1:.2f}" for row in rows]
    text = list(table_lines(comparison))
    assert [line.split() for line in text[2:6]] == table[1:]
    for width in (80, 100):  # of terminals, on which the names stand in several blocks
        narrow = list(table_lines(comparison, width))
        narrow = narrow[: narrow.index(text[text.index("") + 1]) - 1]
        assert max(map(len, narrow)) <= width < len(text[2])
        assert [line.split()[:2] for line in narrow].count(["direct", "gold"]) == 2
    labels = page.tables["labels"]
    assert labels[0] == ["label", "brackets", "direct", "delta"]
    assert sum(int(row[1].replace(",", "")) for row in labels[1:]) == rows[2].brackets.gold
    errors = {row[0]: list(map(int, row[1:])) for row in page.tables["errors"][2:]}
    assert list(errors) == ["dependency", "span", "split and label", "unary", "label"]
    missed, wrong = (sum(counts[side] for counts in errors.values()) for side in (0, 1))
    brackets = rows[2].brackets
    assert (missed, wrong) == (brackets.gold - brackets.matched, brackets.guess - brackets.matched)
    assert [row[:3] for row in page.tables["table5"][2:]] == [
        ["+", "+", "+"],
        ["−", "+", "+"],
        ["+", "+", "−"],
        ["−", "+", "−"],
        ["+", "−", "−"],
        ["−", "−", "−"],
    ]
    rules = sum(int(row[3].replace(",", "")) for row in page.tables["table5"][2:])
    assert rules == sum(len(ctree.tokens) - 1 for ctree in comparison.gold.ctrees)
    assert page.tables["repairs"][0] == ["kind", "direct", "delta"]


def test_data_of_the_browser(comparison: Comparison, page: Page) -> None:
    data, rows, standard = page.data, comparison.rows, comparison.gold.ctrees
    assert data["routes"] == ["direct", "delta"]
    sentences = data["sentences"]
    assert [s["q"] for s in sentences] == sorted(s["q"] for s in sentences)
    trees = rows[2].trees
    assert trees is not None and len(sentences) == len(standard) == 60
    for s in sentences:
        gold, dtree = standard[s["i"] - 1], trees.dtrees[s["i"] - 1]
        assert tuple(s["w"]) == gold.tokens.forms
        assert tuple(data["tags"][t] for t in s["t"]) == gold.tokens.tags
        assert tuple(s["h"]) == dtree.heads and tuple(data["arcs"][d] for d in s["d"]) == dtree.labels
        assert rebuilt(s, s["c"][0], data).yields() == gold.yields()
        for side, row in enumerate(rows[2:], 1):
            guess = row.trees.guess[s["i"] - 1]  # type: ignore[union-attr]
            counts = row.scores[s["i"] - 1]
            shown = rebuilt(s, s["c"][side] or s["c"][0], data)
            assert sorted(zip(shown.labels, shown.yields()[len(s["w"]) :], strict=True)) == sorted(
                zip(guess.labels, guess.yields()[len(s["w"]) :], strict=True)
            )
            assert len(s["c"][side][2] if s["c"][side] else []) == counts.guess - counts.matched
            assert sum(mark[2] == side - 1 for mark in s["c"][0][2]) == counts.gold - counts.matched


def rebuilt(s: dict[str, Any], tree: list[list[int]], data: dict[str, Any]) -> CTree:
    """The c-tree that the page holds."""
    parents, labels, _ = tree
    n = len(s["w"])
    children: list[list[int]] = [[] for _ in labels]
    for node, parent in enumerate(parents[:-1]):
        children[parent - n].append(node)
    tokens = Tokens(tuple(s["w"]), tuple(data["tags"][t] for t in s["t"]))
    return build_ctree(tokens, [data["labels"][k] for k in labels], children, len(parents) - 1)


def nasty_comparison() -> Comparison:
    """Words, tags and labels that mean something in HTML, JavaScript or JSON; a crossing branch."""
    n = len(NASTY)
    tokens = Tokens(NASTY, NASTY)
    gold = [
        build_ctree(tokens, ["</script><b>", "X&'"], [[n + 1, *range(1, n - 1)], [0, n - 1]], n, [n + 1, 0])
    ]
    route = Reduction("direct", "leftmost").fit(gold)
    standard = GoldStandard.of(gold, list(map(route.encode, gold)), [route])
    broken = [replace(dtree, heads=(0, *[1] * (n - 1))) for dtree in standard.dtrees]
    given = Parses("gold", standard.dtrees), Parses("</script>", broken)
    return Comparison(standard, [score("</script><i>", route, standard, parses) for parses in given])


def test_nothing_breaks_out(comparison: Comparison, page: Page) -> None:
    text = render(nasty_comparison())
    nasty = Page(text)
    assert tuple(nasty.data["sentences"][0]["w"]) == NASTY and nasty.data["tags"] == list(NASTY)
    assert set(nasty.data["labels"]) == {"</script><b>", "X&'"}
    assert text.count("</script>") == render(comparison).count("</script>") == 3
    assert nasty.tags.count("script") == 3 and "b" not in nasty.tags
    assert "i" in page.tags  # of the template itself


def test_the_file_is_written_whole(comparison: Comparison, tmp_path: Path) -> None:
    write_report(comparison, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n")
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    with pytest.raises(ValueError, match="no row has the trees that it was scored on"):
        bare = [replace(row, trees=None) for row in comparison.rows]
        write_report(replace(comparison, rows=bare), tmp_path / "none.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_command_writes_it(tmp_path: Path) -> None:
    treebank = tmp_path / "small.mrg"
    save_brackets(islice(read_brackets(SAMPLE / "train.mrg"), 30), treebank)
    options = ["--dparser", "gold", "--route", "reduction"]
    for more, written in (
        (["-o", str(tmp_path / "out")], "out/report.html"),
        (["--report", str(tmp_path / "r.html")], "r.html"),
    ):
        run = CliRunner().invoke(cli, ["compare", str(treebank), str(treebank), *options, *more])
        assert run.exit_code == 0, run.output
        data = Page((tmp_path / written).read_text(encoding="utf-8")).data
        assert data["routes"] == ["reduction"] and len(data["sentences"]) == 30


def opened(browser: Any, comparison: Comparison, directory: Path) -> tuple[Any, list[str]]:
    write_report(comparison, directory / "report.html")
    return opened_in(browser, directory / "report.html")


def test_clicked_through_in_a_browser(
    browser: Any, comparison: Comparison, page: Page, tmp_path: Path
) -> None:
    tab, faults = opened(browser, comparison, tmp_path)
    data = page.data
    assert tab.title() == "d2c compare: direct, delta"
    assert tab.evaluate("scrollY") == 0  # the table is seen first, and no sentence far below it
    assert tab.inner_text("#count") == "60 of 60 sentences; F1 of direct / delta"
    assert tab.locator("#list button:visible").count() == 60
    worst = data["sentences"][0]
    captions = tab.locator("figcaption").all_inner_texts()
    assert captions[0] == "gold" and captions[-1] == "d-tree"
    assert captions[1].startswith(f"direct, F1 {worst['f'][0]:.1f}") and len(captions) == 4
    assert tab.locator("#pictures svg.tree").count() == 3 and tab.locator("#pictures svg.arcs").count() == 1
    marked = [len({mark[0] for mark in tree[2]}) if tree else 0 for tree in worst["c"]]
    assert tab.locator("svg.tree g.missed").count() == marked[0]
    assert tab.locator("svg.tree g.wrong").count() == sum(marked[1:])
    assert tab.locator("path.tip.wrong").count() == len(worst["a"])

    span = data["errors"].index("span")
    having = [
        s for s in data["sentences"] if any(mark[1] == span for tree in s["c"] if tree for mark in tree[2])
    ]
    tab.select_option("#error", label="span")
    assert 0 < len(having) < 60
    assert tab.inner_text("#count") == f"{len(having)} of 60 sentences; F1 of direct / delta"
    assert tab.inner_text("#sentence") == f"{having[0]['i']}: {' '.join(having[0]['w'])}"
    tab.select_option("#label", label="NP")
    label = data["labels"].index("NP")
    both = [s for s in having if any(fits(s, tree, label, span) for tree in s["c"] if tree)]
    assert tab.inner_text("#count") == f"{len(both)} of 60 sentences; F1 of direct / delta"
    tab.select_option("#label", "")
    tab.select_option("#error", "")
    tab.select_option("#order", "number")
    tab.locator("#list button").nth(7).click()
    assert tab.inner_text("#sentence").startswith("8: ")
    assert tab.locator("#list [aria-current]").inner_text().startswith("8: F1 ")
    assert faults == []


def fits(s: dict[str, Any], tree: list[Any], label: int, error: int) -> bool:
    """Whether a tree of the page has a mark with this label and class of error."""
    return any(tree[1][mark[0] - len(s["w"])] == label and mark[1] == error for mark in tree[2])


def test_on_a_narrow_screen_and_with_keys(browser: Any, comparison: Comparison, tmp_path: Path) -> None:
    tab, faults = opened(browser, comparison, tmp_path)
    tab.set_viewport_size({"width": 400, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") == 400
    tab.select_option("#order", "number")
    tab.locator("#list button").first.press("ArrowDown")
    assert tab.inner_text("#sentence").startswith("2: ")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("ArrowUp")  # there is none above the first
    assert tab.inner_text("#sentence").startswith("1: ")
    assert faults == []


def test_pictures_of_a_sentence_scroll_together(browser: Any, comparison: Comparison, tmp_path: Path) -> None:
    tab, faults = opened(browser, comparison, tmp_path)
    expect = pytest.importorskip("playwright.sync_api").expect
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.select_option("#order", "errors")  # a long one comes first
    pictures = tab.locator("#pictures figure > div")
    words = tab.locator("#pictures svg.tree").evaluate_all(
        "all => all.map(one => [...one.querySelectorAll('.tag')].map(tag => tag.getAttribute('x')).join())"
    )
    assert len(words) == 3 and len(set(words)) == 1  # the same words in the same places
    pictures.first.evaluate("box => { box.scrollLeft = 30 }")
    for i in range(4):  # a browser tells of scrolling when it draws the next time
        expect(pictures.nth(i)).to_have_js_property("scrollLeft", 30, timeout=60_000)
    assert faults == []


def test_nasty_words_in_a_browser(browser: Any, tmp_path: Path) -> None:
    tab, faults = opened(browser, nasty_comparison(), tmp_path)
    shown = tab.locator("#pictures svg.tree").first.locator("text").all_text_contents()
    assert set(NASTY) <= set(shown) and "</script><b>" in shown
    assert tab.inner_text("#count") == "1 of 1 sentences; F1 of </script><i>" and faults == []
