"""Transition systems as latent-variable grammars: Theorem 1, verified by enumerating trees on both sides.

    python scripts/table_automata.py [--oracles 9]

Strings are all of up to 6 tokens over two terminals. Sizes are the greatest of each line's oracles. A
mismatch is a string of which the grammar has other trees than the automaton, or more, or none. What the
systems parse is `python scripts/table.py automata`.
"""

from __future__ import annotations

import click

from measuring.tables import Line, print_table, say
from measuring.theorem import Finding, Kind, automaton, kinds, summed, verify

SIZES = ("tree classes", "stack classes", "nonterminals", "rules", "reduced nonterminals", "reduced rules")
HEADER = ("features", "system", "K", "oracles", "number", *SIZES, "strings", "accepted", "mismatches")


@click.command()
@click.option("--oracles", default=9, show_default=True, help="How many of each kind.")
def main(oracles: int) -> None:
    """Verifies random oracles, and learned ones; prints sizes and mismatches."""
    rows: list[Line] = []
    findings: dict[bool, list[Finding]] = {False: [], True: []}
    for kind in sorted((*kinds(learned=False), *kinds(learned=True)), key=lambda kind: kind.features):
        found = [verify(automaton(kind, seed)) for seed in range(oracles)]
        findings[kind.learned] += found
        rows.append(row(kind, found))
        say(rows[-1])
    for learned, found in findings.items():
        rows.append(row(Kind("all", "all", 0, learned), found))
    print_table(HEADER, rows)


def row(kind: Kind, findings: list[Finding]) -> Line:
    """A line of the table."""
    origin = "learned" if kind.learned else "random"
    return [kind.features, kind.system, kind.lookahead or None, origin, len(findings), *summed(findings)]


if __name__ == "__main__":
    main()
