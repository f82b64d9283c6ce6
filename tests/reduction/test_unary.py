"""Recovery of unary nodes on toy treebanks."""

import json
from copy import copy
from pathlib import Path

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.reduction.unary.classifier import UnaryClassifier
from d2c.reduction.unary.features import features, flatten
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.unaries import restore_unaries, strip_unaries

# A noun alone before VP is an NP, inside an NP bare; a verb alone after NP is a VP; JJ has a chain of 2.
TOY = [
    "(TOP (S (NP (NN {a})) (VP (VB eats) (NP (DT the) (NN {b})))))",
    "(TOP (S (NP (DT the) (NN {a})) (VP (VB sleeps))))",
    "(TOP (FRAG (NP (DT the) (NN {b})) (PRN (-LRB- -LRB-) (S (ADJP (JJ good))) (-RRB- -RRB-))))",
    "(TOP (X (S (NP (NN {b})) (VP (VB eats) (NP (DT the) (NN {a}))) (. !))))",
    "(TOP (NP (NN {a})))",
]
WORDS = ["dog", "cat", "bird", "fish", "fox"]
TREES = [parse_bracket(text.format(a=a, b=b)) for text in TOY for a in WORDS for b in WORDS]


@pytest.fixture(scope="module")
def classifier() -> UnaryClassifier:
    return UnaryClassifier(cost=1.0).fit(TREES)


def recovered(classifier: UnaryClassifier, ctree: CTree) -> CTree:
    bare = strip_unaries(ctree)[0]
    return restore_unaries(bare, classifier.predict([bare])[0])


@pytest.mark.parametrize("text", TOY)
def test_context_decides_for_unseen_words(classifier: UnaryClassifier, text: str) -> None:
    ctree = parse_bracket(text.format(a="wug", b="blick"))
    assert recovered(classifier, ctree) == ctree


def test_chains_are_not_longer_than_any_that_is_real(tmp_path: Path) -> None:
    """They are neither learned nor read: each node of a sentence might get one."""
    tokens = Tokens(("a", "b"), ("A", "B"))

    def trees(length: int) -> list[CTree]:
        chain = tuple((2 + i,) for i in range(length))
        return [CTree(tokens, ("S",) * (length + 1), ((0, 1), *chain)) for _ in range(20)]

    found = [UnaryClassifier().fit(trees(length)).chains_ for length in (100, 101)]
    assert [[*map(len, chains)] for chains in found] == [[0, 100], [0]]
    UnaryClassifier().fit(trees(100)).save(tmp_path)
    assert UnaryClassifier.load(tmp_path).chains_ == found[0]
    file = tmp_path / "unaries.json"
    said = json.loads(file.read_text())
    said["chains"][1] *= 2
    file.write_text(json.dumps(said))
    with pytest.raises(ModelError, match=r"broken \(chains\[1\]: Expected `array` of length <= 100\)"):
        UnaryClassifier.load(tmp_path)


def test_one_chain_per_node_and_batches_change_nothing(classifier: UnaryClassifier) -> None:
    bare = [strip_unaries(ctree)[0] for ctree in TREES]
    together = classifier.predict(bare)
    assert [len(chains) for chains in together] == [ctree.root + 1 for ctree in bare]
    assert together == [classifier.predict([ctree])[0] for ctree in bare]
    assert classifier.predict([]) == []


def test_shares_of_the_chosen_chains(classifier: UnaryClassifier) -> None:
    bare = [strip_unaries(ctree)[0] for ctree in TREES]
    together = classifier.predict_with_shares(bare)[1]
    assert [len(shares) for shares in together] == [ctree.root + 1 for ctree in bare]
    assert together == [classifier.predict_with_shares([ctree])[1][0] for ctree in bare]
    assert classifier.predict_with_shares([]) == ([], [])
    contexts = parse_bracket("(TOP (S (NN a) (VP (VB b) (RB c))))"), parse_bracket("(TOP (S (NN a) (QQ b)))")
    (sure, *_), (unsure, *_) = classifier.predict_with_shares(contexts)[1]
    assert 0.5 < unsure < sure < 1
    _, alone = classifier.predict_with_shares([parse_bracket("(TOP (ZZ (QQ a) (RR b)))")])
    assert alone == [[1.0, 1.0, 1.0]]


def test_shares_without_weights_are_equal(classifier: UnaryClassifier) -> None:
    equal = copy(classifier)
    equal.weights_ = np.zeros_like(classifier.weights_)
    equal.bias_ = np.where(np.isfinite(classifier.bias_), np.float32(0.5), -np.inf)
    _, (shares,) = equal.predict_with_shares(
        [parse_bracket("(TOP (S (NP (DT the) (NN a)) (JJ good) (VB b)))")]
    )
    assert shares == [1.0, 0.5, 1.0, 0.5, 1.0, 0.5]  # nouns, verbs and S have two candidates, others one


def test_unseen_symbols_get_no_chain(classifier: UnaryClassifier) -> None:
    assert classifier.predict([parse_bracket("(TOP (ZZ (QQ a) (RR b)))")]) == [[(), (), ()]]
    assert classifier.predict([CTree(Tokens(("a",), ("QQ",)), (), ())]) == [[()]]


def test_a_tag_and_a_phrase_of_one_name_differ() -> None:
    trees = [parse_bracket("(TOP (S (X (A a)) (B b)))")] * 5
    classifier = UnaryClassifier().fit(trees)
    assert classifier.predict([parse_bracket("(TOP (S (A (C c) (C c)) (B b)))")]) == [[()] * 5]


def test_discontinuous_trees_with_lemmas_and_morphology() -> None:
    tokens = Tokens(tuple("abcd"), ("A", "B", "C", "D"), tuple("abcd"), ("m", "", "m", "x"))
    ctree = build_ctree(tokens, ("VP", "NP", "S"), ((0, 2), (3,), (4, 1, 5)), 6)
    assert not ctree.is_continuous()
    classifier = UnaryClassifier().fit([ctree] * 5)
    assert recovered(classifier, ctree) == ctree
    bare, chains = strip_unaries(ctree)
    other = CTree(Tokens(tokens.forms, tokens.tags), bare.labels, bare.children)
    assert classifier.predict([other, bare]) == [chains, chains]  # with and without the columns


def test_treebank_without_unaries() -> None:
    bare = parse_bracket("(TOP (S (A a) (B b)))")
    assert UnaryClassifier().fit([bare]).predict([bare]) == [[(), (), ()]]
    assert UnaryClassifier().fit([]).predict([bare]) == [[(), (), ()]]


def test_saved_and_loaded_models_are_the_same(classifier: UnaryClassifier, tmp_path) -> None:
    classifier.save(tmp_path / "model")
    loaded = UnaryClassifier.load(tmp_path / "model")
    bare = [strip_unaries(ctree)[0] for ctree in TREES]
    assert loaded.predict(bare) == classifier.predict(bare)
    assert loaded.weights_.dtype == np.float32 and np.array_equal(loaded.weights_, classifier.weights_)
    assert (loaded.cost, loaded.seed) == (classifier.cost, classifier.seed)


def test_same_seed_same_model(classifier: UnaryClassifier) -> None:
    again = UnaryClassifier(cost=1.0).fit(iter(TREES))
    assert np.array_equal(again.weights_, classifier.weights_)
    assert np.array_equal(again.bias_, classifier.bias_)


def test_feature_ids_are_the_same_in_every_process() -> None:
    batch = flatten([parse_bracket("(TOP (S (NN dog) (VB eats)))")])
    assert features(batch, np.array([0]))[0].tolist() == [156327935]


@pytest.mark.parametrize("name", ["unaries.json", "unaries.npz"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"PK\x03\x04 nothing", b"[1]"])
def test_broken_models(classifier: UnaryClassifier, tmp_path, name: str, content: bytes | None) -> None:
    classifier.save(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=name) as caught:
        UnaryClassifier.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_truncated_weights_and_newer_formats(classifier: UnaryClassifier, tmp_path) -> None:
    classifier.save(tmp_path)
    weights = tmp_path / "unaries.npz"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="broken"):
        UnaryClassifier.load(tmp_path)
    weights.write_bytes(whole)
    path = tmp_path / "unaries.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**settings, "format": 99}), encoding="utf-8")
    with pytest.raises(ModelError, match="format 99"):
        UnaryClassifier.load(tmp_path)
