"""Silver trees from a teacher: a model parses text that has words and tags, and no trees."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from d2c.base.temporary import staged_file
from d2c.models.model import Model
from d2c.models.names import find
from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.route import Progress

_SHORTEST, _LONGEST = 2, 60  # words of a sentence
_QUOTES = ("``", "''")  # both are `"` in such text
_SURE = 0.9  # of the tags that the teacher finds are those of the text, where its tree is used


@dataclass(frozen=True)
class Lesson:
    """Who teaches what: a model by its name, with its pipeline where it has one, and a file of the treebanks.

    share: of the sentences that are parsed, evenly spread
    """

    text: str
    teacher: str
    pipeline: str | None = None
    share: float = 1.0


def taught(lesson: Lesson, treebanks: Path, folder: Path, say: Progress) -> Path:
    """Return a file with the trees that a teacher is sure of, made unless it is in the folder already."""
    file = folder / f"{lesson.text.partition('.')[0]}-{lesson.teacher}.mrg"
    if file.is_file():
        return file
    model = Model.load(find(lesson.teacher), allow_pipeline=lesson.pipeline)
    whole = enumerate(read_tagged_text(treebanks / lesson.text))
    sentences = [one for i, one in whole if int((i + 1) * lesson.share) > int(i * lesson.share)]
    say(f"{lesson.teacher} parses {len(sentences):,} sentences of {lesson.text}")
    folder.mkdir(parents=True, exist_ok=True)
    kept = 0
    with staged_file(file) as staged:
        with open(staged, "w", encoding="utf-8") as stream:
            for tokens, ctree in zip(sentences, model.parse(map(_bare, sentences)), strict=True):
                right = sum(map(str.__eq__, tokens.tags, ctree.tokens.tags))
                if right >= _SURE * len(tokens) and ctree.labels:
                    stream.write(f"{format_bracket(ctree)}\n")
                    kept += 1
        staged.replace(file)
    say(f"{file}: {kept:,} sentences, of which it is sure")
    return file


def _bare(tokens: Tokens) -> Tokens:
    return Tokens(tokens.forms, ("",) * len(tokens))


def read_tagged_text(path: Path) -> Iterator[Tokens]:
    """Yield the sentences of a file of lines of `word_TAG`, but very short and very long ones."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            pairs = [word.rpartition("_") for word in line.split(" ") if word.strip()]
            if _SHORTEST <= len(pairs) <= _LONGEST and all(word and tag for word, _, tag in pairs):
                tags = tuple(tag.strip() for *_, tag in pairs)
                words = (word for word, *_ in pairs)
                pair = zip(words, tags, strict=True)
                yield Tokens(tuple(tag if tag in _QUOTES else word for word, tag in pair), tags)
