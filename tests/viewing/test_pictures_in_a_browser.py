"""Pictures of `d2c view` in a real browser: hits, zoom, folding, the compact layout, copies, SVG files."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.pages import opened_in, searched
from tests.viewing.test_in_a_browser import FIVE, page

LONG = " ".join(f"(NP (NN word{i:02}) (PP (IN of) (NNS things)))" for i in range(30))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pictures") / "five.mrg"
    file.write_text(FIVE)
    return page(file)


@pytest.fixture
def long(tmp_path: Path) -> Path:
    file = tmp_path / "long.mrg"
    file.write_text(f"(S {LONG})\n" * 60 + f"(S {LONG} (VP (VBD slept)))\n")
    return page(file)


@pytest.fixture
def tab(browser: Any, five: Path) -> Any:
    tab, faults = opened_in(browser, five, accept_downloads=True)
    yield tab
    assert faults == []


def words(tab: Any, name: str = "tree") -> list[str]:
    found: list[str] = tab.locator(f"svg.{name} .word, svg.{name} .words").all_text_contents()
    return found


def labels(tab: Any) -> list[str]:
    found: list[str] = tab.locator("svg.tree g[data-node] > text").all_text_contents()
    return found


def test_hits_are_marked_in_sentence_list_and_pictures(tab: Any) -> None:
    searched(tab, 'NP << (PP << "with")')
    assert tab.locator("#sentence mark").all_text_contents() == ["the cat with glasses"]
    assert tab.inner_text("#sentence") == "1: They saw the cat with glasses ."
    assert tab.locator("#list mark").all_text_contents() == ["the cat with glasses"]
    for picture in ("tree", "arcs"):
        inside = tab.locator(f"svg.{picture} .word.within").all_text_contents()
        assert inside == ["the", "cat", "with", "glasses"]
    searched(tab, '"They" .. "glasses"=after')
    assert tab.locator("#sentence mark").all_text_contents() == ["They", "glasses"]
    searched(tab, "")
    assert tab.locator("mark, .within").count() == 0


def test_a_hit_is_gone_to(browser: Any, long: Path) -> None:
    tab, faults = opened_in(browser, long)
    tab.set_viewport_size({"width": 1000, "height": 600})
    tab.locator("#list button").nth(60).click()
    top = tab.evaluate("document.querySelector('#list').scrollTop")
    searched(tab, '"slept"')
    assert (
        top > 0
        and tab.locator("#list [aria-current]").inner_text() == "61: 91 tokens\n… word29 of things slept"
    )
    for picture in tab.locator("#pictures figure > div").all():
        frame, hit = picture.bounding_box(), picture.locator(".word.found").bounding_box()
        assert frame["x"] < hit["x"] and hit["x"] + hit["width"] < frame["x"] + frame["width"]
    searched(tab, "")
    assert tab.evaluate("document.querySelector('#pictures figure > div').scrollLeft") == 0 and faults == []


def test_zoom(tab: Any) -> None:
    svg = tab.locator("svg.tree")
    natural = svg.evaluate("one => one.viewBox.baseVal.width")

    def is_zoomed(percent: int) -> bool:
        width = float(svg.get_attribute("width"))
        return tab.inner_text("#zoom") == f"{percent} %" and round(100 * width / natural) == percent

    assert is_zoomed(100)
    tab.click("#larger")
    assert is_zoomed(125)
    tab.keyboard.press("+")
    assert is_zoomed(156)
    tab.keyboard.press("n")
    natural = svg.evaluate("one => one.viewBox.baseVal.width")
    assert is_zoomed(156)  # of the next sentence, too
    tab.keyboard.press("-")
    tab.click("#smaller")
    assert is_zoomed(100)
    svg.hover()
    tab.keyboard.down("Control")
    tab.mouse.wheel(0, -100)
    tab.keyboard.up("Control")
    tab.wait_for_function("document.querySelector('#zoom').value === '110 %'")
    assert is_zoomed(110)
    tab.keyboard.press("0")
    assert is_zoomed(100)
    tab.set_viewport_size({"width": 420, "height": 800})
    tab.keyboard.press("f")
    room = tab.evaluate("document.querySelector('#pictures figure > div').clientWidth - 14")
    assert float(svg.get_attribute("width")) == pytest.approx(min(natural, room))
    assert tab.evaluate("document.documentElement.scrollWidth") == 420


def test_folding(tab: Any) -> None:
    assert labels(tab) == ["NP", "NP", "NP", "PP", "NP", "VP", "S"]
    tab.locator("svg.tree g", has_text="VP").click()
    assert labels(tab) == ["NP", "VP", "S"] and words(tab) == ["They", "saw … glasses", "."]
    assert words(tab, "arcs") == ["They", "saw", "the", "cat", "with", "glasses", "."]
    assert tab.locator("svg.tree path.fold").count() == 1
    node = tab.locator("svg.tree :focus")
    assert node.get_attribute("aria-expanded") == "false" and node.get_attribute("aria-level") == "2"
    assert node.get_attribute("aria-label") == "VP: saw the cat with glasses"
    tab.keyboard.press("Enter")
    assert labels(tab) == ["NP", "NP", "NP", "PP", "NP", "VP", "S"]
    for key, reached in (("ArrowUp", "S"), ("ArrowDown", "NP"), ("ArrowRight", "VP"), ("ArrowDown", "NP")):
        tab.keyboard.press(key)
        assert tab.locator("svg.tree :focus > text").text_content() == reached
    tab.keyboard.press(" ")
    assert words(tab) == ["They", "saw", "the … glasses", "."]
    tab.fill("#level", "2")
    assert labels(tab) == ["NP", "VP", "S"] and words(tab) == ["They", "saw … glasses", "."]
    searched(tab, "PP")  # what is found is not folded away
    assert labels(tab) == ["NP", "NP", "NP", "PP", "NP", "VP", "S"]
    tab.fill("#level", "1")
    searched(tab, "")
    assert labels(tab) == ["S"] and words(tab) == ["They … ."]


def test_the_compact_layout_has_a_word_in_each_line(tab: Any) -> None:
    tab.keyboard.press("c")
    place = "all => all.map(one => [one.getAttribute('x'), +one.getAttribute('y')])"
    places = [tab.locator(f"svg.{picture} .word").evaluate_all(place) for picture in ("tree", "arcs")]
    heights = [[y for _, y in side] for side in places]
    assert heights[0] == heights[1] == [18, 37, 56, 75, 94, 113, 132]
    assert [len({x for x, _ in side}) for side in places] == [1, 1]
    across = dict(zip(labels(tab), tab.locator("svg.tree g > text").evaluate_all(place), strict=True))
    assert float(across["S"][0]) < float(across["VP"][0]) < float(across["NP"][0]) < float(places[0][0][0])
    tab.fill("#level", "2")
    assert words(tab) == ["They", "saw … glasses", "."]
    tab.uncheck("#compact")
    assert len({y for _, y in tab.locator("svg.arcs .word").evaluate_all(place)}) == 1


@pytest.mark.parametrize(
    "text",
    [
        FIVE.partition("\n")[0],
        "(S (-LRB- -LRB-) (NP (NP (NN x))) (-RRB- -RRB-))",
        "(S (VP (V 0=wake) (P 2=up)) (N 1=me))",
    ],
)
def test_brackets_are_copied(browser: Any, tmp_path: Path, text: str) -> None:
    file = tmp_path / ("x.discbracket" if "=" in text else "x.mrg")
    file.write_text(text + "\n")
    tab, faults = opened_in(browser, page(file))
    tab.get_by_text("copy brackets").click()
    tab.wait_for_function("document.querySelector('#said').value === 'copied'")
    tab.focus("#query")
    tab.keyboard.press("Control+V")
    assert tab.input_value("#query") == text and faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_saved_with_its_styles(browser: Any, five: Path, scheme: Any, tmp_path: Path) -> None:
    tab, faults = opened_in(browser, five, color_scheme=scheme, accept_downloads=True)
    searched(tab, 'NP << (PP=inside << "with"=word)')
    for k, (name, marked) in enumerate((("1-c-tree.svg", 4), ("1-d-tree.svg", 2))):
        with tab.expect_download() as started:
            tab.get_by_text("save SVG").nth(k).click()
        assert started.value.suggested_filename == name
        started.value.save_as(tmp_path / name)
        root = ElementTree.parse(tmp_path / name).getroot()
        assert root.tag == f"{SVG}svg" and float(root.attrib["width"]) > 100
        texts = [one.text for one in root.iter(f"{SVG}text") if "word" in one.get("class", "").split()]
        assert texts == ["They", "saw", "the", "cat", "with", "glasses", "."]
        found = [one for one in root.iter() if "found" in one.attrib.get("class", "").split()]
        assert len(found) == marked
        style = root.find(f"{SVG}style")
        assert style is not None and style.text and "var(" not in style.text
        assert "#1f5f9e" in style.text or "rgb(31, 95, 158)" in style.text  # in light colours always
    assert faults == []


def test_a_page_has_names_for_those_who_listen(tab: Any) -> None:
    assert tab.get_by_role("navigation", name="sentences").count() == 1
    assert tab.get_by_role("toolbar", name="pictures").count() == 1
    assert tab.get_by_role("tree", name="c-tree: They saw the cat with glasses .").count() == 1
    assert tab.get_by_role("img", name="d-tree: They saw the cat with glasses .").count() == 1
    assert tab.get_by_role("treeitem", name="PP: with glasses").count() == 1
    for name in ("smaller", "larger", "100 %", "fit", "copy brackets"):
        assert tab.get_by_role("button", name=name, exact=True).count() == 1
    assert tab.get_by_label("compact").count() == tab.get_by_label("fold below level").count() == 1
