"""Silver trees from teachers: models parse text that has words and tags, and perhaps d-trees, but no c-trees,
and vote on the constituents."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

from d2c.base.counting import many
from d2c.base.files import open_output
from d2c.models.model import Model
from d2c.models.names import find, is_model
from d2c.models.spelling import TYPOGRAPHIC
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Progress
from d2c.routes.voting.constituents import Parse, combine, constituents
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.conllu import read_conllu
from treebanks.constructions import RARE, constructions_of
from treebanks.corrections import corrected
from treebanks.penn import joined, quoted, to_penn
from treebanks.silver import agrees

_SHORTEST, _LONGEST = 2, 60  # words of a sentence
_QUOTES = ("``", "''")  # both are `"` in such text
_DTREES, _OVER, _PIPELINE = ".conllu.gz", " over ", "spacy:"
ITS_PARSER = "its parser"
KEPT = "kept"  # the folder, beside the models, with what a run after a kill goes on from

OwnParser = Callable[[str], DependencyParser]


@dataclass(frozen=True)
class Lesson:
    """Who teaches what: models by their names, and a file of the treebanks.

    text:     lines of word_TAG, or CoNLL-U, whose d-trees are given to teachers that convert d-trees
    teachers: the first of them are believed where votes are equal; "NAME over PIPELINE" converts what a
              pipeline finds, "NAME over its parser" what the d-parser finds that is trained for a converter
    tags:     a tree is used only if at least this share of its tags are those of the text
    agree:    a tree is used only if the mean F1 of the teachers' trees against each other is as high
    counted:  how often a tree is written if its gold d-tree has one of the RARE constructions
    """

    name: str
    text: str
    teachers: tuple[str, ...]
    tags: float = 0.9
    agree: float = 0.6
    counted: int = 1

    def __str__(self) -> str:
        return " and ".join(self.teachers)


def taught(lesson: Lesson, treebanks: Path, models: Path, own: OwnParser, say: Progress) -> Path:
    """Return a file with the trees that teachers are sure of, made unless it is there already.

    models: the folder of the teachers, in which the file is kept; other teachers are found by their names
    own:    returns the d-parser that is trained for a converter
    """
    file = models / KEPT / f"{lesson.name}.mrg"
    if file.is_file():
        return file
    begin = time.monotonic()
    texts = read_tagged_text if not lesson.text.endswith(_DTREES) else read_dtrees
    given = [*texts(treebanks / lesson.text)]
    say(f"{lesson.name}: {lesson} parse {many(len(given), 'sentence')} of {lesson.text}")
    parses = (_parsed(teacher, models, given, own) for teacher in lesson.teachers)
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = others = 0
    with open_output(file) as stream:
        for dtree, *found in zip(given, *parses, strict=True):
            ctrees = [ctree for ctree in found if ctree is not None]
            if len(ctrees) < len(found) or len({ctree.tokens.forms for ctree in ctrees}) > 1:
                others += 1
                continue
            voted = combine([*map(Parse, ctrees)]).ctree
            if voted.labels and _is_sure(lesson, dtree, voted, ctrees):
                voted = corrected(voted, joined(dtree)) if dtree.labels else voted
                times = lesson.counted if RARE & constructions_of(dtree) else 1
                stream.write(f"{format_bracket(voted)}\n" * times)
                kept += 1
    seconds = time.monotonic() - begin
    unlike = f"; {many(others, 'sentence')}, whose words they see otherwise, left out" if others else ""
    say(f"{lesson.name}: {many(kept, 'sentence')}, of which they are sure, in {seconds:.0f} seconds{unlike}")
    return file


def _parsed(teacher: str, models: Path, given: Sequence[DTree], own: OwnParser) -> Iterator[CTree | None]:
    """Yield the tree that a teacher finds for each sentence; None where no token is a word in the Penn
    Treebank's convention."""
    name, _, over = teacher.partition(_OVER)
    directory = models / name if is_model(models / name) else find(name)
    model = Model.load(directory, allow_pipeline=over if over.startswith(_PIPELINE) else None)
    if not model.dparser.abilities.given:
        return model.parse(Tokens.untagged(joined(one).tokens.forms) for one in given)
    dtrees: Iterable[DTree] = given
    found = over == ITS_PARSER  # it also finds the tags: a token that it takes for a hyphen stays a word
    if found:
        dtrees = own(name).parse(one.tokens for one in given)
    return (to_penn(ctree, hyphens=found) for ctree in model.route.decode_all(dtrees))


def _is_sure(lesson: Lesson, dtree: DTree, voted: CTree, ctrees: Iterable[CTree]) -> bool:
    """Return whether a voted tree may be used: it has enough tags of the text, the teachers agree enough with
    each other, and it agrees with the d-tree, if there is one."""
    ours = joined(dtree)
    same = fmean(map(str.__eq__, ours.tokens.tags, voted.tokens.tags))
    sure = same >= lesson.tags and agreement(ctrees) >= lesson.agree
    return sure and (not lesson.text.endswith(_DTREES) or agrees(voted, ours))


def agreement(ctrees: Iterable[CTree]) -> float:
    """Return the mean F1 over all pairs of trees of a sentence; 1 for a single tree."""
    pairs = combinations([{*constituents(one)} for one in ctrees], 2)
    return fmean([2 * len(a & b) / max(1, len(a) + len(b)) for a, b in pairs] or [1.0])


def read_tagged_text(path: Path) -> Iterator[DTree]:
    """Yield the sentences of a file of lines of `word_TAG`, without heads, except very short and very long
    ones. Marks are written as in the Penn Treebank, so that no teacher's tags decide which they are."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            pairs = [word.rpartition("_") for word in line.split(" ") if word.strip()]
            if _SHORTEST <= len(pairs) <= _LONGEST and all(word and tag for word, _, tag in pairs):
                tags = tuple(tag.strip() for *_, tag in pairs)
                words = (word for word, *_ in pairs)
                pair = zip(words, tags, strict=True)
                forms = tuple(tag if tag in _QUOTES else TYPOGRAPHIC.get(word, word) for word, tag in pair)
                tokens = Tokens(forms, tags)
                yield DTree(tokens, (0,) * len(tokens))


def read_dtrees(path: Path) -> Iterator[DTree]:
    """Yield the d-trees of a CoNLL-U file, except very short and very long ones."""
    for dtree in read_conllu(path):
        if _SHORTEST <= len(joined(dtree).tokens) <= _LONGEST:
            old = dtree.tokens
            tokens = replace(quoted(old), lemmas=old.lemmas, morphs=old.morphs)
            yield DTree(tokens, dtree.heads, labels=dtree.labels)
