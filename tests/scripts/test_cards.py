"""Cards of the models that come with d2c are those of their recipes, and docs say the same."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from build_models import main
from d2c.base.model_files import read_json
from d2c.models.names import find
from models.recipes import RECIPES

DOCS = Path(__file__).parents[2] / "docs" / "lab" / "english.md"


@pytest.mark.parametrize("name", ["en", "en-small", "en-clear", "en-ud", "id"])
def test_a_card_is_that_of_its_recipe(name: str, tmp_path: Path) -> None:
    copy = copytree(find(name), tmp_path / name)
    run = CliRunner().invoke(main, [name, "--anew", "card", "-o", str(tmp_path)])
    assert run.exit_code == 0, run.output
    for file in ("card.json", "README.md"):
        assert (copy / file).read_text(encoding="utf-8") == (find(name) / file).read_text(encoding="utf-8")


def test_a_card_thanks_for_texts_of_lessons() -> None:
    card, shown = read_json(find("en") / "card.json"), (find("en") / "README.md").read_text(encoding="utf-8")
    names = [one["name"] for one in card["data"]]
    assert names == ["CRAFT", "GENIA", "MASC", "GUM", "MASC, other documents", "EWT"]
    assert "| EWT | CC BY-SA 4.0 | Universal Dependencies English Web Treebank" in shown
    assert [one.name for one in RECIPES["en-ud"].texts] == []


def test_docs_say_what_cards_say_of_sources() -> None:
    docs, table = DOCS.read_text(encoding="utf-8"), RECIPES["en"].ablation
    assert table and len(table.rows) == 5
    for _, words, *scores in table.rows:
        cells = " | ".join(f"{score:.2f}" for score in scores)
        assert f" | {cells} |" in docs and f"{words:,}" in docs
