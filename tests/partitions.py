"""Feature templates told by what they do: which contexts share a feature.

Of a template nothing is known but its features, hashed, in some contexts; two templates do the same if they
put the contexts into the same classes. So what a kernel computes can be compared with what a paper's template
says, whatever the order of the templates and the way of hashing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

Classes = tuple[int, ...]


def classes(features: Iterable[Hashable]) -> Classes:
    """[contexts] for each the first one that has the same feature."""
    first: dict[Hashable, int] = {}
    return tuple(first.setdefault(feature, number) for number, feature in enumerate(features))


def check_templates(
    expected: Mapping[str, Sequence[Hashable]], computed: Sequence[Sequence[Hashable]], alike: int = 0
) -> None:
    """Asserts that columns of features are those of the expected templates, each once, and share no feature.

    expected: template → [contexts] its features as a paper has them
    computed: [templates, contexts] features
    alike:    how many templates say what another one says in other words
    """
    names: dict[Classes, list[str]] = {}
    for name, features in expected.items():
        names.setdefault(classes(features), []).append(name)
    assert len(names) == len(expected) - alike, [same for same in names.values() if len(same) > 1]
    found = [names.get(classes(column), ["no such template"])[0] for column in computed]
    assert sorted(found) == sorted(same[0] for same in names.values() for _ in same)
    seen = [set(column) for column in computed]
    assert len(set().union(*seen)) == sum(map(len, seen))
