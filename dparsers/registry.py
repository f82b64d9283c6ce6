"""D-parsers and taggers by name. Classes are imported only where they are used: their packages are large,
some extras."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple, cast

from d2c.base.errors import ModelError
from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.taggers import Tagger


class Row(NamedTuple):
    """Where a class is, and what is needed to use it.

    path:    `module:Class`
    package: what to install for it
    own:     parameters that may follow its name, each with its values; () for any value
    """

    path: str
    package: str = "d2c"
    own: Mapping[str, tuple[str, ...]] = {}


DPARSERS = {
    "stanza": Row(
        "d2c.dparsers.stanza.parser:StanzaParser", "stanza", {"model_type": ("graph", "transition")}
    ),
    "spacy": Row("d2c.dparsers.spacy.parser:SpacyParser", "spacy"),
    "udpipe": Row(
        "d2c.dparsers.udpipe.parser:UDPipeParser",
        "d2c[udpipe]",
        {"system": ("projective", "swap", "link2"), "beam": ()},
    ),
    "transition": Row(  # of the roof: nothing here knows of automata
        "d2c.training.transition_parser:TransitionParser",
        own={"system": ("standard", "eager"), "search": ("greedy", "exact")},
    ),
    "cmd": Row("d2c.dparsers.command:CommandParser", own={"train_template": (), "parse_template": ()}),
    "file": Row("d2c.dparsers.file_parser:FileParser", own={"path": (), "dev": ()}),
    "pipeline": Row("d2c.dparsers.pipeline_parser:PipelineParser", own={"pipeline": ()}),
    "gold": Row("d2c.dparsers.file_parser:GoldParser"),
}
TAGGERS = {
    "stanza": Row("d2c.dparsers.stanza.tagger:StanzaTagger", "stanza"),
    "spacy": Row("d2c.dparsers.spacy.tagger:SpacyTagger", "spacy"),
    "nltk": Row("d2c.dparsers.nltk_tagger:NltkTagger", "nltk"),
}
_FOR_ALL = ("preset", "seed", "checkpoints")  # mean nothing to d-parsers that do not have them
_ALSO_CALLED = {"bert_model": "transformer"}


def class_of(role: str, rows: Mapping[str, Row], name: str) -> type[Any]:
    """The class of one of the rows; the role says of what. Raises ModelError."""
    if name not in rows:
        raise ModelError(f"unknown {role} {name!r}; known are {', '.join(rows)}")
    return import_class(role, name, rows[name].path, rows[name].package)


def import_class(role: str, name: str, path: str, package: str) -> type[Any]:
    """The class at `module:Class`. Raises ModelError that says what to install where it needs a package."""
    module, class_name = path.split(":")
    try:
        return getattr(import_module(module), class_name)  # type: ignore[no-any-return]
    except ImportError as error:
        message = f'the {role} {name} needs a package ({error}): pip install "{package}"'
        raise ModelError(message) from None


def form_of(name: str) -> str:
    """How one of DPARSERS is written with all its own parameters."""
    own = ["|".join(known) or key.upper().replace("_", "-") for key, known in DPARSERS[name].own.items()]
    return f"{name}:{';'.join(own)}" if own else name


def shortest(dparser: str) -> str:
    """One of DPARSERS without the defaults at its end: the first of a parameter's values is the default."""
    name, colon, rest = dparser.partition(":")
    values, own = rest.split(";") if colon else [], [*DPARSERS[name].own.values()]
    while 0 < len(values) <= len(own) and own[len(values) - 1][:1] == (values[-1],):
        values.pop()
    return f"{name}:{';'.join(values)}" if values else name


def make_dparser(dparser: str, **parameters: Any) -> DependencyParser:
    """Makes an untrained d-parser.

    dparser:    one of DPARSERS, then perhaps `:` and its own parameters with `;` between them, as in
                `stanza:transition`, `cmd:TRAIN;PARSE` or `pipeline:spacy:NAME`
    parameters: of its class; None leaves the default

    Raises ModelError for unknown d-parsers and parameters, and where a package is not installed.
    """
    name, colon, rest = dparser.partition(":")
    made = class_of("d-parser", DPARSERS, name)
    own = DPARSERS[name].own
    values = rest.split(";", max(0, len(own) - 1)) if colon else []
    needed = sum(signature(made).parameters[key].default is Parameter.empty for key in own)
    known = all(v in choices if choices else v for v, choices in zip(values, own.values(), strict=False))
    if not needed <= len(values) <= len(own) or not known:
        raise ModelError(f"the d-parser {dparser!r} is not of the form {form_of(name)}")
    given = {key: value for key, value in parameters.items() if value is not None}
    given |= dict(zip(own, values, strict=False))
    for key in _FOR_ALL:
        if key not in signature(made).parameters:
            given.pop(key, None)
    _check(name, made, given)
    return cast(DependencyParser, made(**given))


def takes(role: str, rows: Mapping[str, Row], name: str, parameter: str) -> bool:
    """Whether the class of one of the rows has a parameter; the rest as of `class_of`."""
    return parameter in signature(class_of(role, rows, name)).parameters


def load_dparser(name: str, directory: Path, given: Mapping[str, Any]) -> DependencyParser:
    """Loads a d-parser from a directory; given: parameters of its `load`. Raises ModelError."""
    load = class_of("d-parser", DPARSERS, name).load
    options = {key: value for key, value in given.items() if value is not None}
    _check(name, load, options)
    return cast(DependencyParser, load(directory, **options))


def make_tagger(name: str, parameters: Mapping[str, Any]) -> Tagger:
    """Makes an untrained tagger; parameters that it does not have are left out. Raises ModelError."""
    made = class_of("tagger", TAGGERS, name)
    known = signature(made).parameters
    given = {key: value for key, value in parameters.items() if key in known and value is not None}
    return cast(Tagger, made(**given))


def load_tagger(name: str, directory: Path, device: str | None = None) -> Tagger:
    """Loads a tagger from a directory. Raises ModelError."""
    load = class_of("tagger", TAGGERS, name).load
    options = {"device": device} if "device" in signature(load).parameters else {}
    return cast(Tagger, load(directory, **options))


def _check(name: str, function: Callable[..., Any], parameters: Iterable[str]) -> None:
    """Raises ModelError for a parameter that a function of the d-parser does not have."""
    unknown = [parameter for parameter in parameters if parameter not in signature(function).parameters]
    if unknown:
        what = _ALSO_CALLED.get(unknown[0], unknown[0]).replace("_", " ")
        raise ModelError(f"the d-parser {name} takes no {what}")
