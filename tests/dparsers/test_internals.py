"""What d2c uses of spaCy, thinc and Stanza beyond what they document is what the installed versions have."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pytest


def read_of_self(function: Any) -> set[str]:
    """The attributes of its object that a method reads."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {one.attr for one in found if isinstance(one.value, ast.Name) and one.value.id == "self"}


def test_spacy() -> None:
    spacy = pytest.importorskip("spacy")
    from d2c.dparsers.spacy.internals import TUNED, fill, resize

    nlp = spacy.blank("xx")
    parser, doc = nlp.add_pipe("parser"), nlp.make_doc("a b")
    for label in ("d0", "d1"):
        parser.moves.add_action(2, label)
    resize(parser)
    parser.model.initialize([doc])
    assert next(parser.pipe([doc])).has_annotation("DEP")
    layers = [layer for layer in parser.model.walk() if layer.name == TUNED]
    assert layers and all({*layer.param_names} == {"W", "b", "pad"} for layer in layers)
    data = parser.model.to_dict()
    assert data.keys() == {"nodes", "attrs", "params", "shims"}
    fill(parser.model, parser.model.to_bytes())


def test_thinc() -> None:
    compat = pytest.importorskip("thinc.compat")
    assert {"has_torch", "has_torch_cuda_gpu", "torch", "has_gpu"} <= vars(compat).keys()


def test_stanza() -> None:
    pytest.importorskip("stanza")
    from stanza.models.common.biaffine import DeepBiaffineScorer
    from stanza.models.depparse.model import GraphParser
    from stanza.models.pos.trainer import Trainer

    assert read_of_self(Trainer.predict) | read_of_self(Trainer.save) <= {"args", "vocab", "model"}
    scorer = DeepBiaffineScorer(2, 2, 3, 4, pairwise=True, dropout=0.5)
    assert read_of_self(DeepBiaffineScorer.__init__) == {"W1", "W2", "hidden_func", "scorer", "dropout"}
    assert scorer.state_dict().keys() == {
        *(f"{name}.{part}" for name in ("W1", "W2", "scorer.W_bilin") for part in ("weight", "bias"))
    }
    assert {"forward_scores", "embed"} <= vars(GraphParser).keys() | vars(GraphParser.__mro__[1]).keys()
