"""What `d2c parse` writes, exactly, and signals that come while it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from d2c.base.errors import FormatError
from d2c.parsing.output import OUTPUTS
from d2c.parsing.sentence import Sentence, refused
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules

TOKENS = Tokens(("The", "cat", "(", "slept"), ("DT", "NN", "-LRB-", "VBD"))


def headed(text: str) -> CTree:
    return load_head_rules("collins").apply(parse_bracket(text))


TREE = headed("(TOP (S (NP (DT The) (NN cat)) (-LRB- -LRB-) (VP (VBD slept))))")


def spans(parsed: Sentence) -> list[dict[str, object]]:
    line = OUTPUTS["json"].text(parsed)
    assert line.endswith("}\n") and line.count("\n") == 1
    return json.loads(line)["spans"]  # type: ignore[no-any-return]


def test_json_of_text() -> None:
    offsets = ((10, 13), (14, 17), (18, 19), (20, 25))
    ctree = CTree(TOKENS, TREE.labels, TREE.children, TREE.head_children, TREE.top)
    parsed = Sentence(TOKENS, line=3, offsets=offsets, ctree=ctree, confidences=(0.5, 0.25, 1.0))
    assert json.loads(OUTPUTS["json"].text(parsed)) == {
        "line": 3,
        "tokens": ["The", "cat", "(", "slept"],
        "tags": ["DT", "NN", "-LRB-", "VBD"],
        "offsets": [[10, 13], [14, 17], [18, 19], [20, 25]],
        "bracket": "(TOP (S (NP (DT The) (NN cat)) (-LRB- -LRB-) (VP (VBD slept))))",
        "spans": [
            *spans(parsed)[:1],
            {
                **{"label": "NP", "start": 0, "end": 2, "head": 1, "start_char": 10, "end_char": 17},
                "confidence": 0.5,
            },
            {
                **{"label": "VP", "start": 3, "end": 4, "head": 3, "start_char": 20, "end_char": 25},
                "confidence": 0.25,
            },
        ],
    }
    top = {"label": "S", "start": 0, "end": 4, "head": 3, "start_char": 10, "end_char": 25, "confidence": 1.0}
    assert spans(parsed)[0] == top


def test_json_of_unary_chains_and_gaps() -> None:
    chain = headed("(TOP (S (VP (VB Go))))")
    assert spans(Sentence(chain.tokens, ctree=chain)) == [
        {"label": "S", "start": 0, "end": 1, "head": 0},
        {"label": "VP", "start": 0, "end": 1, "head": 0},
    ]
    tokens = Tokens(("a", "b", "c"), ("A", "B", "C"))
    gap = build_ctree(tokens, ["X", "S"], [(0, 2), (3, 1)], 4, [2, 1])
    assert spans(Sentence(tokens, ctree=gap)) == [
        {"label": "S", "start": 0, "end": 3, "head": 1},
        {"label": "X", "start": 0, "end": 3, "head": 2, "tokens": [0, 2]},
    ]
    with pytest.raises(ValueError, match="brackets cannot hold a tree with gaps"):
        OUTPUTS["brackets"].text(Sentence(tokens, ctree=gap))
    assert OUTPUTS["discbracket"].text(Sentence(tokens, ctree=gap)) == "(S (X (A 0=a) (C 2=c)) (B 1=b))\n"


def test_other_formats() -> None:
    parsed = Sentence(TREE.tokens, number=5, ctree=TREE)
    text = "(TOP (S (NP (DT The) (NN cat)) (-LRB- -LRB-) (VP (VBD slept))))\n"
    assert OUTPUTS["brackets"].text(parsed) == text
    assert OUTPUTS["export"].text(parsed).splitlines()[0] == "#BOS 5"
    dtree = DTree(Tokens(("a",), ("A",)), (0,), labels=("root",))
    assert (
        OUTPUTS["conllu"].text(Sentence(dtree.tokens, dtree=dtree)) == "1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n\n"
    )


def test_what_could_not_be_parsed() -> None:
    unparsed = replace(refused(FormatError("x", 7, 0, "is no\nsentence")), number=3)
    texts = {name: form.text(unparsed) for name, form in OUTPUTS.items()}
    assert texts.pop("constituency").startswith("# constituency = (TOP (ERROR (ERROR ERROR)))\n1\tERROR\t")
    assert texts.pop("export").splitlines()[0] == "#BOS 3"
    assert texts == {
        "brackets": "(TOP (ERROR (ERROR ERROR)))\n",
        "discbracket": "(TOP (ERROR (ERROR 0=ERROR)))\n",
        "conllu": "# error = is no sentence\n1\tERROR\t_\tERROR\tERROR\t_\t0\troot\t_\t_\n\n",
        "json": '{"line": 7, "error": "is no sentence", "tokens": [], "tags": [], "spans": []}\n',
    }


# In a process of its own: in that of the tests an interrupt that comes late would end it.
INTERRUPTED = """
import signal
from io import BytesIO
from d2c.parsing.part import whole_texts

class Interrupted(BytesIO):  # a stream without a buffer that is interrupted in the middle of a text
    def write(self, text):
        if text.startswith(b"stop"):
            signal.raise_signal(signal.SIGINT)
        return super().write(text[:2])

def interrupts(stream, *texts):
    try:
        with whole_texts(stream) as write:
            for text in texts:
                write(text)
            signal.raise_signal(signal.SIGINT)
            print("never")
    except KeyboardInterrupt:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        return stream.getvalue()

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
print(interrupts(Interrupted(), "one\\n", "stop here\\n", "never\\n"), interrupts(BytesIO(), "between\\n"))
"""


def test_a_signal_waits_for_the_text() -> None:
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("b'one\\nstop here\\n' b'between\\n'\n", "")
