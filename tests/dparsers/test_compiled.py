"""Graph parsers on BERT as OpenVINO computes them, beside torch, and without it."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("stanza")
pytest.importorskip("transformers", reason="needs the extra transformers")
pytest.importorskip("openvino", reason="needs the extra fast")

from stanza.models.common.utils import simplify_punct

from d2c.base.errors import ModelError
from d2c.dparsers.graph import compiled, parser
from d2c.dparsers.graph import directory as files
from d2c.dparsers.graph.directory import NETWORK, NETWORK_WEIGHTS
from d2c.dparsers.graph.inputs import simplified
from d2c.dparsers.graph.parser import CompiledParser
from d2c.dparsers.settings import StanzaSettings
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.packed.arcs import PackedDTree
from d2c.protocols.dparser import DependencyParser
from d2c.routes.dparsers import load_dparser
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.encoders import WINDOW, tiny_encoder
from tests.dparsers.sentences import odd_sentences, treebank, write

TINY = {"hidden_dim": 16, "deep_biaff_hidden_dim": 8, "word_emb_dim": 8, "tag_emb_dim": 8, "batch_size": 60}
TINY |= {"lr": 0.02, "dropout": 0.1}
SENTENCES = odd_sentences(5, [1, 0, 4, 30, 2, 9, 9])
BLANK = Tokens(("the", "\u200d", "cat", "\u200b"), ("DT", "X", "NN", "X"))  # words without pieces
LONG = Tokens(("catcatcatcatcatcatcatcatcatcat", "dog") * 6, ("NN", "NN") * 6)  # has more than a window


@pytest.fixture(scope="module", params=["joint", "graph"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a tiny parser, of one layer that finds tags, or of two that sees them."""
    place = tmp_path_factory.mktemp(request.param)
    file, layers = write(place / "train.conllu", treebank(1, 24)), {"joint": 1, "graph": 2}[request.param]
    settings = StanzaSettings(
        model_type=request.param,
        transformer=str(tiny_encoder(place / "tiny")),
        epochs=3,
        device="cpu",
        arguments=TINY | {"num_layers": layers},
    )
    StanzaParser(settings).train(file, file, place / "model")
    return place / "model"


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """In single precision."""
    monkeypatch.setattr(compiled, "multiplies_halves", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)


def parsed(own: DependencyParser, sentences: Sequence[Tokens]) -> list[DTree]:
    return [*own.parse_packed(sentences, 1e-4)]


def assert_same(found: Sequence[DTree], expected: Sequence[DTree], close: float) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a.tokens, a.heads, a.labels) == (b.tokens, b.heads, b.labels)
        if not a.heads:
            continue
        assert isinstance(a, PackedDTree) and isinstance(b, PackedDTree)
        assert a.arcs.heads.tolist() == b.arcs.heads.tolist()
        assert a.arcs.labels is not None and b.arcs.labels is not None
        assert a.arcs.labels.names == b.arcs.labels.names
        assert a.arcs.yields is not None and b.arcs.yields is not None
        pairs = (
            (a.arcs.logs, b.arcs.logs),
            (a.arcs.labels.logs, b.arcs.labels.logs),
            (a.arcs.yields, b.arcs.yields),
        )
        for one, other in pairs:
            np.testing.assert_allclose(np.exp(one), np.exp(other), rtol=0, atol=close)


@pytest.mark.usefixtures("exact")
def test_arcs_labels_yields_and_tags_are_those_of_torch(model: Path) -> None:
    quick, own = CompiledParser.load(model), StanzaParser.load(model, "cpu")
    for sentences in (SENTENCES, [LONG, *SENTENCES], [BLANK, LONG], [BLANK]):
        assert_same(parsed(quick, sentences), parsed(own, sentences), 1e-4)
    assert quick.tags_ == own.tags_
    pieces = sum(len(own) for own, *_ in quick._batching._rows([LONG]))
    assert pieces > WINDOW


def test_in_half_precision_shares_are_close(model: Path) -> None:
    quick, own = CompiledParser.load(model), StanzaParser.load(model, "cpu")
    for a, b in zip(parsed(quick, SENTENCES), parsed(own, SENTENCES), strict=True):
        if a.heads:
            assert isinstance(a, PackedDTree) and isinstance(b, PackedDTree)
            assert a.arcs.labels is not None and b.arcs.labels is not None
            both = np.intersect1d(keys(a), keys(b), return_indices=True)
            assert len(both[0]) > 0.9 * max(len(a.arcs.heads), len(b.arcs.heads))
            shares = np.exp(a.arcs.logs[both[1]]), np.exp(b.arcs.logs[both[2]])
            np.testing.assert_allclose(*shares, rtol=0, atol=0.1)


def keys(dtree: PackedDTree) -> Any:
    return dtree.arcs.dependents() * 1000 + dtree.arcs.heads


@pytest.mark.usefixtures("exact")
def test_what_is_found_does_not_depend_on_other_sentences(model: Path) -> None:
    """OpenVINO passes over how long sequences are; padding must not be read as words."""
    quick = CompiledParser.load(model)
    whole = parsed(quick, [*SENTENCES, LONG])
    for one, dtree in zip([*SENTENCES, LONG], whole, strict=True):
        assert_same(parsed(quick, [one]), [dtree], 1e-5)
    assert_same([*quick.parse_packed(iter(SENTENCES), 1e-4)], whole[:-1], 1e-5)


def test_a_copy_and_a_forked_process_find_the_same(model: Path) -> None:
    quick = CompiledParser.load(model)
    expected = parsed(quick, SENTENCES)

    def same() -> None:
        assert_same(parsed(quick, SENTENCES), expected, 0.0)

    forked = multiprocessing.get_context("fork").Process(target=same)
    forked.start()
    forked.join(60)
    forked.kill()
    assert forked.exitcode == 0
    assert_same(parsed(copy.deepcopy(quick), SENTENCES), expected, 0.0)


def test_it_is_taken_where_it_can_be(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(device: str | None = None) -> type[DependencyParser]:
        return type(load_dparser("stanza", model, {"device": device}))

    monkeypatch.setattr(parser, "_NVIDIA", tmp_path / "none")
    assert loaded() is CompiledParser and loaded("cpu") is CompiledParser
    monkeypatch.setattr(parser, "_NVIDIA", tmp_path)
    assert loaded() is StanzaParser and loaded("cpu") is CompiledParser
    assert CompiledParser.opened(model, "cuda") is None
    for name in ("stanza", "transformers"):  # torch alone makes no parser of a GPU
        with monkeypatch.context() as patch:
            patch.setattr(files, "find_spec", lambda own, name=name: None if own == name else own)
            assert loaded() is CompiledParser
    monkeypatch.setattr(compiled, "openvino", unable)
    assert loaded("cpu") is StanzaParser
    with pytest.raises(ModelError, match="holds no network that OpenVINO can compute here"):
        CompiledParser.load(model)


def unable() -> Any:
    raise RuntimeError("for this processor there is no code")


@pytest.mark.parametrize("said", [{"hidden_act": "relu"}, {"model_type": "distilbert"}, {"is_decoder": True}])
def test_another_encoder_is_left_to_torch(said: dict[str, object], model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "copy")
    of_file("encoder/config.json", **said)(tmp_path / "copy")
    assert CompiledParser.opened(tmp_path / "copy") is None


@pytest.mark.usefixtures("exact")
def test_every_number_of_pieces(model: Path) -> None:
    """Fewer than a window has, as many, and more."""
    sentences = [Tokens(("cat", "sees", "the") * 12, ("NN",) * 36)]
    sentences = [Tokens(one.forms[:n], one.tags[:n]) for one in sentences for n in range(1, 37)]
    quick, own = CompiledParser.load(model), StanzaParser.load(model, "cpu")
    assert {len(row.pieces) for row in quick._batching._rows(sentences)} == {*range(3, 39)}
    for one in sentences:
        assert_same(parsed(quick, [one]), parsed(own, [one]), 1e-4)


def test_it_is_not_trained(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="take --dparser stanza"):
        CompiledParser.load(model).train(tmp_path / "a", tmp_path / "b", tmp_path / "c")


def of_file(name: str, **said: object) -> Callable[[Path], object]:
    def change(directory: Path) -> None:
        path = directory / name
        path.write_text(json.dumps(json.loads(path.read_text()) | said))

    return change


def of_network(part: str, **said: object) -> Callable[[Path], object]:
    def change(directory: Path) -> None:
        found = json.loads((directory / NETWORK).read_text())
        found[part] |= said
        (directory / NETWORK).write_text(json.dumps(found))

    return change


def weights(change: Callable[[Any], Any]) -> Callable[[Path], object]:
    return of_weights(NETWORK_WEIGHTS, lambda found: {name: change(array) for name, array in found.items()})


def of_weights(file: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Path], object]:
    def changed(directory: Path) -> None:
        from safetensors.numpy import load_file, save_file

        save_file(change(load_file(directory / file)), directory / file)

    return changed


def scaled(found: dict[str, Any]) -> dict[str, Any]:
    """Return BERT's weights with scales that make them infinite."""
    return {name: np.full_like(one, 3e38) if name.endswith(":scale") else one for name, one in found.items()}


UNITS = {"_id2unit": ["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "a", "a"], "lower": False}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (of_file("encoder/config.json", num_hidden_layers=1 << 40), "more layers than it has"),
        (of_file("encoder/config.json", hidden_size=1 << 20), "of another shape"),
        (of_file("encoder/config.json", num_attention_heads=7), "7 heads of attention cannot share vectors"),
        (of_file("encoder/config.json", vocab_size=3), "of another shape"),
        (of_file("encoder/config.json", layer_norm_eps="no"), "layer_norm_eps"),
        (of_file("encoder/config.json", layer_norm_eps=-1.0), "layer_norm_eps"),
        (of_file(NETWORK, format=2), "format"),
        (of_file("dparser.json", format=2), "format"),
        (of_file("dparser.json", dparser="spacy"), "holds no stanza parser"),
        (of_file("dparser.json", model_type="transition"), "are of different networks"),
        (lambda directory: (directory / NETWORK).write_text('{"format": 1}'), "has no 'arguments'"),
        (of_network("arguments", model_type="transition"), "what none of its kind is"),
        (of_network("arguments", char=True), "what none of its kind is"),
        (of_network("arguments", reversed=True), "what none of its kind is"),
        (of_file("encoder/tokenizer.json", post_processor=None), "does not mark the ends of a sentence"),
        (of_network("arguments", hidden_dim=1 << 40), "of another shape"),
        (of_network("arguments", num_layers=1 << 40), "more layers than it has"),
        (of_network("arguments", word_emb_dim="many"), "int"),
        (of_network("vocabulary", word=UNITS), "the vocabulary word does not number its units"),
        (of_network("vocabulary", deprel={"_id2unit": ["a"]}), "the vocabulary deprel does not number"),
        (of_network("vocabulary", xpos=[]), "cannot be loaded"),
        (weights(lambda array: array * np.float16("nan")), "some of the weights are no numbers"),
        (weights(lambda array: array[:1]), "of another shape"),
        (weights(lambda array: array.astype(np.float64)), "are of the type float64"),
        (of_weights(NETWORK_WEIGHTS, lambda found: found | {"x": np.zeros(1, np.float16)}), "weights x are"),
        (of_weights("encoder/model.safetensors", scaled), "is too large"),
        (lambda directory: (directory / NETWORK_WEIGHTS).write_bytes(b"no"), "cannot be loaded"),
        (lambda directory: (directory / NETWORK_WEIGHTS).unlink(), "No such file"),
        (lambda directory: (directory / NETWORK).write_text("[]"), "holds no settings"),
        (lambda directory: (directory / "encoder" / "tokenizer.json").write_text("{}"), "field `model`"),
    ],
)
def test_damaged_files(change: Callable[[Path], object], says: str, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "copy")
    change(tmp_path / "copy")
    with pytest.raises(ModelError, match=says) as error:
        CompiledParser.opened(tmp_path / "copy")
    assert "\n" not in str(error.value)


def test_without_torch(model: Path) -> None:
    """Nothing of torch, Stanza and transformers is there, and nothing of them is missed."""
    code = f"""
import sys
from pathlib import Path
for name in ("torch", "stanza", "transformers"):
    sys.modules[name] = None
from d2c.routes.dparsers import load_dparser
from d2c.trees.ctree import Tokens
own = load_dparser("stanza", Path({str(model)!r}), {{}})
print(next(own.parse([Tokens(("the", "cat", "sees"), ("DT", "NN", "VB"))])).heads)
"""
    done = ran(code, {})
    (expected,) = CompiledParser.load(model).parse([Tokens(("the", "cat", "sees"), ("DT", "NN", "VB"))])
    assert done.stdout.strip() == str(expected.heads), done.stderr


@pytest.mark.parametrize(
    ("absent", "device", "says"),
    [
        (("torch", "openvino"), None, r"needs openvino here: .*'\.\[fast\]'"),
        (("torch", "tokenizers"), "cpu", r"needs tokenizers here: .*'\.\[fast\]'"),
        (("torch", "stanza"), "cuda", r"needs stanza, torch here: .*'\.\[transformers\]'"),
    ],
)
def test_what_to_install(
    absent: tuple[str, ...], device: str | None, says: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "find_spec", lambda name: None if name in absent else name)
    with pytest.raises(ModelError, match=says):
        load_dparser("stanza", model, {"device": device})


def test_what_a_tokenizer_says_of_cutting_and_padding_does_not_count(model: Path, tmp_path: Path) -> None:
    expected = parsed(CompiledParser.load(model), SENTENCES)
    shutil.copytree(model, tmp_path / "copy")
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    padded = {"strategy": {"Fixed": 50}, "direction": "Right", "pad_to_multiple_of": None}
    padded |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    of_file("encoder/tokenizer.json", truncation=cut, padding=padded)(tmp_path / "copy")
    assert_same(parsed(CompiledParser.load(tmp_path / "copy"), SENTENCES), expected, 0.0)


def ran(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment
    for name in ("CI", "TF_BUILD"):
        environment.pop(name, None)
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def test_nothing_is_reported(tmp_path: Path) -> None:
    """Imported as usual, OpenVINO leaves a number of the user in the home directory, and sends it."""
    code = f"import sys; from {compiled.__name__} import openvino; openvino(); print([*sys.modules])"
    done = ran(code, {"HOME": str(tmp_path)})
    assert "openvino.tools.ovc" in done.stdout and "telemetry'" not in done.stdout, done.stderr
    assert not [*tmp_path.iterdir()]


@given(st.text(alphabet="?!？！︖﹖⁇︕﹗‼a", max_size=6))
def test_marks_are_simplified_as_stanza_does(form: str) -> None:
    assert simplified(form) == simplify_punct([[[form]]])[0][0][0]


def test_batches_have_few_sizes(model: Path) -> None:
    """Of pieces, and of places of words, padding included: code is made for each."""
    quick, draw = CompiledParser.load(model), random.Random(3)
    sentences = [Tokens(("cat",) * n, ("NN",) * n) for n in (draw.randint(1, 18) for _ in range(900))]
    batches = [*quick._batching.batches(sentences)]
    assert sorted(i for part, _ in batches for i in part) == [*range(900)]
    sizes = {batch.pieces.size for _, batch in batches[:-1]}
    assert sizes <= {672, 720, 768}
    for part, batch in batches:
        assert batch.lengths.tolist()[: len(part)] == [len(sentences[i]) + 1 for i in part]
        assert {*batch.lengths.tolist()[len(part) :]} <= {1}
        assert batch.columns["word"].shape == batch.places.shape[:2] == batch.pieces.shape
