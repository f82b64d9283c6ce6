"""A system's stack in plain Python: symbols, each with the unary steps since the last other one."""

from __future__ import annotations

from d2c.automata.systems import LEFT, NOTHING, RIGHT, SHIFT, UNARY, System

Stack = list[tuple[int, int]]


def applicable(system: System, stack: Stack, left: int) -> list[int]:
    """The actions that apply before so many tokens."""
    tables = system.tables
    second, top = ([(NOTHING, 0)] * 2 + stack)[-2:]
    spent = int(top[1] >= tables.unaries)
    row = tables.rows[int(not left), spent, tables.classes[second[0]], tables.classes[top[0]]]
    return list(tables.masks[row].nonzero()[0].tolist())


def take(system: System, stack: Stack, left: int, action: int, tag: str = "N") -> int:
    """Changes the stack; how many tokens are left then.

    tag: of the token that a shift takes
    """
    kind = system.actions[action].kind
    if kind == SHIFT:
        stack.append((system.leaf(tag), 0))
        return left - 1
    top, level = stack.pop()
    second = stack.pop()[0] if kind in (LEFT, RIGHT) else NOTHING
    head = second if kind == RIGHT else top
    stack.append((int(system.tables.results[head, action]), level + 1 if kind == UNARY else 0))
    return left
