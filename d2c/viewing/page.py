"""HTML pages that need no network: templates of several packages, which extend templates/browser.html."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def page(package: str, template: str, **shown: Any) -> Iterator[str]:
    """The page in pieces, so that one with many sentences is never held whole.

    package:  has the template
    shown:    what the template asks for, with `sentences` and `data` for browser.html: an iterable of
              sentences in JSON, and the rest of the page's data, taken when that has ended
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("d2c.viewing")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return environment.get_template(template).generate(**shown)
