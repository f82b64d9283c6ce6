"""D-parsers by name. Classes are imported only where they are used: their packages are large, some extras."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from d2c.dparsers.protocol import DependencyParser
from d2c.trees.errors import ModelError

# name: its class, what to install for it, and the parameters that may follow its name, with their values
DPARSERS: dict[str, tuple[str, str, dict[str, tuple[str, ...]]]] = {
    "stanza": (
        "d2c.dparsers.stanza.parser:StanzaParser",
        "stanza",
        {"model_type": ("graph", "transition")},
    ),
    "spacy": ("d2c.dparsers.spacy.parser:SpacyParser", "d2c[spacy]", {}),
    "udpipe": (
        "d2c.dparsers.udpipe.parser:UDPipeParser",
        "d2c[udpipe]",
        {"system": ("projective", "swap", "link2"), "beam": ()},
    ),
    "cmd": ("d2c.dparsers.command:CommandParser", "d2c", {"train_template": (), "parse_template": ()}),
    "file": ("d2c.dparsers.file_parser:FileParser", "d2c", {"path": (), "dev": ()}),
    "pipeline": ("d2c.dparsers.pipeline_parser:PipelineParser", "d2c", {"pipeline": ()}),
    "gold": ("d2c.dparsers.file_parser:GoldParser", "d2c", {}),
}
_FOR_ALL = ("preset", "seed")  # parameters that mean nothing to d-parsers that do not have them


def import_class(role: str, name: str, path: str, package: str) -> type[Any]:
    """The class at `module:Class`. Raises ModelError that says what to install where it needs a package."""
    module, class_name = path.split(":")
    try:
        return getattr(import_module(module), class_name)  # type: ignore[no-any-return]
    except ImportError as error:
        message = f'the {role} {name} needs a package ({error}): pip install "{package}"'
        raise ModelError(message) from None


def make_dparser(dparser: str, **parameters: Any) -> DependencyParser:
    """An untrained d-parser.

    dparser:    one of DPARSERS, then perhaps `:` and its own parameters with `;` between them, as in
                `stanza:transition`, `cmd:TRAIN;PARSE` or `pipeline:spacy:NAME`
    parameters: of its class; None leaves the default

    Raises ModelError for unknown d-parsers and parameters, and where a package is not installed.
    """
    name, colon, rest = dparser.partition(":")
    made = dparser_class(name)
    own = DPARSERS[name][2]
    values = rest.split(";", max(0, len(own) - 1)) if colon else []
    needed = sum(signature(made).parameters[key].default is Parameter.empty for key in own)
    known = all(v in choices if choices else v for v, choices in zip(values, own.values(), strict=False))
    if not needed <= len(values) <= len(own) or not known:
        forms = ["|".join(choices) or key.upper().replace("_", "-") for key, choices in own.items()]
        form = f"{name}:{';'.join(forms)}" if forms else name
        raise ModelError(f"the d-parser {dparser!r} is not of the form {form}")
    given = {key: value for key, value in parameters.items() if value is not None}
    given |= dict(zip(own, values, strict=False))
    for key in _FOR_ALL:
        if key not in signature(made).parameters:
            given.pop(key, None)
    check(name, made, given)
    return made(**given)  # type: ignore[no-any-return]


def dparser_class(name: str) -> type[Any]:
    """The class of one of DPARSERS. Raises ModelError."""
    if name not in DPARSERS:
        raise ModelError(f"unknown d-parser {name!r}; known are {', '.join(DPARSERS)}")
    return import_class("d-parser", name, *DPARSERS[name][:2])


def check(name: str, function: Callable[..., Any], parameters: Iterable[str]) -> None:
    """Raises ModelError for a parameter that a function of the d-parser does not have."""
    unknown = [parameter for parameter in parameters if parameter not in signature(function).parameters]
    if unknown:
        raise ModelError(f"the d-parser {name} takes no {unknown[0].replace('_', ' ')}")
