"""The models that `scripts/build_models.py` builds, from recipes.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from d2c.base.inputs import of_each
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.reading import Read, Reading
from models.teaching import Lesson
from treebanks.penn import penn_trees


@dataclass(frozen=True)
class Data:
    """A treebank: its licence, whom to thank, its files for train and dev; text without trees has no dev."""

    name: str
    licence: str
    attribution: str
    train: str
    dev: str = ""


@dataclass(frozen=True)
class Ablation:
    """What each source of the training set gives, as another script measured it: a table and its caption."""

    what: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is built.

    what, language, licence, measured: texts for its card
    read:     how the treebanks are read, for training and as gold
    routes:   the first is taken, unless another has an F1 on held-out trees that is more than 0.25 better
    settings: of the training, with `tagger_epochs` and `tagger_folds`; of a converter, those of its chart
    after:    the models that it needs, which are built into the same folder before it
    then:     the models that it teaches, which are built with it
    shares:   how often each sentence of a treebank or lesson is in train, 1 where nothing is said; generated
              trees are in train only if they have a share
    recased:  the share of the sentences in train that are added without capitals or all in capitals
    lessons:  silver trees of text, which are in train, too
    converts: the convention of the d-trees that the model converts, if it does, as in file names: sd, ud
    pipeline: the spaCy pipeline whose d-trees it converts, if it does
    functions: the treebanks from which it learns function tags
    encoder:  a package with a directory that `--transformer` takes
    packages: the packages whose versions the card says
    english:  whether it learns from several treebanks in one convention, and rules for English cut its text
    texts:    the texts of its lessons
    ablation: what its sources give
    elsewhere: what other scripts measured, by its description on the card
    """

    name: str
    what: str
    language: str
    licence: str
    data: tuple[Data, ...]
    settings: Mapping[str, Any]
    measured: str
    read: Read = of_each(penn_trees)
    routes: tuple[str, ...] = ("reduction",)
    after: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    recased: float = 0.0
    lessons: tuple[Lesson, ...] = ()
    converts: str = ""
    pipeline: str | None = None
    functions: tuple[str, ...] = ()
    encoder: str | None = None
    packages: tuple[str, ...] = ("spacy",)
    english: bool = False
    texts: tuple[Data, ...] = ()
    ablation: Ablation | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return how often each source is in train, and the settings."""
        named = [*(one.name for one in self.data), *(lesson.name for lesson in self.lessons)]
        sources = dict.fromkeys((*named, *self.shares))
        drawn = ", ".join(f"{name} {self.shares.get(name, 1.0):g} times" for name in sources)
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{drawn}; {settings}"

    def spec(self, train: Path, dev: Path, read: Read, **more: Any) -> TrainingSpec:
        """Return the training on these two files, with the recipe's settings and the others given.

        The tagger has its own number of passes and of folds: with a million words, ten folds of ten passes
        would take days.
        """
        settings = {"tagger_epochs": None, "tagger_folds": 2, **self.settings, **more}
        tagger = {name: settings.pop(f"tagger_{name}") for name in ("epochs", "folds")}
        spec = TrainingSpec.of(train, dev, self.routes, read, **settings)
        return replace(spec, tagger=replace(spec.tagger, **tagger))


def read_recipes() -> dict[str, Recipe]:
    """Return the recipes of recipes.toml by name. Raises KeyError, TypeError for mistakes there."""
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    treebanks = {name: Data(name=name, **row) for name, row in rows["treebank"].items()}
    lessons_of = {
        name: Lesson(name=name, **row | {"teachers": tuple(row["teachers"])})
        for name, row in rows["lesson"].items()
    }
    by_file = {one.train: one for one in treebanks.values()}
    recipes = {}
    for name, row in rows["model"].items():
        data = tuple(treebanks[one] for one in row.pop("treebanks"))
        reading = Reading(**row.pop("reading", {}))
        read = of_each(penn_trees) if row.get("english") else reading
        row["measured"] = rows["measured"][row["measured"]]
        lessons = tuple(lessons_of[one] for one in row.pop("lessons", ()))
        texts = tuple(dict.fromkeys(by_file[lesson.text] for lesson in lessons))
        if table := row.pop("ablation", None):
            said = rows["ablation"][table].items()
            row["ablation"] = Ablation(**{key: _tuples(value) for key, value in said})
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        given = {"name": name, "data": data, "read": read, "lessons": lessons, "texts": texts}
        recipes[name] = Recipe(**given | row | lists)
    return recipes


def _tuples(value: Any) -> Any:
    """Return lists, and those in them, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def with_others(names: Iterable[str]) -> list[str]:
    """Return these models, those that they need and those that they teach, in the order of recipes.toml:
    each comes after the models that it needs."""
    wanted, left = set[str](), [*names]
    while left:
        recipe = RECIPES[left.pop()]
        wanted.add(recipe.name)
        left += {*recipe.after, *recipe.then} - wanted
    return [name for name in RECIPES if name in wanted]


RECIPES = read_recipes()
