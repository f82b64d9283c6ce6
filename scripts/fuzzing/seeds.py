"""Good texts of every format that d2c reads (seeds/), with what real files have; deep, long and comb-like."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from random import Random

from d2c.parsing.json_lines import format_json
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.bracket_lines import tree_lines
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.formats.format import AS_IT_IS, Writer
from d2c.trees.formats.registry import FORMATS

SEEDS = {file.stem: file.read_bytes() for file in (Path(__file__).parent / "seeds").glob("*.txt")}


def treebank(rng: Random, format_name: str) -> bytes:
    """Return a good file of a format: one with what real files have, or one that d2c has written."""
    write = writer(format_name)
    if write is None or rng.random() < 0.6:
        return SEEDS[format_name]
    runs = tree_lines(StringIO(SEEDS["discbracket"].decode()), AS_IT_IS.outside)
    ctrees = [parse_discbracket(str(text)) for _, text in runs]
    stream = StringIO()
    gaps = "gaps" in FORMATS[format_name].holds
    write([ctree for ctree in ctrees if gaps or ctree.is_continuous()], stream)
    return stream.getvalue().encode()


def writer(format_name: str) -> Writer[CTree] | None:
    """Return the writer of a format, JSON lines as of `d2c parse`; None if d2c does not write it."""
    if format_name == "json":
        return Writer(lambda ctree, _: format_json(Sentence(ctree.tokens, ctree=ctree)))
    return FORMATS[format_name].write


_OF_GENIA = "</sentence></Annotation>\n"

# Of each format that d2c does not write: what stands before a sentence, opens a node, is a token, closes it,
# stands between tokens and after the sentence
SHAPES: Mapping[str, tuple[str, str, str, str, str, str]] = {
    "historical": ("( ", "(X ", "(A a-a)", ")", " ", "(ID X,.1))\n"),
    "cess": ("(", "(X ", "(A a a)", ")", " ", ")\n"),
    "nbest": ("1 s\n-1\n(", "(X ", "(A a)", ")", " ", ")\n"),
    "floresta": ("#1 X\n", "(X+x ", "(A+a a)", ")", " ", "\n"),
    "sinica": ("#1:1.[0] ", "X(Head:", "A:a", ")", "|", "#\n"),
    "sejong": ("; a\n", "(X ", "(A \uac00/A + \uac00/A)", ")", " ", "\n"),
    "indexbracket": ("", "(X ", "(A 0)", ")", " ", "\ta\n"),
    "corenlp": ('{"sentences": [{"parse": "', "(X ", "(A a)", ")", " ", '", "tokens": []}]}\n'),
    "corenlpxml": (
        "<root><sentence><tokens/><parse>",
        "(X ",
        "(A a)",
        ")",
        " ",
        "</parse></sentence></root>\n",
    ),
    "jsontrees": ('{"tree": "', "(X ", "(A a)", ")", " ", '"}\n'),
    "genia": ("<Annotation><sentence>", '<cons cat="X">', '<tok cat="A">a</tok>', "</cons>", " ", _OF_GENIA),
    "frenchxml": ("<text><SENT>", "<NP>", '<w cat="A">a</w>', "</NP>", " ", "</SENT></text>\n"),
    "conll2012": ("#begin document (x); part 000\n", "", "x 0 0 a A (X*)\n", "", "", "\n#end document\n"),
}
LINES = {"text": "word ", "heads": "NP left X@\n", "prm": "DELETE_LABEL X@\n"}  # @: a number
# One token under many nodes; nodes that each have a token and the next node; one node over many tokens
DEEP, COMB, LONG = "deep", "comb", "long"
SIZES = {DEEP: (500, 20_000), COMB: (500, 5_000), LONG: (1_000, 10_000)}


def extreme(rng: Random, kind: str) -> bytes:
    """Return a text with deep nesting, a long sentence, or both."""
    shape = rng.choice([*SIZES])
    size = rng.choice(SIZES[shape])
    if kind in LINES:
        return "".join(LINES[kind].replace("@", str(i)) for i in range(size)).encode()
    stream = StringIO()
    if kind == "conllu":
        heads = (int(i > 0) if shape == LONG else i for i in range(size))
        labels = ("X|X#1" if shape == COMB else "X#1",) * size
        write_conllu([DTree(_tokens(size), tuple(heads), labels=labels)], stream)
    elif write := writer(kind):
        write([_ctree(shape, size)], stream)
    else:
        before, opening, leaf, closing, between, after = SHAPES[kind]
        inside = {
            DEEP: opening * size + leaf + closing * size,
            COMB: opening * size + (leaf + closing) * size,
            LONG: opening + between.join([leaf] * size) + closing,
        }
        stream.write(before + inside[shape] + after)
    return stream.getvalue().encode()


def _ctree(shape: str, size: int) -> CTree:
    """Return a tree of one of the shapes in SIZES: with so many nodes, or one node over so many tokens."""
    if shape == LONG:
        return CTree(_tokens(size), ("X",), (tuple(range(size)),))
    n = size if shape == COMB else 1
    below = [n - 1, *range(n, n + size - 1)]  # of each node, from the bottom
    children = [(n - 1 - k, kid) if shape == COMB and k else (kid,) for k, kid in enumerate(below)]
    return CTree(_tokens(n), ("X",) * size, tuple(children))


def _tokens(size: int) -> Tokens:
    return Tokens(("a",) * size, ("A",) * size)
