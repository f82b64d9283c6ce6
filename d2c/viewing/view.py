"""The page of `d2c view`: the sentences of a treebank, of parsed text or of a file of d-trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from d2c.base.errors import FormatError, Refusals, each_located
from d2c.base.files import file_name
from d2c.base.inputs import Paths, names_of
from d2c.parsing.output import format_by_name
from d2c.parsing.parsed import NO_CTREE
from d2c.parsing.sentences import is_parsed, read_parsed
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.pairs import check_words, side_by_side
from d2c.trees.formats.reading import Reading
from d2c.viewing.page import Json, Sentences, page

MOST = 100_000  # sentences of a page: with more of them a browser takes many seconds and GB


@dataclass(frozen=True, slots=True)
class Viewed:
    """A sentence with its trees, of which one may be missing.

    confidences: how sure the parser was of each node of the c-tree [K]; none where it does not say so
    file:        where it is from, if there are several
    number:      among the sentences of that, as tables have it
    """

    ctree: CTree | None = None
    dtree: DTree | None = None
    confidences: tuple[float, ...] = ()
    file: str = ""
    number: int = 0


def _treebank(path: Path, reading: Reading, refusals: Refusals) -> Iterator[Viewed]:
    return map(Viewed, reading.transformed(reading.read(path, refusals), path, refusals))


def _parsed(path: Path, reading: Reading, refusals: Refusals) -> Iterator[Viewed]:
    for read in read_parsed(path, reading, refusals):
        if read.error:  # is shown in the place of words
            shown = replace(NO_CTREE, tokens=Tokens((read.error,), NO_CTREE.tokens.tags))
            yield Viewed(shown, file=read.file)
        else:
            yield Viewed(read.ctree, None, read.confidences or (), read.file)


def _conllu(path: Path, _reading: Reading, refusals: Refusals) -> Iterator[Viewed]:
    for dtree in read_conllu(path, refusals):
        yield Viewed(None, dtree)


# By what files hold that are no treebanks.
_READERS: dict[str, Callable[[Path, Reading, Refusals], Iterator[Viewed]]] = {
    "parsed": _parsed,
    "conllu": _conllu,
}


def read_viewed(
    files: Sequence[Path], reading: Reading, head_rules: str, dtrees: Path | None = None
) -> Iterator[tuple[int, Viewed]]:
    """The sentences of files, each after its number among those of all files. Raises FormatError.

    head_rules: of the d-trees, where c-trees have no heads, as those of JSON lines have
    dtrees:     CoNLL-U that has the d-trees of the only file instead
    """
    route, before, source, first = Reduction("direct", head_rules), 0, "", 0

    def encoded(one: Viewed) -> Viewed:
        return one if one.ctree is None else replace(one, dtree=route.encode(one.ctree))

    for path in files:
        refusals, number = Refusals(reading.faults), 0
        kind = "parsed" if is_parsed(path, reading) else reading.format_name or format_by_name(path)
        read = _READERS.get(kind or "", _treebank)
        viewed = read(path, reading, refusals)
        if dtrees is None:
            viewed = each_located(encoded, viewed, file_name(path), refusals)
        else:
            pairs = side_by_side((path, viewed), (dtrees, read_conllu(dtrees)))
            viewed = each_located(_paired, pairs, file_name(dtrees))
        for number, one in enumerate(refusals.over(viewed), 1):
            file = one.file or (file_name(path) if len(files) > 1 else "")
            at = before + number + refusals.count
            if file != source:
                source, first = file, at - 1
            yield at, replace(one, file=file, number=at - first)
        before += number + refusals.count


def _paired(pair: tuple[Viewed, DTree]) -> Viewed:
    one, dtree = pair
    if one.ctree is not None:
        check_words(one.ctree, dtree)
    return replace(one, dtree=dtree)


def write_page(viewed: Iterable[tuple[int, Viewed]], files: Paths, stream: TextIO, query: str = "") -> int:
    """Writes the page of the sentences of files as they come; returns how many they are.

    query: what the page searches when it is opened

    Raises FormatError where there is none, or too many.
    """
    written, count, sure = Sentences(), 0, False

    def sentences() -> Iterator[Json]:
        nonlocal count, sure
        for number, one in viewed:
            count += 1
            if count > MOST:
                how = "search for less" if query else "choose some by --sentences"
                message = f"a page shows {MOST:,} sentences at most; {how}"
                raise FormatError(names_of(files), 0, number, message)
            sure = sure or bool(one.confidences)
            yield ({"file": one.file} if one.file else {}) | _shown(written, one)

    def data() -> Json:
        return {"sure": sure, "query": query, **written.names}

    name = Path(names_of(files)).name
    stream.writelines(page("d2c.viewing", "view.html", name=name, sentences=sentences(), data=data))
    if not count:
        raise FormatError(names_of(files), 0, 0, "there is no such sentence")
    return count


def _shown(written: Sentences, one: Viewed) -> Json:
    dtree, said = one.dtree, [round(100 * confidence) for confidence in one.confidences]
    assert dtree is not None
    if one.ctree is None:
        return written.json(one.number, dtree.tokens, dtree, [])
    return written.json(one.number, one.ctree.tokens, dtree, [written.ctree(one.ctree, said)])
