"""The page of `d2c view` in a real browser: search, keys, pictures, shades, light and dark."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.trees.formats.brackets import read_brackets, save_brackets
from tests.pages import NASTY, opened_in, searched, settled

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
FIVE = """\
(S (NP (PRP They)) (VP (VBD saw) (NP (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses))))) (. .))
(S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses)))) (. .))
(S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .))
(NP (NN root))
(S (NP (PRP They)) (VP (VBD slept) (PP (IN In) (NP (NNS glasses)))))
"""


def page(source: Path, *options: str) -> Path:
    target = source.parent / "view.html"
    run = CliRunner().invoke(cli, ["view", str(source), "-o", str(target), *options])
    assert run.exit_code == 0, run.output or run.exception
    return target


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("view") / "five.mrg"
    file.write_text(FIVE)
    return page(file)


@pytest.fixture(scope="module")
def opened(browser: Any, five: Path) -> tuple[Any, list[str]]:
    return opened_in(browser, five)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("glasses", [1, 2, 5]),
        ("the", [1, 2]),
        ('"the"', [1, 2, 3]),
        ('"The"', [3]),
        ("NP", [1, 2, 3, 4, 5]),
        ("np", []),
        ('"in"', [5]),
        ("IN", [1, 2, 5]),
        ("NP << glasses", [1, 2, 5]),
        ("NP < PP", [1]),
        ('NP < (PP << "with")', [1]),
        ("NP < (PP << with << glasses) << cat", [1]),
        ('VP < (PP << "with") !<< (NP < PP)', [2]),
        ("VP !< PP", [1, 3]),
        ("ROOT !<< PP", [3, 4]),
        ("NN < cat", [1, 2, 3]),
        ("NN < root", [4]),
        ("NP << (NP << NP)", []),
        ('"with glasses"', [1, 2]),
        ('"glasses with"', []),
        ('NP << "the cat"', [1, 2, 3]),
        ('"NP"', []),
        ('"gl*s"', [1, 2, 5]),
        ('"s*t" . slept', []),
        ('S : "s*t"', [3, 5]),
        ("/P$/", [1, 2, 3, 4, 5]),
        ("/^N.*S$/", [1, 2, 5]),
        ("arc:root", [1, 2, 3, 4, 5]),
        ("root", [4]),
        ("PP << arc:PP#1 << glasses", [1, 2, 5]),
        ("/^\\.$/ !>> (S << PP)", [3]),
        ("NP=a <, DT <- =a", []),
        ("NP | PP", [1, 2, 3, 4, 5]),
    ],
)
def test_search(opened: tuple[Any, list[str]], query: str, found: list[int]) -> None:
    tab, faults = opened
    assert searched(tab, query) == f"{len(found)} of 5 sentences"
    numbers = tab.locator("#list button:visible").all_inner_texts()
    assert [int(text.split(":")[0]) for text in numbers] == found
    assert tab.locator("#pictures svg").count() == (2 if found else 0)
    assert faults == []


def test_what_is_found_is_marked(browser: Any, five: Path) -> None:
    tab, faults = opened_in(browser, five)
    searched(tab, 'NP < (PP=a << "with *"=b)')
    marked = tab.locator("svg.tree .found").all_text_contents()
    assert sorted(marked) == ["IN", "NNS", "NP", "PP", "glasses", "with"]
    searched(tab, "NP) (")
    assert tab.inner_text("#count").startswith("the pattern at character 3, ')': here a relation is missing")
    assert tab.locator("svg.tree .found").count() == 6  # what was shown stays
    assert faults == []


def test_a_page_of_search_opens_with_its_matches(browser: Any, five: Path) -> None:
    target = five.with_name("hits.html")
    source = five.with_name("five.mrg")
    run = CliRunner().invoke(cli, ["search", "VP=phrase <# VBD=verb << PP", str(source), "-o", str(target)])
    assert run.exit_code == 0, run.output
    tab, faults = opened_in(browser, target)
    assert tab.input_value("#query") == "VP=phrase <# VBD=verb << PP"
    assert settled(tab) == "3 of 3 sentences"
    assert sorted(tab.locator("svg.tree .found").all_text_contents()) == ["VBD", "VP", "saw"] and faults == []
    tab.set_viewport_size({"width": 400, "height": 300})
    tab.goto("about:blank")
    tab.goto(target.as_uri())
    assert settled(tab) == "3 of 3 sentences"
    assert tab.evaluate("scrollY") == 0 and tab.evaluate("document.body.scrollHeight") > 300


def test_below_the_level_only_the_way_to_what_is_found_is_open(browser: Any, five: Path) -> None:
    tab, faults = opened_in(browser, five)
    searched(tab, "NP=found < PP")
    tab.fill("#level", "2")
    words = tab.locator("svg.tree .word, svg.tree .words").all_text_contents()
    assert words == ["They", "saw", "the cat", "with glasses", "."] and faults == []


def test_keys_and_buttons(browser: Any, five: Path) -> None:
    tab, faults = opened_in(browser, five)

    def shown() -> str:
        assert tab.locator("#list [aria-current]").count() == 1
        number = tab.inner_text("#sentence").split(":")[0]
        assert tab.locator("#list [aria-current]").inner_text().startswith(f"{number}: ")
        return str(number)

    for key, number in zip("nnpppnnnnn", "2321123455", strict=True):
        tab.keyboard.press(key)
        assert shown() == number
    tab.click("#previous")
    assert shown() == "4" and tab.inner_text("#sentence") == "4: root"
    tab.click("#next")
    assert shown() == "5"
    tab.keyboard.press("/")
    tab.keyboard.type("npn")  # letters for the search
    assert tab.input_value("#query") == "npn" and settled(tab) == "0 of 5 sentences"
    tab.fill("#query", "saw")
    tab.keyboard.press("Enter")  # which waits for the search
    settled(tab)
    tab.keyboard.press("ArrowDown")
    assert shown() == "2"
    tab.keyboard.press("ArrowUp")
    assert shown() == "1" and faults == []


def test_the_list_grows_as_it_is_walked_through(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "sample.mrg"
    save_brackets(islice(read_brackets(SAMPLE / "train.mrg"), 250), file)
    tab, faults = opened_in(browser, page(file))
    buttons = tab.locator("#list button:visible")
    assert buttons.count() == 101 and buttons.last.inner_text() == "more"
    for _ in range(100):
        tab.keyboard.press("n")
    assert tab.inner_text("#sentence").startswith("101: ") and buttons.count() == 201
    buttons.last.click()
    assert buttons.count() == 250 and tab.inner_text("#sentence").startswith("101: ")
    assert faults == []


def test_branches_cross_and_pictures_have_the_same_columns(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.discbracket"
    file.write_text("(S (VP (V 0=wake) (P 2=up)) (N 1=me))\n")
    tab, faults = opened_in(browser, page(file))
    tree = tab.locator("svg.tree")
    heights = {
        label: float(tree.get_by_text(label, exact=True).get_attribute("y")) for label in ("S", "VP", "N")
    }
    assert heights["S"] < heights["VP"] < heights["N"]
    columns = [
        picture.locator(".word").evaluate_all(
            "all => all.map(one => [one.textContent, one.getAttribute('x')])"
        )
        for picture in (tree, tab.locator("svg.arcs"))
    ]
    assert columns[0] == columns[1] and [word for word, _ in columns[0]] == ["wake", "me", "up"]
    assert tab.locator("svg.arcs .arc").all_text_contents() == ["root", "S#2", "VP#1"]
    left, right = (tab.locator("figure").nth(i).bounding_box() for i in (0, 1))
    assert left["y"] == right["y"] and left["x"] < right["x"]  # side by side
    assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shades_of_confidence(browser: Any, tmp_path: Path, scheme: Any) -> None:
    lines = []
    for share in (1, 0.25):
        spans = [{"label": "S", "start": 0, "end": 2, "head": 1, "confidence": 1}]
        spans += [{"label": "NP", "start": 0, "end": 1, "head": 0, "confidence": share}]
        lines.append(
            json.dumps({"line": 1, "tokens": ["She", "slept"], "tags": ["PRP", "VBD"], "spans": spans})
        )
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(lines))
    tab, faults = opened_in(browser, page(file), color_scheme=scheme)
    assert tab.locator("#list button:visible").all_inner_texts() == [
        "1: 2 tokens, confidence from 1.00\nShe slept",
        "2: 2 tokens, confidence from 0.25\nShe slept",
    ]
    assert tab.locator(".scale").is_visible() and tab.locator(".shade").count() == 0
    tab.select_option("#order", "unsure")
    assert tab.inner_text("#sentence").startswith("2: ")
    assert tab.locator(".shade rect").evaluate_all(
        "all => all.map(one => one.getAttribute('fill-opacity'))"
    ) == ["0.75"]
    assert tab.locator("svg.tree title").all_text_contents() == ["confidence 1.00", "confidence 0.25"][::-1]
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 25, 28)"}[scheme]
    assert faults == []


def test_without_confidences_there_is_no_scale(browser: Any, five: Path) -> None:
    tab, _ = opened_in(browser, five)
    assert not tab.locator(".scale").is_visible() and not tab.locator("#order").is_visible()


def test_d_trees_alone_and_heads_that_form_no_tree(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.conllu"
    rows = [f"{i}\tw{i}\t_\tX\tX\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate((2, 1, 9, "_", 5, 0), 1)]
    file.write_text("".join(rows) + "\n")
    tab, faults = opened_in(browser, page(file))
    assert tab.locator("figcaption").all_inner_texts() == ["d-tree"]
    assert tab.locator("svg.arcs .tip").count() == 6
    assert searched(tab, '"w1 w2" . X : arc:dep') == "1 of 1 sentences" and faults == []


def test_nasty_words_and_a_deep_tree(browser: Any, tmp_path: Path) -> None:
    n = len(NASTY)
    spans = [{"label": "</script><b>", "start": 0, "end": n, "head": 0}] * 2_000
    file = tmp_path / "</b>.jsonl"[2:]
    file.write_text(json.dumps({"line": 1, "tokens": NASTY, "tags": NASTY, "spans": spans}))
    tab, faults = opened_in(browser, page(file))
    assert tab.locator("svg.tree .word").all_text_contents() == list(NASTY)
    assert tab.locator("svg.tree g").count() == 2_000
    assert searched(tab, '"</script*" .. "{{"') == "0 of 1 sentences"
    assert searched(tab, '"</script>"') == "1 of 1 sentences" and faults == []


def test_on_a_narrow_screen(browser: Any, five: Path) -> None:
    tab, faults = opened_in(browser, five)
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.click("summary")
    assert tab.evaluate("document.documentElement.scrollWidth") == 400
    assert tab.locator("#help code").first.is_visible() and faults == []
