"""Words of a flat phrase that belong together: compounds with a hyphen, dates, persons' names, fixed
expressions."""

from __future__ import annotations

from collections.abc import Sequence

from d2c.trees.universal.dependencies import Dependencies

NOMINAL = frozenset(("NP", "NX", "NML", "NAC", "PP", "FRAG", "X", "PRN", "UCP", "WHNP"))
_BEFORE_THINGS = frozenset(
    ["DT", "JJ", "JJS", "POS", "PRP$", "PDT", "CD", "NNS", "NNPS", "NP", "ADJP", "QP"]
)  # labels that hardly stand before persons
_LONGEST_DAY = 2  # digits


def join_words(arcs: Dependencies, names: Sequence[str], kids: Sequence[int]) -> list[int]:
    """Attach to each other words that a hyphen joins, months to days, `five` to `million`; return the
    children that are left.

    names: [n + K] of all nodes; kids: the children of one node, of which those below n are words
    """
    left: list[int] = []
    for kid in kids:
        left.append(kid)
        hyphen = len(left) > 2 and names[left[-2]] == "HYPH"
        before = left[-3] if hyphen else left[-2] if len(left) > 1 else kid
        if before == kid or max(before, kid) >= len(arcs.tags) or not arcs.marks.isdisjoint((before, kid)):
            continue
        relation, head = _joined(arcs, names, before, kid, hyphen)
        if relation:
            arcs.attach(kid if head == before else before, head, relation)
            del left[-2 - hyphen :]
            left.append(head)
    return left


def _joined(arcs: Dependencies, names: Sequence[str], a: int, b: int, hyphen: bool) -> tuple[str, int]:
    """Return the relation between two words, and which is the head; "" for none."""
    if hyphen:
        if names[a] == names[b] == "NNP":
            return "flat", a
        return arcs.relation("HYPH", names[a], a, b), b
    if "month" in arcs.traits[a] and _is_day(arcs, b):
        return "compound", b
    if "month" in arcs.traits[b] and _is_day(arcs, a):
        return "nmod:unmarked", a
    if names[a] == names[b] == "CD" and "number" in arcs.traits[b]:
        return "compound", b
    return "", b


def _is_day(arcs: Dependencies, word: int) -> bool:
    return arcs.tags[word] == "CD" and len(arcs.forms[word]) <= _LONGEST_DAY


def join_names(arcs: Dependencies, names: Sequence[str], kids: Sequence[int]) -> list[int]:
    """Attach the other words of persons' names to the first, and the first to a noun before it; return the
    children that are left."""
    left: list[int] = []
    place = 0
    while place < len(kids):
        end = place
        while end < len(kids) and names[kids[end]] == "NNP" and "title" not in arcs.traits[kids[end]]:
            end += 1
        name = kids[place:end]
        before = names[left[-1]] if left else ""
        after = names[kids[end]] if end < len(kids) else ""
        if name and not after.startswith("NN") and not _is_thing(arcs, name):
            if before == "NN":
                arcs.attach(name[0], left[-1], "appos")
            elif before in _BEFORE_THINGS:
                left += name
            else:
                left.append(name[0])
            if before not in _BEFORE_THINGS:
                for kid in name[1:]:
                    arcs.attach(kid, name[0], "flat")
        else:
            left += name
        left += kids[end : end + 1]
        place = end + 1
    return left


def _is_thing(arcs: Dependencies, words: Sequence[int]) -> bool:
    """Return whether a name, by its last word or its first, is hardly that of a person."""
    return arcs.is_any(words[-1], "thing") or arcs.is_any(words[0], "named", "adjective")


def join_fixed(arcs: Dependencies) -> None:
    """Attach the other words of fixed expressions to the first, where they have one head together."""
    for first, form in enumerate(arcs.forms):
        for words, relation in arcs.rules.fixed.get(form, ()):
            if arcs.forms[first : first + len(words)] == words:
                _fix(arcs, range(first, first + len(words)), relation)


def _fix(arcs: Dependencies, words: range, relation: str) -> None:
    highest = [word for word in words if arcs.heads[word] not in words]
    if len({arcs.heads[word] for word in highest}) > 1 or not arcs.marks.isdisjoint(words):
        return
    head, first, old = arcs.heads[highest[0]], words[0], arcs.relations[highest[0]]
    for word in words[1:]:
        for one in arcs.dependents[word]:
            if one not in words and arcs.heads[one] == word:
                arcs.attach(one, first, arcs.relations[one])
        arcs.dependents[word] = []
    for word in words[1:]:
        arcs.attach(word, first, "fixed")
    arcs.heads[first], arcs.relations[first] = head, relation if relation and head >= 0 else old
