"""Other c-parsers: one that is trained here, files of trees, and Table 3 of PAD with both."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
from stanza.models.constituency.parse_transitions import CloseConstituent, OpenConstituent, Shift

from d2c.automata.exact import SEARCHES
from d2c.automata.oracles import LinearOracle
from d2c.automata.systems import Action
from d2c.base.errors import FormatError, ModelError
from d2c.dparsers.stanza.encoder import load_encoder, read_encoder
from d2c.experiments.rows import GOLD
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import parse_bracket, read_brackets, save_brackets
from d2c.trees.formats.discbracket import write_discbracket
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from experiments.experiment import Treebank
from experiments.store import Store
from papers import charts, pad, systems
from papers.experiment import PaperExperiment
from papers.stanza_constituency import StanzaConstituency, _from_stanza, _to_stanza
from papers.systems import SYSTEMS, of_file, trained
from tests.dparsers.encoders import tiny_encoder

SAMPLE = Path(__file__).parents[3] / "data" / "sample"
STANZA = "Stanza's c-parser"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def some(part: str, count: int, longest: int = 9) -> list[CTree]:
    """Short trees of the sample."""
    short = (tree for tree in read_brackets(SAMPLE / f"{part}.mrg") if len(tree.tokens) <= longest)
    return [*islice(short, count)]


def write(path: Path, trees: list[CTree]) -> Path:
    save_brackets(trees, path)
    return path


@pytest.fixture(scope="module")
def parser() -> StanzaConstituency:
    torch.set_num_threads(1)
    return StanzaConstituency("small", epochs=3, device="cpu").fit(some("train", 40), some("dev", 5))


def experiment(directory: Path, **settings: object) -> PaperExperiment:
    files = {part: write(directory / f"{part}.mrg", some(part, 30)) for part in ("train", "dev", "test")}
    own = {"tags": "gold", "dparsers": (GOLD,), "epochs": 1, "device": "cpu"} | settings
    return PaperExperiment.of(Treebank("sample", files), Store(directory / "steps"), **own)


def test_trees_to_stanza_and_back() -> None:
    trees = [*some("dev", 40, 40), parse_bracket("(TOP (NN fish))"), parse_bracket("(TOP (A (B (A (X x)))))")]
    labels = sorted({label for tree in trees for label in tree.labels})
    codes = {label: str(i) for i, label in enumerate(labels)}
    for tree in trees:
        assert _from_stanza(_to_stanza(tree, codes), tree.tokens, labels) == replace(tree, top="TOP")


def test_what_stands_beside_the_root_is_joined() -> None:
    tree = parse_bracket("(TOP (A (X x) (Y y)))")
    root = _to_stanza(tree, {"A": "1"})
    root.children = root.children[0].children
    assert _from_stanza(root, tree.tokens, ["S", "A"]) == parse_bracket("(TOP (S (X x) (Y y)))")
    assert _from_stanza(None, tree.tokens, ["S", "A"]) == parse_bracket("(TOP (S (X x) (Y y)))")


def test_it_parses_any_tokens(parser: StanzaConstituency) -> None:
    odd = [Tokens(("(", "", "a b", "é", "x" * 300), ("(", "?", "_", "NN", "<PAD>")), Tokens(("a",), ("b",))]
    sentences = [tree.tokens for tree in some("test", 20, 30)] + odd
    found = [*parser.parse(sentences)]
    assert [tree.tokens for tree in found] == sentences
    known = set(parser.labels_)
    assert all(set(tree.labels) <= known and tree.is_continuous() for tree in found)


def test_a_node_is_as_sure_as_it_was_opened_and_closed(
    parser: StanzaConstituency, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift, close, x, s, y, root = Shift(), CloseConstituent(), *map(OpenConstituent, ("0", "1", "2", "root"))
    sure_of = [(shift, 0.9), (x, 0.5), (shift, 0.9), (close, 0.75), (s, 1), (shift, 0.9)]
    sure_of += [(y, 0.25), (close, 0.125), (close, 0.8), (root, 1), (close, 1)]
    steps = iter(sure_of)

    def predict(_: object) -> tuple[torch.Tensor, list[object], torch.Tensor]:
        transition, sure = next(steps)
        scores = torch.tensor([[sure, 1 - sure]]).log() + 7
        return scores, [transition], scores[:, 0]

    monkeypatch.setattr(parser.model_, "predict", predict)
    ((tree, confidences),) = parser.parses([Tokens(("a", "b", "c"), ("A", "B", "C"))])
    of_x, of_s, of_y = parser.labels_[:3]
    assert tree == parse_bracket(f"(TOP ({of_s} ({of_x} (A a) (B b)) ({of_y} (C c))))")
    assert confidences == pytest.approx((0.5 * 0.75, 0.25 * 0.125, 1 * 0.8))


def test_where_it_finds_no_tree_it_is_not_sure(
    parser: StanzaConstituency, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser.model_, "predict", lambda states: (torch.zeros(1, 2), [None], torch.zeros(1)))
    tokens = Tokens(("a", "b"), ("A", "B"))
    ((tree, confidences),) = parser.parses([tokens])
    assert (tree.labels, tree.children, confidences) == (parser.labels_[:1], ((0, 1),), (0.0,))


def test_load_gives_the_same_parser(parser: StanzaConstituency, tmp_path: Path) -> None:
    parser.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cparser.json", "parser.pt"]
    sentences = [tree.tokens for tree in some("dev", 10)]
    assert [*StanzaConstituency.load(tmp_path, "cpu").parse(sentences)] == [*parser.parse(sentences)]
    for file, content in (
        ("parser.pt", (tmp_path / "parser.pt").read_bytes()[:5000]),
        ("parser.pt", b"\x80\x02cos\nmkdir\nU\x05pwnedR."),
        ("cparser.json", b'{"format": 1, "cparser": "spacy"}'),
    ):
        (tmp_path / file).write_bytes(content)
        with pytest.raises(ModelError) as error:
            StanzaConstituency.load(tmp_path, "cpu")
        assert str(tmp_path) in str(error.value) and "\n" not in str(error.value)
    assert not Path("pwned").exists()


def test_it_learns_from_all_pieces(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    settings = tiny_encoder(tmp_path / "tiny") / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"mask_token": "[UNK]"}))
    assert load_encoder(tmp_path / "tiny")[0].mask is not None
    parser = StanzaConstituency(epochs=0.1, device="cpu", transformer=str(tmp_path / "tiny"))
    assert parser.fit(some("train", 5), some("dev", 5)).model_.bert_model.mask is None


def test_it_learns_together_with_an_encoder(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    source, model = tiny_encoder(tmp_path / "tiny"), tmp_path / "model"
    model.mkdir()
    parser = StanzaConstituency(epochs=3, device="cpu", transformer=str(source))
    parser.fit(some("train", 40), some("dev", 5)).save(model)
    assert sorted(path.name for path in model.iterdir()) == ["cparser.json", "encoder", "parser.pt"]
    assert b"bert_model.transformer" not in (model / "parser.pt").read_bytes()  # kept once
    learned, given = (read_encoder(directory)[0].state_dict() for directory in (model / "encoder", source))
    assert all(not torch.equal(learned[name], given[name]) for name in given if "encoder.layer" in name)
    sentences = [tree.tokens for tree in some("dev", 10, 40)]
    loaded = StanzaConstituency.load(model, "cpu")
    assert [*loaded.parse(sentences)] == [*parser.parse(sentences)]
    assert (loaded.transformer, loaded.preset) == ("tiny", "finetune")
    (model / "encoder" / "model.safetensors").write_bytes(b"?")
    with pytest.raises(ModelError, match="encoder: cannot be loaded"):
        StanzaConstituency.load(model, "cpu")


def test_what_it_cannot_learn_from() -> None:
    gap = CTree(Tokens(("a", "b", "c"), ("A", "B", "C")), ("X", "S"), ((0, 2), (3, 1)))
    with pytest.raises(ModelError, match="no trees with gaps"):
        StanzaConstituency().fit([gap], [gap])
    with pytest.raises(ModelError, match="^unknown preset 'huge'; known are default, small, finetune$"):
        StanzaConstituency("huge").fit(some("dev", 2), some("dev", 2))
    with pytest.raises(ModelError, match="needs a transformer"):
        StanzaConstituency("finetune").fit(some("dev", 2), some("dev", 2))
    with pytest.raises(ModelError, match="not trained"):
        next(StanzaConstituency().parse([Tokens(("a",), ("A",))]))


def test_a_system_is_trained_once_and_silently(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("stanza").setLevel(logging.INFO)
    scored = trained(experiment(tmp_path), STANZA, "dev")
    assert (scored.sentences, scored.attachment, scored.converting) == (30, None, 0) and scored.parsing > 0
    steps = sorted(path.name.partition("-")[0] for path in (tmp_path / "steps").iterdir())
    assert steps == ["gaps", "system", "system"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StanzaConstituency, "fit", None)
        assert trained(experiment(tmp_path), STANZA, "dev") == scored
    assert capfd.readouterr() == ("", "")


def test_how_a_system_parses_is_no_part_of_what_it_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def note(oracle: LinearOracle, sentences: Sequence[Tokens], _: object) -> list[list[Action]]:
        noted.append(len(sentences))
        return oracle.parse(sentences)

    noted: list[int] = []
    monkeypatch.setitem(SEARCHES, "exact", note)
    own = experiment(tmp_path)
    scored = trained(own, "shift-reduce", "dev")
    assert not noted
    assert trained(own, "shift-reduce", "dev", search="exact").brackets == scored.brackets
    assert noted == [8, 30]  # warm, then with the time taken
    steps = sorted(path.name.rpartition("-")[0] for path in (tmp_path / "steps").iterdir())
    assert steps == ["gaps", "system", "system-trees", "system-trees"]


def test_files_of_trees(tmp_path: Path) -> None:
    own = experiment(tmp_path)
    trees = some("test", 30)
    same = of_file(own, write(tmp_path / "same.mrg", trees), "test")
    assert (same.f1, same.figure("recall"), same.sentences, same.seconds) == (100, 100, 30, 0)
    flat = [CTree(tree.tokens, ("S",), (tuple(range(len(tree.tokens))),), top="TOP") for tree in trees]
    assert 0 < of_file(own, write(tmp_path / "flat.mrg", flat), "test").f1 < 100
    words = replace(trees[2].tokens, forms=("x", *trees[2].tokens.forms[1:]))
    other = [*trees[:2], replace(trees[2], tokens=words), *trees[3:]]
    for given, message in (
        (other, f"x.mrg: sentence 3: is of other tokens than those of {tmp_path / 'test.mrg'}"),
        (trees[:-1], f"x.mrg: has 29 sentences, {tmp_path / 'test.mrg'} 30"),
    ):
        with pytest.raises(FormatError) as error:
            of_file(own, write(tmp_path / "x.mrg", given), "test")
        assert str(error.value) == f"{tmp_path}/{message}"


def test_what_a_guess_looks_like_does_not_choose_the_metric(tmp_path: Path) -> None:
    """A file of trees with gaps beside others, on a treebank without: both by EVALB."""
    own = experiment(tmp_path)
    trees = some("test", 30)
    words = next(i for i, tree in enumerate(trees) if len(tree.tokens) > 2)
    n = len(trees[words].tokens)
    children = (0, 2), (n, 1, *range(3, n))
    gap = CTree(trees[words].tokens, ("X", "S"), children, top="TOP")
    path = tmp_path / "gaps.dbr"
    with open(path, "w", encoding="utf-8") as stream:
        write_discbracket([*trees[:words], gap, *trees[words + 1 :]], stream)
    scored = of_file(own, path, "test")
    assert scored.brackets["default"] == "evalb" and 0 < scored.f1 < 100


def test_a_system_on_another_device_is_another_one(tmp_path: Path) -> None:
    own, other = experiment(tmp_path, device=None), experiment(tmp_path, device="cuda")
    assert own.of_dparser("stanza") != other.of_dparser("stanza")
    assert "device" not in own.of_dparser("stanza")


def test_heads_of_c_trees_by_the_head_rules(tmp_path: Path) -> None:
    """Collins' rules: of VP → NP VP the head is the VP, of NP → DT NN NN the last word."""
    (tmp_path / "gold.mrg").write_text("(TOP (S (NP (DT a) (NN b) (NN c)) (VP (VBZ d) (NP (NN e))) (. .)))\n")
    files = dict.fromkeys(("train", "dev"), tmp_path / "gold.mrg")
    made = PaperExperiment.of(Treebank("tiny", files), Store(tmp_path / "steps"), tags="gold")
    guess = parse_bracket("(TOP (S (NP (DT a) (NN b)) (NP (NN c)) (VP (VBZ d) (NP (NN e))) (. .)))")
    gold = made.gold("dev")
    assert made.uas_by_heads(gold, "dev") == 100
    assert made.uas_by_heads([guess], "dev") == 60  # of five words a has the head b now, and b has d
    own = load_head_rules("leftmost").apply(guess)  # what heads it says itself plays no part
    assert made.uas_by_heads([own], "dev") == 60
    marked = replace(made, treebank=replace(made.treebank, reading=Reading(marked=True)))
    assert marked.uas_by_heads(gold, "dev") is None


def test_table_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With gold d-trees in place of a d-parser's, and without other systems to train."""
    given = experiment(tmp_path)
    oracle = {"oracle": write(tmp_path / "oracle.mrg", some("test", 30))}
    given = replace(given, treebank=replace(given.treebank, systems=oracle))
    monkeypatch.setattr(systems, "SYSTEMS", {"none": replace(SYSTEMS[STANZA], path="no_such_module:Parser")})
    monkeypatch.setattr(charts, "chosen", lambda _: {})
    monkeypatch.setattr(PaperExperiment, "best_parses", lambda own: own.parses(GOLD, "dev"))
    table = pad.systems(given)
    scores, uas = ("recall", "precision", "F1", "F1 (SPMRL)"), ("UAS", "UAS by head rules")
    assert table.header == ("system", *scores, *uas, "sentences/s")
    names = [row[0] for row in table.rows]
    assert names == ["oracle", "gold, reduction", "gold, labeler", "gold, cky", "gold, cky (pruned)"]
    assert table.rows[0][1:] == [100, 100, 100, 100, None, 100, None]
    for row in table.rows[1:]:
        assert 50 < float(row[3] or 0) <= 100 and row[5] == 100 and float(row[7] or 0) > 0
        assert 50 < float(row[6] or 0) <= 100
    assert any(note.startswith("none: the c-parser none needs a package") for note in table.notes)
    assert any("30 of test; gold tags" in note for note in table.notes)
