"""What was learned: for each arc the pieces seen, the most frequent first, and backed off to fewer tags."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeVar

from d2c.base.counting import ranked
from d2c.routes.rules.pieces import MOST, Arc, Chain, Piece

Seen = TypeVar("Seen", str, Chain)


def _check_chain(chain: Chain) -> None:
    if "" in chain or len(chain) > MOST:
        raise ValueError("a chain has an empty symbol, or is too long")


def _check_attachments(chains: tuple[Chain, ...]) -> None:
    if () in chains:
        raise ValueError("an attachment to no projection")


_Chain = Annotated[Chain, _check_chain]
Symbol = Annotated[str, lambda symbol: _check_chain((symbol,))]


@dataclass(frozen=True)
class Rows:
    """`PieceTables` in a file."""

    attachments: tuple[tuple[Arc, Annotated[tuple[_Chain, ...], _check_attachments]], ...]
    bases: tuple[tuple[Arc, Symbol], ...]
    tops: tuple[tuple[Arc, _Chain, _Chain], ...]


@dataclass(frozen=True)
class PieceTables:
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
    def of(cls, pieces: Iterable[Piece]) -> PieceTables:
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
            {arc: tuple(ranked(counts)) for arc, counts in attachments.items()},
            {arc: ranked(counts)[0] for arc, counts in bases.items()},
            {key: ranked(counts)[0] for key, counts in tops.items()},
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
        """Return the rules as a file has them; see `Rows`."""
        return {
            "attachments": [*self.attachments.items()],
            "bases": [*self.bases.items()],
            "tops": [[arc, built, top] for (arc, built), top in self.tops.items()],
        }

    @classmethod
    def from_json(cls, rows: Rows) -> PieceTables:
        """Return the rules that `to_json` wrote."""
        tops = {(arc, built): top for arc, built, top in rows.tops}
        return cls(dict(rows.attachments), dict(rows.bases), tops)


def begins_alike(one: Chain, other: Chain) -> bool:
    """Whether one of two chains is the beginning of the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]
