"""Universal Dependencies by rules: constructions, validity over random trees, files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import conllu
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import d2c
from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.conllu import UPOS, format_conllu, read_conllu
from d2c.trees.formats.registry import read_treebank
from d2c.trees.heads import load_head_rules
from d2c.trees.scores.attachment import attachment_scores
from d2c.trees.universal.conversion import to_universal
from d2c.trees.universal.rules import parse_universal_rules, universal_rules
from d2c.trees.universal.texts import in_text
from tests.steps import is_linear
from tests.strategies import ctrees
from tests.treebanks import TREEBANKS, needs_treebanks

# A tree, and below it the head and relation of each word
CONSTRUCTIONS = """\
(S (NP (PRP She)) (VP (VBZ sleeps)) (. .))
    2:nsubj 0:root 2:punct
(S (NP (DT The) (JJ old) (NN cat)) (VP (VBD saw) (NP (CD two) (NNS dogs))) (. .))
    3:det 3:amod 4:nsubj 0:root 6:nummod 4:obj 4:punct
(S (NP (PRP She)) (VP (VBZ is) (ADJP (RB very) (JJ glad))) (. .))
    4:nsubj 4:cop 4:advmod 0:root 4:punct
(S (NP (PRP She)) (VP (VBZ is) (NP (DT a) (NN doctor)) (PP (IN in) (NP (NNP London)))))
    4:nsubj 4:cop 4:det 0:root 6:case 4:obl
(S (NP (PRP They)) (VP (VBP are) (PP (IN at) (NP (NN home)))))
    4:nsubj 4:cop 4:case 0:root
(S (NP (EX There)) (VP (VBZ is) (NP (DT a) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))))
    2:expl 0:root 4:det 2:nsubj 7:case 7:det 2:obl
(S (NP (PRP It)) (VP (MD will) (VP (VB have) (VP (VBN been) (VP (VBN seen) (PP (IN by) (NP (PRP them))))))))
    5:nsubj:pass 5:aux 5:aux 5:aux:pass 0:root 7:case 5:obl:agent
(S (NP (PRP They)) (VP (VBD did) (RB n't) (VP (VB sleep))))
    4:nsubj 4:aux 4:advmod 0:root
(S (NP (PRP He)) (VP (VBD gave) (NP (PRP her)) (NP (DT the) (NN book)) (NP (NN yesterday))))
    2:nsubj 0:root 2:iobj 5:det 2:obj 2:obl:unmarked
(S (NP (PRP I)) (VP (VBP want) (S (VP (TO to) (VP (VB go))))))
    2:nsubj 0:root 4:mark 2:xcomp
(S (NP (PRP I)) (VP (VBP want) (S (NP (PRP him)) (VP (TO to) (VP (VB go))))))
    2:nsubj 0:root 2:obj 5:mark 2:xcomp
(S (NP (PRP He)) (VP (VBD stopped) (S (VP (TO to) (VP (VB eat))))))
    2:nsubj 0:root 4:mark 2:advcl
(S (NP (PRP He)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP she)) (VP (VBD left))))))
    2:nsubj 0:root 5:mark 5:nsubj 2:ccomp
(S (SBAR (IN Because) (S (NP (PRP it)) (VP (VBD rained)))) (, ,) (NP (PRP we)) (VP (VBD left)))
    3:mark 3:nsubj 6:advcl 3:punct 6:nsubj 0:root
(NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD left)))))
    2:det 0:root 4:nsubj 2:acl:relcl
(NP (NP (DT the) (NN book)) (SBAR (WHNP (WDT which)) (S (NP (PRP she)) (VP (VBD wrote)))))
    2:det 0:root 5:obj 5:nsubj 2:acl:relcl
(NP (NP (DT the) (NN book)) (VP (VBN written) (PP (IN by) (NP (PRP her)))))
    2:det 0:root 2:acl 5:case 3:obl:agent
(S (NP (PRP I)) (VP (VBP know) (SBAR (WHNP (WP what)) (S (NP (PRP she)) (VP (VBD saw))))))
    2:nsubj 0:root 2:obj 5:nsubj 3:acl:relcl
(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP you)) (VP (VB see))) (. ?))
    4:obj 4:aux 4:nsubj 0:root 4:punct
(SBARQ (WHNP (WP Who)) (SQ (VP (VBD left))) (. ?))
    2:nsubj 0:root 2:punct
(SBARQ (WHADVP (WRB Where)) (SQ (VBZ is) (NP (PRP$ your) (NN cat))) (. ?))
    0:root 1:cop 4:nmod:poss 1:nsubj 1:punct
(SQ (VBZ Is) (NP (PRP he)) (NP (DT a) (NN doctor)) (. ?))
    4:cop 4:nsubj 4:det 0:root 4:punct
(NP (NP (NNS cats)) (, ,) (NP (NNS dogs)) (CC and) (NP (NP (NNS birds)) (PP (IN of) (NP (NN prey)))))
    0:root 3:punct 1:conj 5:cc 1:conj 7:case 5:nmod
(NP (DT the) (JJ red) (CC and) (JJ blue) (NNS cars))
    5:det 5:amod 4:cc 2:conj 0:root
(NP (DT the) (NN cat) (CC and) (JJ big) (NN dog))
    2:det 0:root 5:cc 5:amod 2:conj
(S (NP (PRP She)) (VP (VP (VBD came)) (, ,) (VP (VBD saw)) (CC and) (VP (VBD won))))
    2:nsubj 0:root 4:punct 2:conj 6:cc 2:conj
(S (S (NP (PRP I)) (VP (VBD came))) (: ;) (S (NP (PRP you)) (VP (VBD left))))
    2:nsubj 0:root 5:punct 5:nsubj 2:parataxis
(NP (NP (NP (NNP Mary) (POS 's)) (NN sister)) (, ,) (NP (NNP Jane) (NNP Smith)) (, ,))
    3:nmod:poss 1:case 0:root 5:punct 3:appos 5:flat 3:punct
(NP (NNP New) (NNP York) (NNP City))
    3:amod 3:compound 0:root
(NP (NNP President) (NNP Barack) (NNP Obama))
    2:nmod:desc 0:root 2:flat
(PP (IN on) (NP (NNP May) (CD 9) (, ,) (CD 1998)))
    3:case 3:compound 0:root 5:punct 3:nmod:unmarked
(NP (JJ high) (HYPH -) (NN speed) (NN train))
    3:amod 1:punct 4:compound 0:root
(PP (JJ such) (IN as) (NP (NNS cats)))
    3:case 1:fixed 0:root
(S (NP (PRP He)) (VP (VBD gave) (PRT (RP up)) (NP (NN hope))))
    2:nsubj 0:root 2:compound:prt 2:obj
(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ hard)) (S (VP (TO to) (VP (VB say))))))
    3:expl 3:cop 0:root 5:mark 3:csubj
(S (NP (DT The) (NN aim)) (VP (VBZ is) (S (VP (TO to) (VP (VB win))))))
    2:det 5:nsubj:outer 5:cop 5:mark 0:root
(S (INTJ (UH Well)) (, ,) (NP (NNP Ann)) (VP (VBD left)))
    4:discourse 1:punct 4:nsubj 0:root
(S (NP (PRP He)) (VP (VBZ works) (PP (IN without) (S (VP (VBG sleeping))))))
    2:nsubj 0:root 4:mark 2:advcl
(NP (QP (RB about) ($ $) (CD 5) (CD million)))
    2:advmod 0:root 4:compound 2:nummod
(NP (NP (NN Figure) (CD 2)) (PRN (-LRB- -LRB-) (S (VP (VB see) (NP (NN below)))) (-RRB- -RRB-)))
    0:root 1:flat 4:punct 1:parataxis 4:obj 4:punct
(S (S (NP (PRP I)) (VP (VBP agree))) (, ,) (NP (PRP he)) (VP (VBD said)))
    2:nsubj 5:ccomp 2:punct 5:nsubj 0:root
(S (NP (NNS Prices)) (VP (VBD rose) (NP (CD 5) (NN %)) (ADVP (RB sharply))))
    2:nsubj 0:root 4:nummod 2:obj 2:advmod
(NP (PRP$ his) (CC or) (PRP$ her) (NN program))
    4:nmod:poss 3:cc 1:conj 0:root
(S (NP (EX There)) (VP (VBP are) (NP (QP (CD five) (CD million)) (NNS cats))))
    2:expl 0:root 4:compound 5:nummod 2:nsubj
(SINV (ADVP (RB Here)) (VP (VBZ is)) (NP (PRP$ your) (NN cat)))
    0:root 1:cop 4:nmod:poss 1:nsubj
(S (S (NP (PRP We)) (VP (VBP live))) (, ,) (NP (PRP she)) (VP (VBD cried)))
    2:nsubj 5:ccomp 2:punct 5:nsubj 0:root
(S (ADVP (UH Well)) (NP (PRP I)) (VP (VBD told) (NP (PRP him))))
    3:discourse 3:nsubj 0:root 3:iobj
"""
UD = """
nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse aux cop mark nmod appos
nummod acl amod det case conj cc fixed flat list parataxis compound orphan goeswith reparandum punct root dep
"""
LABELS = "S NP VP PP SBAR SBARQ SQ SINV ADJP ADVP QP PRN FRAG WHNP WHADVP CONJP PRT UCP NX X NP-TMP ??"
TAGS = "NN NNP PRP DT JJ IN TO VB VBD MD CC CC CD RB WP WRB EX POS SYM HYPH , : . -LRB- -RRB- `` '' ??"
WORDS = "is been have to that what such as well there it May 9 -"
LINES = CONSTRUCTIONS.splitlines()


@pytest.mark.parametrize(("tree", "arcs"), list(zip(LINES[::2], LINES[1::2], strict=True)))
def test_constructions(tree: str, arcs: str) -> None:
    dtree = to_universal(parse_bracket(f"(TOP {tree})"))
    found = zip(dtree.heads, dtree.labels or (), strict=True)
    assert " ".join(f"{head}:{relation}" for head, relation in found) == arcs.strip()


@st.composite
def english(draw: st.DrawFn) -> CTree:
    """Trees of every shape with English labels, tags and words in places where they make no sense."""
    ctree = draw(ctrees(max_tokens=12))
    n, nodes = len(ctree.tokens), len(ctree.labels)

    def some(of: str, number: int) -> tuple[str, ...]:
        return tuple(draw(st.lists(st.sampled_from(of.split()), min_size=number, max_size=number)))

    return replace(ctree, tokens=Tokens(some(WORDS, n), some(TAGS, n)), labels=some(LABELS, nodes))


@given(english())
def test_every_tree_has_a_valid_d_tree(ctree: CTree) -> None:
    dtree = to_universal(ctree)
    labels = dtree.labels or ()
    assert dtree.is_tree() and dtree.tokens == ctree.tokens
    assert [head == 0 for head in dtree.heads] == [label == "root" for label in labels]
    assert {label.partition(":")[0] for label in labels} <= {*UD.split()}
    marks = {i for i, label in enumerate(labels, 1) if label == "punct"}
    assert marks.isdisjoint(dtree.heads)
    assert {row.split("\t")[3] for row in dtree.tokens.source.split("\n")} <= UPOS


@given(ctrees())
def test_trees_of_other_labels_too(ctree: CTree) -> None:
    assert to_universal(ctree).is_tree()


def test_deep_and_wide_trees_take_linear_time() -> None:
    def convert(leaf: str, n: int, open_: str) -> None:
        tree = "".join((open_, leaf)) * n + "(NN x)" + ")" * n
        assert to_universal(parse_bracket(f"(TOP {tree})")).is_tree()

    assert is_linear(lambda n: convert("(NP (NN a)) (CC and) ", n, "(NP "), 150)
    assert is_linear(lambda n: convert("(, ,) (NN a) ", n, "(NP "), 150)
    assert is_linear(lambda n: convert("(VBD is) ", n, "(VP "), 150)
    flat = "(S " + "(NP (NNP Ann)) (, ,) (VBD is) (CC and) (IN as) (RB well) (IN as) " * 300 + ")"
    assert to_universal(parse_bracket(flat)).is_tree()
    assert to_universal(parse_bracket("(S (`` ``) (. .))")).labels == ("root", "punct")


def test_relations_of_the_table_are_those_of_ud() -> None:
    rules = universal_rules()
    assert {line.relation.partition(":")[0] for line in rules.lines} <= {*UD.split()}
    assert {universal for _, universal, _ in rules.tags} <= UPOS
    assert {one for lines in rules.fixed.values() for _, one in lines} <= {*UD.split(), ""}
    assert load_head_rules("universal").head_child("PP", ("IN", "NP")) == 1
    with pytest.raises(FormatError, match="universal.txt:2: expected"):
        parse_universal_rules("class be is\nrelation *\n")


@needs_treebanks
def test_scores_on_gum() -> None:
    """Those of docs/ud.md."""
    trees = read_treebank(TREEBANKS / "gum-dev.mrg.gz", clean=True)
    scores = attachment_scores(read_conllu(TREEBANKS / "gum-dev.ud.conllu.gz"), map(to_universal, trees))
    assert scores.uas > 91.8 and scores.las > 88.4


def run(*arguments: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=text)


SLEPT = (
    "( (S (NP-SBJ-1 (PRP She)) (VP (VBD slept) (NP-TMP (NN today)) (NP (-NONE- *T*-1))) (-RRB- -RRB-)) )\n"
)
ROWS = """\
# sent_id = 1
# text = She slept today )
1	She	_	PRON	PRP	_	2	nsubj	_	_
2	slept	_	VERB	VBD	_	0	root	_	_
3	today	_	NOUN	NN	_	2	obl:unmarked	_	_
4	)	_	PUNCT	-RRB-	_	2	punct	_	_

"""


def test_convert_writes_conllu(tmp_path: Path) -> None:
    source, target = tmp_path / "a.mrg", tmp_path / "b.conllu"
    source.write_text(SLEPT)
    done = run("convert", "--to", "ud", source, target)
    assert (done.exit_code, done.output) == (0, "")
    assert target.read_text() == ROWS
    [dtree] = read_conllu(target)
    assert format_conllu(dtree) == ROWS and dtree.heads == (2, 0, 2, 2)
    assert run("convert", "--to", "ud", "-", "-", text=SLEPT).stdout == ROWS


def test_what_conllu_said_stays(tmp_path: Path) -> None:
    source = tmp_path / "a.trees.conllu"
    source.write_text(
        "# sent_id = s1\n# text = She won't.\n"
        "# constituency = (ROOT (S (NP (PRP She)) (VP (MD wo) (RB n't)) (. .)))\n"
        "1\tShe\tshe\tPRON\tPRP\tCase=Nom\t0\tX\t0:X\t_\n"
        "2-3\twon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "2\two\twill\tVERB\tMD\t_\t1\tX\t1:X\t_\n3\tn't\tnot\tPART\tRB\t_\t1\tX\t1:X\t_\n"
        "3.1\tgo\t_\t_\t_\t_\t_\t_\t0:X\t_\n4\t.\t.\tPUNCT\t.\t_\t1\tX\t1:X\t_\n\n"
    )
    done = run("convert", source, "-", "--to", "ud")
    assert done.stdout == (
        "# sent_id = s1\n# text = She won't.\n"
        "1\tShe\tshe\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\t_\n"
        "2-3\twon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "2\two\twill\tVERB\tMD\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_\n"
        "4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
    )
    assert "left out: 4 dependencies, 1 empty node, 5 enhanced dependencies" in done.stderr


def test_traces_alone_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.mrg"
    source.write_text("(S (NP (-NONE- *)))\n")
    done = run("convert", source, "-", "--to", "ud")
    assert isinstance(done.exception, FormatError)
    assert (done.exception.file, done.exception.sentence) == (str(source), 1)


def test_trees_in_python() -> None:
    dtree = d2c.Tree.from_string(SLEPT).to_ud()
    assert str(dtree) == format_conllu(dtree) == "".join(ROWS.splitlines(keepends=True)[2:])
    assert dtree.upos == ("PRON", "VERB", "NOUN", "PUNCT") and dtree.xpos == ("PRP", "VBD", "NN", "-RRB-")
    assert (dtree.heads, dtree.labels) == ((2, 0, 2, 2), ("nsubj", "root", "obl:unmarked", "punct"))
    assert dtree.feats is None


def test_features_of_the_tree_are_there() -> None:
    ctree = parse_bracket("(S (NP (PRP She)) (VP (VBD slept)))")
    tokens = replace(ctree.tokens, morphs=("Case=Nom", "Tense=Past"))
    assert to_universal(replace(ctree, tokens=tokens)).feats == ("Case=Nom", "Tense=Past")


# A sentence of JSON lines: words that the text has otherwise, some without a blank behind them
SAID = {
    "text": "“Don’t ask”,\n said (the)  $5…",
    "tokens": ["``", "Do", "n't", "ask", "''", ",", "said", "(", "the", ")", "$", "5", "..."],
    "tags": ["``", "VBP", "RB", "VB", "''", ",", "VBD", "-LRB-", "DT", "-RRB-", "$", "CD", "."],
    "spans": [{"label": "S", "start": 0, "end": 13}],
    "sentence_id": "s7",
}
FORMS = ["“", "Do", "n’t", "ask", "”", ",", "said", "(", "the", ")", "$", "5", "…"]
CLOSE = {0, 1, 3, 4, 7, 8, 10, 11}  # words without a blank behind them


@pytest.mark.parametrize("offsets", [True, False])
def test_words_of_a_text_are_as_they_stand_there(tmp_path: Path, offsets: bool) -> None:
    """By the text, with which offsets come."""
    places = [[0, 1], [1, 3], [3, 6], [7, 10], [10, 11], [11, 12], [14, 18], [19, 20], [20, 23], [23, 24]]
    places += [[26, 27], [27, 28], [28, 29]]
    assert [str(SAID["text"])[a:b] for a, b in places] == FORMS
    lines, target = tmp_path / "a.jsonl", tmp_path / "a.conllu"
    lines.write_text(json.dumps(SAID | ({"offsets": places} if offsets else {})))
    assert run("convert", "--to", "ud", lines, target).exit_code == 0
    (sentence,) = conllu.parse(target.read_text())
    assert sentence.metadata == {"sent_id": "s7", "text": "“Don’t ask”, said (the) $5…"}
    assert [word["form"] for word in sentence] == FORMS
    assert {i for i, word in enumerate(sentence) if word["misc"] == {"SpaceAfter": "No"}} == CLOSE
    blanks = ["" if i in CLOSE else " " for i in range(len(FORMS))]
    joined = "".join(form + blank for form, blank in zip(FORMS, blanks, strict=True))
    assert joined.strip() == sentence.metadata["text"]
    if offsets:  # without them there is no text in Python
        tree = next(d2c.read(lines, head_rules="collins"))
        assert [*conllu.parse(str(tree.to_ud()))[0]] == [*sentence] and [*tree.words] == SAID["tokens"]


def test_words_that_a_text_lacks_stay(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    for text in ("Other words.", "“Don’t ask”, said (the) $5… and more", "“Don’t"):
        lines.write_text(json.dumps(SAID | {"text": text}))
        (sentence,) = conllu.parse(run("convert", "--to", "ud", lines, "-").stdout)
        assert [word["form"] for word in sentence] == SAID["tokens"]
        assert sentence.metadata["text"] == text and not any(word["misc"] for word in sentence)


@given(
    st.lists(st.sampled_from(["a", "``", "''", "'", "...", "((", "n't", "x\u00a0y"]), min_size=1), st.data()
)
def test_a_text_is_its_words_again(forms: list[str], data: st.DataObject) -> None:
    """Whatever stands between words, or instead of them."""
    written = {"``": ["``", '"', "“", "„"], "''": ["''", '"', "”"], "'": ["'", "’"], "...": ["...", "…"]}
    written |= {"((": ["((", "（（"], "n't": ["n't", "n’t"], "x\u00a0y": ["x\u00a0y", "x y"]}
    shown = [data.draw(st.sampled_from(written.get(form, [form]))) for form in forms]
    gaps = [data.draw(st.sampled_from([" ", "\n", "\u00a0 "])) for _ in forms[1:]]
    text = "".join(word + gap for word, gap in zip(shown, (*gaps, ""), strict=True))
    found = in_text(forms, text)
    assert found == [(word.replace("\u00a0", " "), True) for word in shown]


GERMAN = "(S (NP (ART Die) (NN Katze)) (VVFIN schlief) ($. .))\n"
CHINESE = "(IP (NP (PN 他)) (VP (VV 走)))\n"


@pytest.mark.parametrize("tree", [GERMAN, CHINESE, GERMAN * 100])
def test_trees_of_other_treebanks_are_refused(tmp_path: Path, tree: str) -> None:
    source, target = tmp_path / "a.mrg", tmp_path / "a.conllu"
    source.write_text(tree)
    done = run("convert", "--to", "ud", source, target)
    assert isinstance(done.exception, FormatError) and not target.exists()
    told = re.fullmatch(
        rf"{source}: ([\d,]+) of ([\d,]+) words have tags .* lacks \((.*)\); .*", str(done.exception)
    )
    assert told and int(told[1]) / int(told[2]) in (0.75, 1) and told[3] in ("$., ART, VVFIN", "PN, VV")
    assert int(told[2]) <= 100
    assert run("convert", "--to", "ud", source, "-").stdout == ""
    with pytest.raises(ValueError, match=r"of \d words have tags that the Penn Treebank lacks"):
        d2c.Tree.from_string(tree.splitlines()[0]).to_ud()


def test_a_few_other_tags_are_counted_by_file(tmp_path: Path) -> None:
    one, two = tmp_path / "1.mrg", tmp_path / "2.mrg"
    one.write_text("(S (NP (PRP She)) (VP (VBD slept)))\n" * 60 + CHINESE)
    two.write_text("(NP (FW de) (FW facto))\n(NP (NN x) (NN y) (NNS-4 z))\n")
    done = run("convert", "--to", "ud", one, two, "-")
    odd = ": UPOS is X there, and relations may be wrong\n"
    assert done.exit_code == 0 and done.stderr == (
        f"{one}: 2 of 122 words have tags that the Penn Treebank lacks (PN, VV){odd}"
        f"{two}: 1 of 5 words has a tag that the Penn Treebank lacks (NNS-4){odd}"
    )
    assert done.stdout.count("\tX\t") == 5


def test_udtools_finds_the_format_valid(tmp_path: Path) -> None:
    udtools = pytest.importorskip("udtools")
    path = tmp_path / "x.conllu"
    path.write_text("".join(f"(TOP {tree})\n" for tree in LINES[::2]))
    assert run("convert", "--to", "ud", path, path, "--format", "brackets").exit_code == 0
    (tmp_path / "x.jsonl").write_text(json.dumps(SAID))
    path.write_text(path.read_text() + run("convert", "--to", "ud", tmp_path / "x.jsonl", "-").stdout)
    found = udtools.Validator(lang="en", level=2, output=None).validate_files([str(path)])
    assert found.passed()
