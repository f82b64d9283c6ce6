"""D-parsers and taggers by name.

Another d-parser is a subclass of `d2c.protocols.dparser.DependencyParser` in a file of its own, and a
row here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, cast

from d2c.automata.settings import TransitionSettings
from d2c.base.errors import ModelError, ParameterError
from d2c.base.settings import Settings, told_of, types_of
from d2c.dparsers.settings import (
    CommandSettings,
    FileSettings,
    PipelineSettings,
    SpacySettings,
    SpacyTaggerSettings,
    StanzaSettings,
    StanzaTaggerSettings,
    UDPipeSettings,
)
from d2c.protocols.dparser import DependencyParser, Tagger
from d2c.protocols.settings import IGNORED, SharedSettings
from d2c.routes.rows import RegistryRow, class_of


@dataclass(frozen=True, kw_only=True)
class DParserRow(RegistryRow):
    """A registered d-parser or tagger.

    own:    settings that may follow its name
    quoted: whether these are commands: a `;` inside their quotes ends none of them
    loaded: parameters of its `load` besides the directory, which no model's files say
    text:   whether it cuts text, as the abilities of its class say, too
    quick:  a class whose `opened` loads its models instead where it can, and the extra that this needs
    """

    own: tuple[str, ...] = ()
    quoted: bool = False
    loaded: tuple[str, ...] = ()
    text: bool = False
    quick: RegistryRow | None = None


DPARSERS = {
    "stanza": DParserRow(
        path="d2c.dparsers.stanza.parser:StanzaParser",
        extra="stanza",
        settings=StanzaSettings,
        own=("model_type",),
        loaded=("device",),
        quick=RegistryRow(path="d2c.dparsers.graph.parser:CompiledParser", extra="fast"),
    ),
    "spacy": DParserRow(
        path="d2c.dparsers.spacy.parser:SpacyParser",
        extra="spacy",
        settings=SpacySettings,
        own=("network",),
    ),
    "udpipe": DParserRow(
        path="d2c.dparsers.udpipe.parser:UDPipeParser",
        extra="udpipe",
        settings=UDPipeSettings,
        own=("system", "beam"),
    ),
    "cmd": DParserRow(
        path="d2c.dparsers.file_parser:CommandParser",
        settings=CommandSettings,
        own=("train_command", "parse_command"),
        quoted=True,
        loaded=("parse_command", "timeout"),
    ),
    "file": DParserRow(
        path="d2c.dparsers.file_parser:FileParser", settings=FileSettings, own=("path", "dev")
    ),
    "pipeline": DParserRow(
        path="d2c.dparsers.pipeline_parser:PipelineParser",
        settings=PipelineSettings,
        own=("pipeline",),
        loaded=("allow_pipeline",),
        text=True,
    ),
    "gold": DParserRow(path="d2c.dparsers.file_parser:GoldParser"),
    "transition": DParserRow(
        path="d2c.automata.transition_parser:TransitionParser",
        settings=TransitionSettings,
        own=("system", "search"),
    ),
}
TAGGERS = {
    "stanza": DParserRow(
        path="d2c.dparsers.stanza.tagger:StanzaTagger",
        extra="stanza",
        settings=StanzaTaggerSettings,
        loaded=("device",),
    ),
    "spacy": DParserRow(
        path="d2c.dparsers.spacy.tagger:SpacyTagger", extra="spacy", settings=SpacyTaggerSettings
    ),
}
# Two commands: a `;` inside quotes ends none. A quote that is not closed is an ordinary character.
_COMMANDS = re.compile(r"""((?:[^;'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])*+);(.*)""", re.DOTALL)


def form_of(name: str) -> str:
    """Return how one of DPARSERS is written with all its own settings."""
    row = DPARSERS[name]
    choices = ((one, told_of(row.settings, one).choices) for one in row.own)
    own = ["|".join(known) or one.upper().replace("_", "-") for one, known in choices]
    return f"{name}:{';'.join(own)}" if own else name


def shortest(dparser: str) -> str:
    """Return how a d-parser is written, without choices at its end that are the defaults."""
    name, values = _cut(dparser)
    row = DPARSERS[name]
    while 0 < len(values) <= len(row.own):
        last = row.own[len(values) - 1]
        if not told_of(row.settings, last).choices or values[-1] != getattr(row.settings, last):
            break
        values.pop()
    return f"{name}:{';'.join(values)}" if values else name


def make_dparser(dparser: str, said: SharedSettings | None = None) -> DependencyParser:
    """Make an untrained d-parser.

    dparser: one of DPARSERS, then perhaps `:` and its own settings with `;` between them, as in
             `stanza:joint`, `cmd:TRAIN;PARSE` or `pipeline:spacy:NAME`
    said:    settings of d-parsers of any kind

    Raises ModelError for an unknown d-parser, and where a package is not installed, ParameterError for
    settings that it does not have.
    """
    name, said = dparser.partition(":")[0], said or SharedSettings()
    made = class_of("d-parser", DPARSERS, name)
    row, own = DPARSERS[name], _own(dparser)
    known = types_of(row.settings)
    settings = {one: value for one, value in _said(said).items() if one in known or one not in IGNORED}
    _check(name, settings, known)
    settings = {one: value for one, value in settings.items() if one in known}
    return cast(DependencyParser, made(row.settings(**settings | own)))


def make_tagger(name: str, said: SharedSettings | None = None) -> Tagger:
    """Make an untrained tagger; settings that it does not have are left out. Raises ModelError."""
    made, row = class_of("tagger", TAGGERS, name), TAGGERS[name]
    known = types_of(row.settings)
    settings = {one: value for one, value in _said(said or SharedSettings()).items() if one in known}
    return cast(Tagger, made(row.settings(**settings)))


def takes(registry: Mapping[str, DParserRow], name: str, setting: str) -> bool:
    """Return whether there is such a d-parser or tagger, and it has a setting."""
    return name in registry and setting in types_of(registry[name].settings)


def load_dparser(name: str, directory: Path, given: Mapping[str, Any]) -> DependencyParser:
    """Load a d-parser from a directory; given: parameters of its `load`, None where they are not given.

    Raises ModelError, ParameterError.
    """
    said = {one: value for one, value in given.items() if value is not None}
    if name in DPARSERS:
        _check(name, said, DPARSERS[name].loaded)
        if quick := DPARSERS[name].quick:
            opened = class_of("d-parser", {name: quick}, name).opened(directory, **said)
            if opened is not None:
                return cast(DependencyParser, opened)
    load, row = class_of("d-parser", DPARSERS, name).load, DPARSERS[name]
    return cast(DependencyParser, load(directory, **{one: said[one] for one in row.loaded if one in said}))


def load_tagger(name: str, directory: Path, device: str | None) -> Tagger:
    """Load a tagger from a directory; those that have no choice of a device ignore it. Raises ModelError."""
    load = class_of("tagger", TAGGERS, name).load
    return cast(Tagger, load(directory, device) if "device" in TAGGERS[name].loaded else load(directory))


def _cut(dparser: str) -> tuple[str, list[str]]:
    """Return the name of a d-parser, and its own settings as written; the last one may have a `;`."""
    name, colon, rest = dparser.partition(":")
    row = DPARSERS[name]
    if row.quoted:
        commands = _COMMANDS.fullmatch(rest)
        return name, [*commands.groups()] if commands else [rest]
    return name, rest.split(";", max(0, len(row.own) - 1)) if colon else []


def _own(dparser: str) -> dict[str, Any]:
    """Return the settings that follow a d-parser's name. Raises ModelError, ParameterError."""
    name, values = _cut(dparser)
    row = DPARSERS[name]
    needed = sum(one.default is MISSING for one in fields(row.settings) if one.name in row.own)
    known = [told_of(row.settings, one).choices for one in row.own]
    valid = all(value in of_it if of_it else value for value, of_it in zip(values, known, strict=False))
    if not needed <= len(values) <= len(row.own) or not valid:
        raise ModelError(f"the d-parser {dparser!r} is not of the form {form_of(name)}")
    return {one: _typed(row.settings, one, value) for one, value in zip(row.own, values, strict=False)}


def _typed(settings: type[Settings], name: str, value: str) -> Any:
    """Return a setting's value from its text. Raises ParameterError for text in place of a number."""
    types = types_of(settings)[name]
    if Path in types:
        return Path(value)
    if int in types:
        if not value.isdecimal():
            raise ParameterError("the ", name, f" must be a whole number, not {value!r}")
        return int(value)
    return value


def _said(settings: SharedSettings) -> dict[str, Any]:
    """Return those of `SharedSettings` that differ from their defaults."""
    values = ((one.name, getattr(settings, one.name), one.default) for one in fields(SharedSettings))
    return {name: value for name, value, default in values if value != default}


def _check(dparser: str, said: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise ParameterError for settings that a d-parser lacks, except the device `cpu`: any runs there."""
    for name, value in said.items():
        if name not in known and (name, value) != ("device", "cpu"):
            raise ParameterError(f"the d-parser {dparser} takes no ", name)
