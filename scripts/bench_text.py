"""How two versions of d2c cut text and read escaped brackets: two checkouts, each installed in its own
environment.

    python scripts/bench_text.py [OTHER_PYTHON] [--models en-small,en] [--parts ewt-dev,masc-dev,gum-dev]

OTHER_PYTHON is the Python of the other environment. Both run `d2c parse`. First table: F1 of sentences and
words that have the right first and last character, in text that is made of the treebanks' words (see
`benchmarks/text.py`; hyphens are inside of words), with paragraphs on one line and with lines of at most 72
characters; and F1 of the marks `"` that open a quotation, which MASC does not tell from others. Second table:
F1 (EVALB, `collins.prm`) on the sentences of masc-dev that have a bracket, words given, once as `(` and once
as `-LRB-`. `other`: of the other version. --sentences: the first ones of each part. Reads $D2C_TREEBANKS
(default ../shared/treebanks).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import chain

import click

from benchmarks.shared import Line, names_option, print_table, say
from benchmarks.text import Span, Text, f1, made_of, read
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.scores.brackets import METRICS
from treebanks.files import folder
from treebanks.penn import penn_trees

MODELS = ("en-small", "en")
PARTS = ("ewt-dev", "masc-dev", "gum-dev", "ewt-train", "masc-train", "gum-free-train")
METRIC = METRICS["evalb"]
HEADER = ("sentences", "words", "opening quotes")
WIDTH = 72  # characters of a line
OPENING = re.compile(r'(?<![^\s(\[{])"(?=\S)')  # in text as it is made, before lines are broken
ESCAPED = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
PLAIN = {escaped: plain for plain, escaped in ESCAPED.items()}


@click.command()
@click.argument("other_python", required=False, type=click.Path(exists=True, dir_okay=False))
@names_option("--models", MODELS, ",".join(MODELS))
@names_option("--parts", PARTS, ",".join(PARTS[:3]))
@click.option("--sentences", type=click.IntRange(min=1), help="Sentences of each part.  [default: all]")
def main(other_python: str | None, models: list[str], parts: list[str], sentences: int | None) -> None:
    """Print two tables."""
    pythons = [sys.executable, *([other_python] if other_python else [])]
    others = ["other"] * (len(pythons) - 1)
    rows = [row for part in parts for row in cut_rows(part, models, pythons, sentences)]
    print_table(["text", "lines", "model", *chain.from_iterable([title, *others] for title in HEADER)], rows)
    print()
    print_table(["given", "model", "F1", *others], bracket_rows(models, pythons, sentences))


def cut_rows(part: str, models: list[str], pythons: list[str], sentences: int | None) -> list[Line]:
    """Return the scores of sentences and words."""
    gold, rows = made_of(read(part)[:sentences]), list[Line]()
    ways: dict[str, Callable[[str], str]] = {"paragraphs": str, "wrapped": wrapped}
    for way, make in ways.items():
        for model in models:
            say(f"{part} {way} {model}")
            scores = [cut_scores(gold, *cut(python, model, make(gold.text))) for python in pythons]
            rows.append([part, way, model, *chain.from_iterable(zip(*scores, strict=True))])
    return rows


def cut_scores(gold: Text, sentences: list[Span], words: list[Span], opening: list[Span]) -> list[str]:
    """Return F1 of sentences, words and opening quotation marks."""
    marks = [match.span() for match in OPENING.finditer(gold.text)]
    pairs = ((gold.sentences, sentences), (gold.joined, words), (marks, opening))
    return [f"{f1(right, found):.2f}" for right, found in pairs]


def cut(python: str, model: str, text: str) -> tuple[list[Span], list[Span], list[Span]]:
    """Return the sentences, words and opening quotation marks that a version finds in text."""
    lines = parsed(python, text, model, "--split", "--to", "json")
    found = [json.loads(line) for line in lines]
    spans = [[(first, end) for first, end in one["offsets"]] for one in found]
    words = [*chain.from_iterable(spans)]
    forms = chain.from_iterable(one["tokens"] for one in found)
    opening = [
        span for span, form in zip(words, forms, strict=True) if form == "``" and text[slice(*span)] == '"'
    ]
    return [(own[0][0], own[-1][1]) for own in spans], words, opening


def wrapped(text: str) -> str:
    """Return text with short lines: some blanks become line breaks; every other character stays."""
    line = re.compile(rf"([^\n]{{1,{WIDTH}}}) (?=[^\n]{{{WIDTH}}})")
    return line.sub(r"\1\n", text)


def bracket_rows(models: list[str], pythons: list[str], sentences: int | None) -> list[Line]:
    """Return F1 on the sentences with brackets."""
    trees = penn_trees(folder() / "masc-dev.mrg.gz")
    gold = [ctree for ctree in trees if not {*ESCAPED, *PLAIN}.isdisjoint(ctree.tokens.forms)][:sentences]
    say(f"masc-dev: {len(gold)} sentences with brackets")
    rows = list[Line]()
    for given, spelling in (("(", PLAIN), ("-LRB-", ESCAPED)):
        lines = [" ".join(spelling.get(form, form) for form in ctree.tokens.forms) for ctree in gold]
        for model in models:
            say(f"{given} {model}")
            scores = []
            for python in pythons:
                guess = parsed(python, "\n".join(lines) + "\n", model, "--tokenized", "--to", "brackets")
                scores.append(METRIC.summary(METRIC.score(gold, map(parse_bracket, guess))).f1)
            rows.append([given, model, *(f"{score:.2f}" for score in scores)])
    return rows


def parsed(python: str, text: str, *arguments: str) -> list[str]:
    """Return the lines that `d2c parse` of a version prints."""
    # -P: nothing beside the script is imported.
    command = [python, "-P", "-m", "d2c", "parse", *arguments]
    run = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    return run.stdout.splitlines()


if __name__ == "__main__":
    main()
