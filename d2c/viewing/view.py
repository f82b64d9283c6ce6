"""The page of `d2c view`: the sentences of a treebank, of parsed text or of a file of d-trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import NamedTuple, TextIO

from d2c.base.errors import FormatError, Refusals, each_located
from d2c.base.files import file_name
from d2c.base.inputs import names_of
from d2c.parsing.json_lines import PLAIN
from d2c.parsing.sentence import Sentence
from d2c.parsing.sentences import sentences_in
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import NO_CTREE, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.pairs import check_words, side_by_side
from d2c.trees.formats.reading import Reading
from d2c.viewing.page import Json, Sentences, page

MOST = 100_000  # sentences of a page: with more of them a browser takes many seconds and GB


class Viewed(NamedTuple):
    """A sentence with its file and its number there, from 1."""

    file: str
    number: int
    sentence: Sentence


def read_viewed(
    files: Sequence[Path],
    reading: Reading,
    head_rules: str,
    dtrees: Path | None = None,
    chosen: tuple[int, int] | None = None,
) -> Iterator[Viewed]:
    """Yield the sentences of files. Raises FormatError.

    head_rules: the table that finds heads for d-trees if c-trees have none; those of JSON lines have heads
    dtrees:     a CoNLL-U file whose d-trees are taken instead, for the only file
    chosen:     the numbers of the first and the last sentence that are wanted of each file
    """
    route, (begin, end) = Reduction("direct", head_rules), chosen or (1, inf)

    def encoded(one: Sentence) -> Sentence:
        return one if one.ctree is None else replace(one, dtree=route.encode(one.ctree))

    for path in files:
        refusals = Refusals(reading.faults)
        viewed: Iterator[Sentence] = map(_with_reason, sentences_in(path, reading, refusals, beside=False))
        if dtrees is None:
            viewed = each_located(encoded, viewed, file_name(path), refusals)
        else:
            pairs = side_by_side((path, viewed), (dtrees, read_conllu(dtrees, charset=reading.charset)))
            viewed = each_located(_paired, pairs, file_name(dtrees))
        for number, one in enumerate(refusals.over(viewed), 1):
            if (at := number + refusals.count) > end:
                break
            if at >= begin:
                yield Viewed(file_name(path), at, one)


def _with_reason(one: Sentence) -> Sentence:
    """Return a sentence; if it could not be parsed, the reason takes the place of its words."""
    if not one.error:
        return one
    tokens = Tokens((one.why,), NO_CTREE.tokens.tags)
    return replace(one, tokens=tokens, ctree=replace(NO_CTREE, tokens=tokens))


def _paired(pair: tuple[Sentence, DTree]) -> Sentence:
    one, dtree = pair
    check_words(one.tokens, dtree.tokens)
    return replace(one, dtree=dtree)


def write_page(viewed: Iterable[Viewed], files: tuple[Path, ...], stream: TextIO, query: str = "") -> int:
    """Write the page of the sentences of files as they come; return how many there are.

    query: what the page searches for when it is opened

    Raises FormatError if there are none, or too many.
    """
    written, count, sure = Sentences(), 0, False

    def sentences() -> Iterator[Json]:
        nonlocal count, sure
        for file, number, one in viewed:
            count += 1
            if count > MOST:
                how = "search for less" if query else "choose some by --sentences"
                message = f"a page shows {MOST:,} sentences at most; {how}"
                raise FormatError(file, 0, number, message)
            sure = sure or bool(one.confidences)
            yield ({"file": file} if len(files) > 1 else {}) | _shown(written, number, one)

    def data() -> Json:
        return {"sure": sure, "query": query, **written.names}

    name = Path(names_of(files)).name
    stream.writelines(page("d2c.viewing", "view.html", name=name, sentences=sentences(), data=data))
    if not count:
        raise FormatError(names_of(files), 0, 0, "there is no such sentence")
    return count


def page_data(parsed: Iterable[Sentence]) -> Json:
    """Return what a page holds of parsed sentences; in a failed one, `error` says why it was not parsed."""
    written, sentences, sure = Sentences(), list[Json](), False
    for number, one in enumerate(parsed, 1):
        sure = sure or bool(one.confidences)
        error = {"error": one.why} if one.error else {}
        sentences.append(_shown(written, number, _with_reason(one)) | error)
    return {"sentences": sentences, "sure": sure, **written.names}


def _shown(written: Sentences, number: int, one: Sentence) -> Json:
    """Return a sentence in JSON, with the name of the file parsed, if known, and other fields of PLAIN."""
    own = {name: value for name in PLAIN if name != "line" and (value := getattr(one, name))}
    source = {"source": own.pop("file")} if "file" in own else {}
    said, dtree = [round(100 * confidence) for confidence in one.confidences or ()], one.dtree
    assert dtree is not None
    trees = [] if one.ctree is None else [written.ctree(one.ctree, said)]
    trees += [written.ctree(other, []) for other, _ in one.alternatives[1:]]
    shares = [share for _, share in one.alternatives]
    tokens = dtree.tokens if one.ctree is None else one.ctree.tokens
    shown = written.json(number, tokens, dtree, trees)
    return source | ({"said": own} if own else {}) | shown | ({"p": shares} if shares else {})
