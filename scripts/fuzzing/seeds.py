"""Good texts of every format that d2c reads (seeds/), with what real files have; deep, long and comb-like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from random import Random

from d2c.trees.formats.brackets import balanced
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.formats.registry import FORMATS

SEEDS = {file.stem: file.read_bytes() for file in (Path(__file__).parent / "seeds").glob("*.txt")}


def treebank(rng: Random, format_name: str) -> bytes:
    """Return a good file of a format: one with what real files have, or one that d2c has written."""
    write = FORMATS[format_name].write
    if write is None or rng.random() < 0.6:
        return SEEDS[format_name]
    ctrees = [parse_discbracket(text) for _, text in balanced(StringIO(SEEDS["discbracket"].decode()))]
    stream = StringIO()
    write([ctree for ctree in ctrees if format_name != "brackets" or ctree.is_continuous()], stream)
    return stream.getvalue().encode()


TIGER = '<corpus><body><s id="s"><graph><terminals>', "</graph></s></body></corpus>"
ALPINO = "<alpino><alpino_ds>", "</alpino_ds></alpino>"
# Of each format: what stands before a sentence, opens a node, is a token (@ its number), closes, stands after
SHAPES: Mapping[str, tuple[str, str, str, str, str]] = {
    "brackets": ("", "(X ", "(A a)", ")", "\n"),
    "discbracket": ("", "(X ", "(A @=a)", ")", "\n"),
    "historical": ("( ", "(X ", "(A a-a)", ")", "(ID X,.1))\n"),
    "floresta": ("#1 X\n", "(X+x ", "(A+a a)", ")", "\n"),
    "sinica": ("#1:1.[0] ", "X(Head:", "A:a", ")", "#\n"),
    "alpinoxml": (ALPINO[0], '<node cat="X">', '<node begin="@" word="a" pt="A"/>', "</node>", ALPINO[1]),
}


def _conllu(tokens: int, head: Callable[[int], int], label: str) -> str:
    return "".join(f"{i}\tw\t_\tA\tA\t_\t{head(i)}\t{label}\t_\t_\n" for i in range(1, tokens + 1))


def deep(kind: str, levels: int) -> str:
    """Return one token under so many nodes."""
    if kind == "conllu":
        return _conllu(levels, lambda i: i - 1, "X#1")
    if kind == "export":
        above = (501 + k if k + 1 < levels else 0 for k in range(levels))
        nodes = "".join(f"#{500 + k}\tX\t--\t--\t{parent}\n" for k, parent in enumerate(above))
        return f"#FORMAT 3\n#BOS 1\na\tA\t--\t--\t500\n{nodes}#EOS 1\n"
    if kind == "tigerxml":
        below = ("w", *(f"n{k}" for k in range(levels - 1)))
        nodes = "".join(f'<nt id="n{k}" cat="X"><edge idref="{b}"/></nt>' for k, b in enumerate(below))
        word = '<t id="w" word="a" pos="A"/></terminals><nonterminals>'
        return f"{TIGER[0]}{word}{nodes}</nonterminals>{TIGER[1]}"
    before, opening, leaf, closing, after = SHAPES[kind]
    return before + opening * levels + leaf.replace("@", "0") + closing * levels + after


def comb(kind: str, tokens: int) -> str:
    """Return nodes that each have a token and the next node."""
    if kind == "conllu":
        return _conllu(tokens, lambda i: i - 1, "X|X#1")
    before, opening, leaf, closing, after = SHAPES[kind]
    return (
        before
        + opening * tokens
        + "".join(leaf.replace("@", str(i)) + closing for i in range(tokens))
        + after
    )


def long(kind: str, tokens: int) -> str:
    """Return a node with so many tokens, or a long text of another kind."""
    numbers = range(tokens)
    if kind == "conllu":
        return _conllu(tokens, lambda i: int(i > 1), "X#1")
    if kind == "export":
        return "#FORMAT 3\n#BOS 1\n" + "a\tA\t--\t--\t500\n" * tokens + "#500\tX\t--\t--\t0\n#EOS 1\n"
    if kind == "tigerxml":
        words = "".join(f'<t id="w{i}" word="a" pos="A"/>' for i in numbers)
        return f"{TIGER[0]}{words}</terminals><nonterminals/>{TIGER[1]}"
    if kind in SHAPES:
        before, opening, leaf, closing, after = SHAPES[kind]
        between = "|" if kind == "sinica" else " "
        return before + opening + between.join(leaf.replace("@", str(i)) for i in numbers) + closing + after
    line = {"text": "word ", "heads": "NP left X@\n", "prm": "DELETE_LABEL X@\n"}[kind]
    return "".join(line.replace("@", str(i)) for i in numbers)


def extreme(rng: Random, kind: str) -> bytes:
    """Return a text with deep nesting, a long sentence, or both."""
    shape, sizes = rng.choice(((deep, (500, 20_000)), (comb, (500, 5_000)), (long, (1_000, 10_000))))
    known = {*SHAPES, "conllu"} | ({"export", "tigerxml"} if shape is deep else set())
    return (shape if kind in known else long)(kind, rng.choice(sizes)).encode()
