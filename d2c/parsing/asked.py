"""JSON lines as input: words, perhaps tags, and constituents that must be there, or must not."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn

from d2c.base.counting import many
from d2c.trees.formats.checks import check_text


class Asked(NamedTuple):
    """What a line of input says of a sentence: words, tags (empty: to be found), and constraints as given."""

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    require: Any = None
    forbid: Any = None


def read_asked(line: str) -> Asked:
    """Return what a line of input holds; a line of `format_json` is one, too. Raises ValueError."""
    try:
        shown = json.loads(line, parse_constant=no_number)
        forms = strings(shown["tokens"])
        tags = strings(shown.get("tags") or [""] * len(forms))
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]!r}") from None
    except (RecursionError, json.JSONDecodeError, TypeError, AttributeError):
        raise ValueError("no JSON object with `tokens`, a list of words, and perhaps `tags`") from None
    if len(tags) != len(forms):
        raise ValueError(f"{many(len(forms), 'token')} with {many(len(tags), 'tag')}")
    given = [shown.get(name) for name in ("require", "forbid")]
    if not all(one is None or isinstance(one, list) for one in given):
        raise ValueError('`require` and `forbid` are lists of spans: [[0, 3, "NP"], [4, 6]]')
    return Asked(forms, tags, *given)


def strings(column: Any) -> tuple[str, ...]:
    """Return texts. Raises TypeError for anything else, and ValueError where no file can hold them."""
    if not isinstance(column, list) or not all(isinstance(text, str) for text in column):
        raise TypeError
    return tuple(map(check_text, column))


def no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
