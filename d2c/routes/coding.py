"""Whole files encoded and decoded by a route, in batches, on several cores: c-trees to CoNLL-U and back."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import Faults, FormatError, Refusals, each_located
from d2c.base.files import file_name, open_output
from d2c.base.workers import in_order
from d2c.protocols.route import Route
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, head_outward, modifiers_of, nested
from d2c.trees.formats.conllu import Chunk, format_conllu, parse_conllu
from d2c.trees.formats.graphs import as_in_conllu
from d2c.trees.formats.reading import FileBatch, Reading
from d2c.trees.formats.registry import Place, write_treebank
from d2c.trees.heads import HeadRules, Uncovered
from d2c.trees.labels import ROOT
from d2c.trees.repair import Repairs, projectivize
from d2c.trees.scores.matches import percent

_ENCODINGS = "direct", "delta", "spine"  # that labels reveal, as long as there are no others
_MANY = 100  # among so many labels at least one has a number, in the delta encoding the number 0


class Statistics:
    """What an encoding makes of a treebank: the figures of section 4.1 of "Parsing as Reduction"."""

    def __init__(self) -> None:
        self.sentences = self.tokens = self.nodes = self.unaries = 0
        self.orders = self.not_nested = self.not_projective = 0
        self.labels: set[str] = set()
        self.symbols: set[str] = set()

    def count(self, ctree: CTree, dtree: DTree) -> None:
        """Count one sentence."""
        assert dtree.events is not None and dtree.labels is not None
        self.sentences += 1
        self.tokens += len(ctree.tokens)
        self.nodes += len(ctree.labels)
        self.unaries += sum(len(kids) == 1 for kids in ctree.children)
        self.labels.update(dtree.labels)
        self.symbols.update(ctree.labels)
        for h, modifiers in enumerate(modifiers_of(dtree.heads)):
            if modifiers:
                sides = head_outward(h, modifiers)
                self.orders += 1
                self.not_nested += not all(nested(side, dtree.events) for side in sides)
        lifted = projectivize(dtree.heads)
        self.not_projective += sum(a != b for a, b in zip(dtree.heads, lifted, strict=True))

    def add(self, other: Statistics) -> None:
        """Add the counts of another batch of the treebank."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            setattr(self, name, own | value if isinstance(value, set) else own + value)

    def lines(self) -> Iterator[str]:
        """Yield the figures, one a line."""
        arcs = self.tokens - self.sentences
        yield f"sentences               {self.sentences:>9,}"
        yield f"tokens                  {self.tokens:>9,}"
        yield f"phrase symbols          {len(self.symbols):>9,}"
        yield f"dependency labels       {len(self.labels):>9,}"
        yield f"labels per symbol       {len(self.labels) / max(1, len(self.symbols)):>9.2f}"
        shares = {
            "unary nodes": (self.unaries, self.nodes, "nodes"),
            "orders not nested": (self.not_nested, self.orders, "heads"),
            "arcs not projective": (self.not_projective, arcs, "arcs"),
        }
        for name, (counted, whole, what) in shares.items():
            yield f"{name:<24}{percent(counted, whole):>7.2f} % of {whole:,} {what}"


class Coded(NamedTuple):
    """The text of a batch in the other format, its number of sentences, and what was counted.

    file:    the batch's file, as messages name it
    refused: what is wrong with the batch's other sentences
    error:   what cannot be written; there is no text then
    Errors count sentences from the batch's beginning; `code_files` adds those of the batches before.
    """

    text: str
    sentences: int
    file: str
    refused: Sequence[FormatError] = ()
    error: FormatError | None = None
    statistics: Statistics | None = None
    uncovered: Uncovered | None = None
    repairs: Repairs | None = None
    signs: Counter[str] | None = None


@dataclass(frozen=True)
class Encode:
    """Turns c-trees into d-trees in CoNLL-U, and counts what `rules` do not cover."""

    route: Route
    rules: HeadRules
    reading: Reading
    statistics: bool

    def __call__(self, batch: FileBatch) -> Coded:
        statistics, uncovered = Statistics() if self.statistics else None, Uncovered()

        def encoded(ctree: CTree) -> str:
            ctree = self.rules.headed(ctree, uncovered)
            dtree = self.route.encode(ctree)
            if statistics:
                statistics.count(ctree, dtree)
            return format_conllu(replace(dtree, tokens=as_in_conllu(dtree.tokens)))

        refused: list[FormatError] = []
        refusals = Refusals(Faults(skipped=refused.append))
        ctrees, file = self.reading.trees_of(batch, refusals), file_name(batch.file)
        lines = [*each_located(encoded, ctrees, file, refusals)]
        text = "".join(lines)
        return Coded(text, len(lines), file, refused, statistics=statistics, uncovered=uncovered)


@dataclass(frozen=True)
class Decode:
    """Turns d-trees in CoNLL-U into c-trees, in a format whose files can be joined."""

    route: Route
    file: str
    format_name: str

    def __call__(self, chunk: Chunk) -> Coded:
        repairs, text, refused = Repairs(), StringIO(), list[FormatError]()
        signs, refusals = Signs(), Refusals(Faults(skipped=refused.append))
        dtrees = signs.over(parse_conllu(chunk, self.file, refusals))
        ctrees = self.route.decode_all(dtrees, repairs)
        try:
            write_treebank(ctrees, self.format_name, text, Place(self.file, refusals))
        except FormatError as error:
            return Coded("", 0, self.file, refused, error)
        done = Coded(text.getvalue(), repairs.sentences, self.file, refused)
        return done._replace(repairs=repairs, signs=signs)


class Signs(Counter[str]):
    """Counts arcs between words, sentences in which no word has a tag (`untagged`), and what labels show of
    their encoding: labels with a number, sentences whose root has a spine, sentences with a difference of 0.
    """

    def over(self, dtrees: Iterable[DTree]) -> Iterator[DTree]:
        """Yield the d-trees."""
        for dtree in dtrees:
            tags, labels = dtree.tokens.tags, " ".join((*(dtree.labels or ()), ""))
            self["arcs"] += max(0, len(tags) - 1)
            self["untagged"] += tags.count("_") == len(tags)
            self["numbers"] += labels.count("#")
            self["spines"] += f"{ROOT}|" in labels
            self["zeros"] += "#0 " in labels
            yield dtree

    def mismatch(self, route: Route) -> str:
        """Return a message where labels seem to have another encoding than the route reads, or none at all;
        else ""."""
        if not isinstance(route, Reduction) or route.abilities.own_labels or route.encoding not in _ENCODINGS:
            return ""
        if not self["numbers"]:
            said = "its labels are not those of `d2c encode`: they say nothing of phrases"
            return said if self["arcs"] >= _MANY else ""
        shown, read = "spine" if self["spines"] else "delta" if self["zeros"] else "direct", route.encoding
        sure = shown != "direct" or read == "spine" or self["numbers"] >= _MANY
        said = f"its labels look like those of the encoding {shown}, but were read as {read}"
        return said if read != shown and sure else ""


def code_files(
    code: Callable[[Any], Coded],
    batches: Iterable[FileBatch] | Iterable[Chunk],
    sources: Iterable[Path],
    output: Path,
    jobs: int,
    faults: Faults,
) -> Iterator[Coded]:
    """Encode or decode the batches of files, and yield what was counted; the output appears at the end.

    Raises FormatError, and what `code` raises.
    """
    # Trees hold no reference cycles; looking for some among so many small objects takes a tenth of the time.
    gc.set_threshold(1_000_000)
    refusals, sentences, written = Refusals(faults), Counter[str](), Counter[str]()
    with open_output(output) as out:
        for coded in refusals.over(in_order(lambda: code, batches, jobs)):
            before = sentences[coded.file]
            for error in coded.refused:
                refusals(error.after(before))
            if coded.error:
                refusals.fail(coded.error.after(before))
            out.write(coded.text)
            sentences[coded.file] += coded.sentences + len(coded.refused)
            written[coded.file] += coded.sentences
            yield coded
        for file in map(file_name, sources):
            if not written[file]:
                count = sentences[file]
                what = "none of its sentences can be read" if count else "no sentence found in this file"
                raise FormatError(file, 0 if count else 1, 0, what)
