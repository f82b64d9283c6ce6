"""Lists, headings, dialogues and wrapped text, one file each; `¦` stands where a sentence ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2c.models.model import load_abbreviations
from d2c.models.names import find
from d2c.parsing.text import PennRules, split_sentences
from tests.parsing.test_text import lines_of

ENGLISH = load_abbreviations(find("en") / "dparser")
SORTS = Path(__file__).parent / "texts"
TEXTS = [
    pytest.param(text, id=f"{path.stem}-{number}")
    for path in sorted(SORTS.glob("*.txt"))
    for number, text in enumerate(path.read_text(encoding="utf-8").split("====\n"), 1)
]


@pytest.mark.parametrize("abbreviations", [(), ENGLISH], ids=["none", "en"])
@pytest.mark.parametrize("marked", TEXTS)
def test_sentences_are_those_of_the_layout(marked: str, abbreviations: tuple[str, ...]) -> None:
    expected = [sentence.strip() for sentence in marked.split("¦") if sentence.strip()]
    lines = lines_of(marked.replace("¦", ""))
    found = [line.text.strip() for line in split_sentences(lines, PennRules(abbreviations))]
    assert found == expected


def test_there_are_enough_of_each_sort() -> None:
    assert [
        len(path.read_text(encoding="utf-8").split("====\n")) for path in sorted(SORTS.glob("*.txt"))
    ] == [12] * 4
