"""What was learned: for each arc the pieces seen, the most frequent first, and backed off to fewer tags."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from d2c.base.model_files import strings
from d2c.rules.pieces import MOST, Arc, Chain, Piece

Seen = TypeVar("Seen", str, Chain)


@dataclass(frozen=True)
class Tables:
    """The rules. Of equally frequent chains the first in the order of their symbols counts as the commonest.

    attachments: an arc → the projections of a head up to the attachment, the commonest first
    bases:       an arc → the commonest lowest projection of a dependent
    tops:        an arc and what the dependent's own arcs have built → the commonest projections above that;
                 nothing is built of a dependent without dependents
    """

    attachments: Mapping[Arc, tuple[Chain, ...]]
    bases: Mapping[Arc, str]
    tops: Mapping[tuple[Arc, Chain], Chain]

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Tables:
        """Counts pieces."""
        attachments: defaultdict[Arc, Counter[Chain]] = defaultdict(Counter)
        bases: defaultdict[Arc, Counter[str]] = defaultdict(Counter)
        tops: defaultdict[tuple[Arc, Chain], Counter[Chain]] = defaultdict(Counter)
        for arc, attachment, projections, built in pieces:
            for key in arc.backed_off():
                tops[key, projections[:built]][projections[built:]] += 1
                if attachment:
                    attachments[key][attachment] += 1
                if projections:
                    bases[key][projections[0]] += 1
        return cls(
            {arc: tuple(_ranked(counts)) for arc, counts in attachments.items()},
            {arc: _ranked(counts)[0] for arc, counts in bases.items()},
            {key: _ranked(counts)[0] for key, counts in tops.items()},
        )

    def base(self, arc: Arc) -> str | None:
        """The lowest projection of a dependent; None where no such dependent was seen to project."""
        return next((self.bases[key] for key in arc.backed_off() if key in self.bases), None)

    def top(self, arc: Arc, built: Chain) -> Chain:
        """The projections of a dependent above what its own arcs have built."""
        keys = ((key, built) for key in arc.backed_off())
        return next((self.tops[key] for key in keys if key in self.tops), ())

    def attachment(self, arc: Arc, there: Chain, lowest: int, base: str | None) -> Chain | None:
        """The commonest projections of a head up to the attachment that can be glued to those there.

        Chains can be glued where one is the beginning of the other: so projections are reused.
        lowest: number of the projection that is the lowest one allowed
        base:   where none is there, chains that begin with this symbol are preferred
        """
        base = there[0] if there else base
        for key in arc.backed_off():
            commonest = None
            for chain in self.attachments.get(key, ()):
                if len(chain) > lowest and begins_alike(chain, there):
                    if chain[0] == base:
                        return chain
                    commonest = commonest or chain
            if commonest:
                return commonest
        return None

    def to_json(self) -> dict[str, object]:
        """Rows for a file."""
        return {
            "attachments": [[arc, chains] for arc, chains in self.attachments.items()],
            "bases": [[arc, base] for arc, base in self.bases.items()],
            "tops": [[arc, built, top] for (arc, built), top in self.tops.items()],
        }

    @classmethod
    def from_json(cls, rows: Mapping[str, Any]) -> Tables:
        """The rules of a file. Raises KeyError, TypeError, ValueError for what `to_json` does not write."""
        return cls(
            {_arc(arc): tuple(_chains(chains)) for arc, chains in rows["attachments"]},
            {_arc(arc): _chain([base])[0] for arc, base in rows["bases"]},
            {(_arc(arc), _chain(built)): _chain(top) for arc, built, top in rows["tops"]},
        )


def begins_alike(one: Chain, other: Chain) -> bool:
    """Whether one of two chains is the beginning of the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def _ranked(counts: Counter[Seen]) -> list[Seen]:
    return sorted(counts, key=lambda seen: (-counts[seen], seen))


def _arc(row: list[Any]) -> Arc:
    head, dependent, label, side = row
    strings([part for part in row if part is not None])
    return Arc(head, dependent, label, side)


def _chains(rows: list[Any]) -> Iterator[Chain]:
    for row in rows:
        if not row:
            raise ValueError("an attachment to no projection")
        yield _chain(row)


def _chain(row: list[Any]) -> Chain:
    chain = strings(row)
    if "" in chain or len(chain) > MOST:
        raise ValueError("a chain has an empty symbol, or is too long")
    return chain
