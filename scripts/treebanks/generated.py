"""Generated trees of constructions that hardly any text has, from templates (`scripts/models/generated.txt`).

    python scripts/treebanks/generated.py

Prints the trees, one a line.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

GENERATED = "generated"  # the name of these trees in recipes
TEMPLATES = Path(__file__).parents[1] / "models" / "generated.txt"
_PLACE = re.compile(r"<([A-Z]+)>")
_FIRST = re.compile(r"(?<= )[A-Za-z](?=[^()]*\))")  # the first letter of a word


def generated_trees(seed: int, templates: Path = TEMPLATES) -> Iterator[str]:
    """Yield trees in brackets, for each heading as many as it says, and none twice.

    Lines of the file are headings with a number, lists of the fillings for places of a name, and templates.
    In one tree, two places of the same name have different fillings.

    Raises ValueError where a hundred draws give no new tree, as where templates allow too few.
    """
    drawn, fillings, wanted = random.Random(seed), dict[str, list[str]](), list[tuple[int, list[str]]]()
    for line in templates.read_text(encoding="utf-8").splitlines():
        name, of_name, rest = line.partition(": ")
        if line.startswith("("):
            wanted[-1][1].append(line)
        elif of_name and name.isupper():
            fillings[name] = rest.split(" | ")
        elif line.startswith("# ") and line[-1].isdigit():
            wanted.append((int(line.rpartition(" ")[2]), []))
    known = set[str]()
    for count, own in wanted:
        for number in range(count):
            tries = (_filled(own[number % len(own)], fillings, drawn) for _ in range(100))
            tree = next((tree for tree in tries if tree not in known), None)
            if tree is None:
                raise ValueError(f"there are fewer than {count} trees of {own[number % len(own)]}")
            known.add(tree)
            yield tree


def _filled(template: str, fillings: Mapping[str, Sequence[str]], drawn: random.Random) -> str:
    """Return a tree of a template. Fillings may have places themselves."""
    left = {name: drawn.sample(own, len(own)) for name, own in fillings.items()}
    while _PLACE.search(template):
        template = _PLACE.sub(lambda place: left[place[1]].pop(), template, count=1)
    return "(TOP " + _FIRST.sub(lambda letter: letter[0].upper(), template, count=1) + ")"


if __name__ == "__main__":
    sys.stdout.writelines(f"{tree}\n" for tree in generated_trees(1))
