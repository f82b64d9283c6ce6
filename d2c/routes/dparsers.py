"""D-parsers and taggers by name. Classes are imported only where they are used: their packages are large,
some extras."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple, cast

from d2c.base.errors import ModelError, needing
from d2c.protocols.dparser import DependencyParser, Tagger


class Registered(NamedTuple):
    """Where a class is, and what is needed to use it.

    path:    `module:Class`
    package: what to install for it
    own:     parameters that may follow its name, each with its values; () for any value
    quoted:  whether they are commands, in whose quotes a `;` ends no parameter
    """

    path: str
    package: str = "d2c"
    own: Mapping[str, tuple[str, ...]] = {}
    quoted: bool = False


DPARSERS = {
    "stanza": Registered(
        "d2c.dparsers.stanza.parser:StanzaParser",
        "d2c[stanza]",
        {"model_type": ("graph", "transition", "joint")},
    ),
    "spacy": Registered("d2c.dparsers.spacy.parser:SpacyParser", "spacy", {"network": ("narrow", "wide")}),
    "udpipe": Registered(
        "d2c.dparsers.udpipe.parser:UDPipeParser",
        "d2c[udpipe]",
        {"system": ("projective", "swap", "link2"), "beam": ()},
    ),
    "cmd": Registered(
        "d2c.dparsers.file_parser:CommandParser",
        own={"train_template": (), "parse_template": ()},
        quoted=True,
    ),
    "file": Registered("d2c.dparsers.file_parser:FileParser", own={"path": (), "dev": ()}),
    "pipeline": Registered("d2c.dparsers.pipeline_parser:PipelineParser", own={"pipeline": ()}),
    "gold": Registered("d2c.dparsers.file_parser:GoldParser"),
    "transition": Registered(  # of the roof: nothing here knows of automata
        "d2c.automata.transition_parser:TransitionParser",
        own={"system": ("standard", "eager"), "search": ("greedy", "exact")},
    ),
}
TAGGERS = {
    "stanza": Registered("d2c.dparsers.stanza.tagger:StanzaTagger", "d2c[stanza]"),
    "spacy": Registered("d2c.dparsers.spacy.tagger:SpacyTagger", "spacy"),
}
_GONE = {  # what models of before may name, or users remember
    "nltk": "the tagger nltk is no longer part of d2c; train the model again with --tagger spacy",
}
_FOR_ALL = ("preset", "seed", "checkpoints")  # d-parsers without these parameters ignore them
_ALSO_CALLED = {"bert_model": "transformer"}
# Two commands: a `;` inside quotes ends none. A quote that is not closed is a character.
_COMMANDS = re.compile(r"""((?:[^;'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])*+);(.*)""", re.DOTALL)


def class_of(role: str, registry: Mapping[str, Registered], name: str) -> type[Any]:
    """Import a registered class; the role says of what. Raises ModelError."""
    if name in _GONE:
        raise ModelError(_GONE[name])
    if name not in registry:
        raise ModelError(f"unknown {role} {name!r}; known are {', '.join(registry)}")
    return import_class(role, name, registry[name].path, registry[name].package)


def import_class(role: str, name: str, path: str, package: str) -> type[Any]:
    """Import the class at `module:Class`. Raises ModelError, which says what to install for it."""
    module, class_name = path.split(":")
    with needing(f"the {role} {name}", package):
        return getattr(import_module(module), class_name)  # type: ignore[no-any-return]


def form_of(name: str) -> str:
    """Return how one of DPARSERS is written with all its own parameters."""
    own = ["|".join(known) or key.upper().replace("_", "-") for key, known in DPARSERS[name].own.items()]
    return f"{name}:{';'.join(own)}" if own else name


def shortest(dparser: str) -> str:
    """Return one of DPARSERS without the defaults at its end: the first of a parameter's values is one."""
    name, values = _cut(dparser)
    own = [*DPARSERS[name].own.values()]
    while 0 < len(values) <= len(own) and own[len(values) - 1][:1] == (values[-1],):
        values.pop()
    return f"{name}:{';'.join(values)}" if values else name


def make_dparser(dparser: str, **parameters: Any) -> DependencyParser:
    """Make an untrained d-parser.

    dparser:    one of DPARSERS, then perhaps `:` and its own parameters with `;` between them, as in
                `stanza:transition`, `cmd:TRAIN;PARSE` or `pipeline:spacy:NAME`
    parameters: of its class; None leaves the default

    Raises ModelError for unknown d-parsers and parameters, and where a package is not installed.
    """
    made = class_of("d-parser", DPARSERS, dparser.partition(":")[0])
    name, values = _cut(dparser)
    own, known = DPARSERS[name].own, signature(made).parameters
    needed = sum(known[key].default is Parameter.empty for key in own)
    valid = all(v in choices if choices else v for v, choices in zip(values, own.values(), strict=False))
    if not needed <= len(values) <= len(own) or not valid:
        raise ModelError(f"the d-parser {dparser!r} is not of the form {form_of(name)}")
    given = {key: value for key, value in parameters.items() if key in known or key not in _FOR_ALL}
    own_values = dict(zip(own, values, strict=False))
    return cast(DependencyParser, made(**_checked(name, made, given) | own_values))


def _cut(dparser: str) -> tuple[str, list[str]]:
    """Return the name of a d-parser, and its own parameters; the last one may have a `;`."""
    name, colon, rest = dparser.partition(":")
    registered = DPARSERS[name]
    if registered.quoted:
        commands = _COMMANDS.fullmatch(rest)
        return name, [*commands.groups()] if commands else [rest]
    return name, rest.split(";", max(0, len(registered.own) - 1)) if colon else []


def takes(role: str, registry: Mapping[str, Registered], name: str, parameter: str) -> bool:
    """Return whether a registered class has a parameter; the rest as of `class_of`."""
    return parameter in signature(class_of(role, registry, name)).parameters


def loads_with(name: str, parameter: str) -> bool:
    """Return whether a d-parser is loaded with such a parameter. Raises ModelError."""
    return parameter in signature(class_of("d-parser", DPARSERS, name).load).parameters


def load_dparser(name: str, directory: Path, given: Mapping[str, Any]) -> DependencyParser:
    """Load a d-parser from a directory; given: parameters of its `load`. Raises ModelError."""
    load = class_of("d-parser", DPARSERS, name).load
    return cast(DependencyParser, load(directory, **_checked(name, load, given)))


def make_tagger(name: str, parameters: Mapping[str, Any]) -> Tagger:
    """Make an untrained tagger; parameters that it does not have are left out. Raises ModelError."""
    made = class_of("tagger", TAGGERS, name)
    return cast(Tagger, made(**_known(made, parameters)))


def load_tagger(name: str, directory: Path, device: str | None) -> Tagger:
    """Load a tagger from a directory. Raises ModelError."""
    load = class_of("tagger", TAGGERS, name).load
    return cast(Tagger, load(directory, **_known(load, {"device": device})))


def _known(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a function has and that are not None."""
    known = signature(function).parameters
    return {key: value for key, value in given.items() if key in known and value is not None}


def _checked(name: str, function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not None. Raises ModelError for one that the function lacks, but
    for the device `cpu`: any d-parser runs there."""
    known = _known(function, given)
    for key in given:
        if (key, given[key]) == ("device", "cpu"):
            continue
        if given[key] is not None and key not in known:
            raise ModelError(f"the d-parser {name} takes no {_ALSO_CALLED.get(key, key)}")
    return known
