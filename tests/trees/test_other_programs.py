"""Formats of other programs and treebanks, in JSON and XML: CoreNLP, AllenNLP, GENIA, the French Treebank."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree
from d2c.trees.formats.discbracket import format_discbracket
from d2c.trees.formats.registry import format_of, read_treebank
from tests.errors import faulty
from tests.steps import is_linear


def trees(path: Path, text: str | bytes, **options: Any) -> tuple[list[CTree], dict[str, int]]:
    """Write a file, read its trees by what it looks like; return them, and what they do not keep."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    left_out = Counter[str]()
    found = list(read_treebank(path, left_out=left_out, **options))
    return found, dict(+left_out)


def shown(found: list[CTree]) -> list[str]:
    return list(map(format_discbracket, found))


def token(word: str, tag: str, **more: Any) -> dict[str, Any]:
    return {"index": 1, "word": word, "pos": tag, "before": "", "after": " ", **more}


SENTENCE = {
    "index": 0,
    "parse": "(ROOT\n  (S (NP (PRP We)) (VP (VBD met)\n    (PRN (-LRB- -LRB-) (RB twice) (-RRB- -RRB-)))))",
    "basicDependencies": [{"dep": "ROOT", "governor": 0, "dependent": 2}, {"dep": "nsubj"}],
    "enhancedDependencies": [{"dep": "ROOT"}],
    "sentiment": "Neutral",
    "tokens": [
        token("We", "PRP", lemma="we", characterOffsetBegin=0, characterOffsetEnd=2, ner="O"),
        token("met", "VBD", lemma="meet", characterOffsetBegin=3, characterOffsetEnd=6, ner="O"),
        token("-LRB-", "-LRB-", originalText="(", lemma="-lrb-", ner="O"),
        token("twice", "RB", lemma="twice", ner="SET"),
        token("-RRB-", "-RRB-", originalText=")", lemma="-rrb-", ner="O"),
    ],
}
DOCUMENT = {"docId": "a.txt", "sentences": [SENTENCE, SENTENCE], "corefs": {"1": [{"id": 1}, {"id": 2}]}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(DOCUMENT),
        json.dumps(DOCUMENT, indent=2),
        json.dumps([DOCUMENT]),
        json.dumps({**DOCUMENT, "sentences": [SENTENCE]}, indent=1)
        + json.dumps({"sentences": [SENTENCE]})
        + "\n",
    ],
)
def test_json_of_corenlp(tmp_path: Path, text: str) -> None:
    found, left_out = trees(tmp_path / "x.json", text)
    assert (
        shown(found)
        == ["(ROOT (S (NP (PRP 0=We)) (VP (VBD 1=met) (PRN (-LRB- 2=-LRB-) (RB 3=twice) (-RRB- 4=-RRB-)))))"]
        * 2
    )
    assert found[0].tokens.forms == ("We", "met", "(", "twice", ")") and found[0].top == "ROOT"
    assert found[0].tokens.lemmas == ("we", "meet", "-lrb-", "twice", "-rrb-")
    assert found[0].tokens.comments == ("newdoc id = a.txt",) and found[1].tokens.comments == ()
    assert left_out == {
        "text offsets": 4,
        "entity tags": 2,
        "dependencies": 6,
        "sentiments": 2,
        "coreferent mentions": 2,
    }


def test_trees_of_corenlp_whose_brackets_are_not_escaped(tmp_path: Path) -> None:
    words = [token("(", "-LRB-"), token("so", "UH"), token(")", "-RRB-")]
    sentence = {"parse": "(ROOT (X (-LRB- () (UH so) (-RRB- ))))", "tokens": words}
    found, left_out = trees(tmp_path / "x.json", json.dumps({"sentences": [sentence]}))
    assert found[0].tokens.forms == ("(", "so", ")") and not left_out
    words[1]["pos"] = "RB"
    found, left_out = trees(tmp_path / "x.json", json.dumps({"sentences": [sentence]}))
    assert found[0].tokens.tags == ("-LRB-", "UH", "-RRB-") and left_out == {"tags unlike the tree's": 1}
    words[1]["word"] = "l'"
    sentence["parse"] = "(ROOT (X (-LRB- () (UH l') (-RRB- ))))"
    old = json.dumps({"sentences": [sentence]}).replace("l'", "l\\'")  # as CoreNLP 3.5.1 has it
    assert trees(tmp_path / "x.json", old)[0][0].tokens.forms == ("(", "l'", ")")


XML = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet href="CoreNLP-to-HTML.xsl" type="text/xsl"?>
<root>
  <document>
    <docId>a.txt</docId>
    <sentences>
      <sentence id="1" sentimentValue="2" sentiment="Neutral">
        <tokens>
          <token id="1">
            <word>Salt</word>
            <lemma>salt</lemma>
            <CharacterOffsetBegin>0</CharacterOffsetBegin>
            <CharacterOffsetEnd>4</CharacterOffsetEnd>
            <POS>NN</POS>
            <NER>O</NER>
          </token>
          <token id="2"><word>&amp;</word><lemma>&amp;</lemma><POS>CC</POS><NER>ORG</NER></token>
          <token id="3"><word>-RRB-</word><lemma>-rrb-</lemma><POS>-RRB-</POS></token>
        </tokens>
        <parse>(ROOT
  (NP (NN Salt) (CC &amp;) (-RRB- -RRB-))) </parse>
        <dependencies type="basic-dependencies">
          <dep type="root"><governor idx="0">ROOT</governor><dependent idx="1">Salt</dependent></dep>
        </dependencies>
      </sentence>
    </sentences>
    <coreference>
      <coreference>
        <mention representative="true"><sentence>1</sentence><start>1</start><text>Salt</text></mention>
        <mention><sentence>1</sentence><start>1</start><text>It</text></mention>
      </coreference>
    </coreference>
  </document>
</root>
"""


def test_xml_of_corenlp(tmp_path: Path) -> None:
    found, left_out = trees(tmp_path / "x.txt.xml", XML)
    assert shown(found) == ["(ROOT (NP (NN 0=Salt) (CC 1=&) (-RRB- 2=-RRB-)))"]
    assert found[0].tokens.comments == ("newdoc id = a.txt",)
    assert found[0].tokens.forms == ("Salt", "&", ")") and found[0].tokens.lemmas == ("salt", "&", "-rrb-")
    assert left_out == {
        "text offsets": 1,
        "entity tags": 1,
        "dependencies": 1,
        "sentiments": 1,
        "coreferent mentions": 2,
    }


@pytest.mark.parametrize(
    ("text", "sentence", "about"),
    [
        ('{"sentences": [{"tokens": []}]}', 1, "it has no parse; the annotator `parse` of CoreNLP makes one"),
        ('{"sentences": [7]}', 1, "no sentence as CoreNLP writes it"),
        ('{"sentences": [{"tokens": [{"word": 1}], "parse": "(X (A 1))"}]}', 1, "are strings"),
        ('{"sentences": [{"tokens": [{"word": "a"}], "parse": "(X (A a) (B b))"}]}', 1, "has 2 words"),
        ('{"sentences": [{"tokens": [{"word": "a"}], "parse": "(X (A a"}]}', 1, "closing bracket is missing"),
        ('{"sentences": [{"tokens": [{"pos": "A"}], "parse": "(X (A a))"}]}', 1, "word 1 beside the tree"),
        ('{"sentences": [', 1, "malformed JSON (a closing bracket is missing)"),
        ('{"sentences": [}', 1, "malformed JSON (Expecting value)"),
        ('{"sentences": 1}', 1, "an object with `sentences` was expected"),
        ('{"sentences": ' + "[" * 99999 + "]" * 99999 + "}", 1, "malformed JSON (a number is too long"),
    ],
)
def test_errors_of_corenlp(tmp_path: Path, text: str, sentence: int, about: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with faulty(path, 1, sentence, about=about):
        list(read_treebank(path))


ALLEN = {
    "class_probabilities": [[0.25, 0.75], [0.5, 0.5]],
    "spans": [[0, 0], [0, 1]],
    "tokens": ["(", "yes", ")"],
    "pos_tags": ["-LRB-", "UH", "-RRB-"],
    "num_spans": 2,
    "hierplane_tree": {"text": "( yes )", "root": {"word": "( yes )", "nodeType": "X", "children": []}},
    "trees": "(X (-LRB- () (INTJ (UH yes)) (-RRB- )))",
}


def test_json_lines_with_trees(tmp_path: Path) -> None:
    line = json.dumps(ALLEN)
    found, left_out = trees(tmp_path / "x.jsonl", f"{line}\n\n{line}\n")
    assert found[0] == found[1] and found[0].tokens.forms == ("(", "yes", ")") and not left_out
    assert shown(found[:1]) == ["(X (-LRB- 0=-LRB-) (INTJ (UH 1=yes)) (-RRB- 2=-RRB-))"]
    said = f'input 0:  {{"sentence": "( yes )"}}\nprediction:  {line}\n\n'
    found, left_out = trees(tmp_path / "x.json", said, format_name="jsontrees")
    assert len(found) == 1 and left_out == {"lines outside trees": 1}
    with pytest.raises(FormatError, match=":1: sentence 1: 'input 0: "):
        trees(tmp_path / "x.json", said, format_name="jsontrees", strict=True)


def test_keys_of_trees(tmp_path: Path) -> None:
    pair = {
        "gold_label": "neutral",
        "sentence1": "No .",
        "sentence1_binary_parse": "( No . )",
        "sentence1_parse": "(ROOT (INTJ (UH No) (. .)))",
        "sentence2_parse": "(ROOT (INTJ (UH Yes)))",
    }
    found, left_out = trees(tmp_path / "x.jsonl", json.dumps(pair))
    assert shown(found) == ["(ROOT (INTJ (UH 0=No) (. 1=.)))", "(ROOT (INTJ (UH 0=Yes)))"]
    assert left_out == {"JSON fields": 3}
    listed = [
        {"id": "s1", "text": "No  way", "parse_string": "(NP (DT No) (NN way))"},
        {"tree": "(NP (NN way))", "score": -1},
        {"constituency": ["(NP (NN a))", "(NP (NN b))"]},
        {"trees": "(NP (NN c))", "top_k_trees": ["(NP (NN c))", "(NP (NN d))"]},
    ]
    found, left_out = trees(tmp_path / "x.json", json.dumps(listed, indent=2))
    assert [one.tokens.forms[-1] for one in found] == ["way", "way", "a", "b", "c"]
    assert found[0].tokens.comments == ("sent_id = s1", "text = No way")
    assert left_out == {"JSON fields": 1, "further parses": 1}
    found, left_out = trees(tmp_path / "x.json", json.dumps(listed, indent=2), n_best=True)
    assert [one.tokens.forms[-1] for one in found] == ["way", "way", "a", "b", "c", "d"]
    assert left_out == {"JSON fields": 1}


def test_what_is_said_beside_several_trees_is_left_out(tmp_path: Path) -> None:
    pair = {"id": "7", "text": "a b", "tokens": ["a"], "trees": ["(X (A a))", "(X (B b))"]}
    found, left_out = trees(tmp_path / "x.json", json.dumps(pair))
    assert len(found) == 2 and left_out == {"JSON fields": 3}


def test_errors_of_json_lines_with_trees(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"tree": "(A (B b))"}\n{"tree": 7, "x": 1}\n')
    with faulty(path, 2, 2, about="no key of 'tree', 'x' has a tree; known are trees, tree, parse"):
        list(read_treebank(path))
    path.write_text('{"tree": "(A (B b))"}\n{"tree": "(A (B b)"}\n{"tree": "(C (D d))"}\n')
    found = list(read_treebank(path, refuse=lambda _: None))
    assert [one.tokens.forms for one in found] == [("b",), ("d",)]
    path.write_text(
        '{"tree": "(A (B b))"}\n{"tree": "(A\n{"tree": "(C (D d))"}\n{"tree": "(C (D e))"} {"tree'
    )
    faults: list[str] = []
    found = list(read_treebank(path, refuse=lambda error: faults.append(str(error))))
    assert [one.tokens.forms for one in found] == [("b",), ("d",), ("e",)] and len(faults) == 2
    assert faults[0].startswith(f"{path}:2: sentence 2: malformed JSON")
    path.write_text('{"tree": "(S (A \\\\\'x) (B \\x))"}')
    with faulty(path, 1, 1, about="malformed JSON"):
        list(read_treebank(path))
    path.write_text('{"tree": "(S (A a) (B b))", "tokens": ["a", ""]}')
    with faulty(path, 1, 1, about="word 2 beside the tree"):
        list(read_treebank(path))


@pytest.mark.parametrize("read", ["jsontrees", "corenlp"])
def test_json_is_read_in_linear_time(tmp_path: Path, read: str) -> None:
    path = tmp_path / "x.json"

    def work(size: int) -> None:
        path.write_text("[" + ",\n".join(['"' + "\\\\" * 9] * size))
        with pytest.raises(FormatError):
            list(read_treebank(path, read))

    assert is_linear(work, 4000)


GENIA = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE Annotation>
<?xml-stylesheet type="text/css" href="GENIA_tree_bracket.css"?>
<Annotation><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>
<ArticleTitle><sentence id="S1"><cons cat="NP"><tok cat="NN">Salt</tok></cons></sentence></ArticleTitle>
<Abstract><AbstractText><sentence id="S2"><cons cat="S"><cons cat="NP" role="SBJ"><cons cat="NP"><tok
 cat="PRPP">Its</tok> <tok cat="NN">1, 2(OH) salt</tok></cons> <cons cat="SBAR"><cons cat="WHNP" id="i1"><tok
 cat="WDT">that</tok></cons> <cons cat="S"><cons cat="NP" ref="i1" role="SBJ" null="T"></cons><cons cat="VP"
 syn="COOD"><tok cat="VBZ">melts</tok></cons></cons></cons></cons> <tok cat="LRB">(</tok><cons cat="VP"><tok
 cat="VBZ">is</tok> <cons cat="NP" map="i3" null="QSTN"/></cons><tok cat="RRB">)</tok><tok
 cat="PERIOD">.</tok></cons></sentence></AbstractText></Abstract>
</Article></MedlineCitation></PubmedArticle></PubmedArticleSet></Annotation>
"""


def test_genia(tmp_path: Path) -> None:
    path = tmp_path / "7.xml"
    found, left_out = trees(path, GENIA)
    assert shown(found) == [
        "(NP (NN 0=Salt))",
        "(S (NP-SBJ (NP (PRP$ 0=Its) (NN 1=1,\N{NO-BREAK SPACE}2-LRB-OH-RRB-\N{NO-BREAK SPACE}salt)) "
        "(SBAR (WHNP-1 (WDT 2=that)) (S (NP-SBJ (-NONE- 3=*T*-1)) (VP-COOD (VBZ 4=melts))))) (-LRB- 5=-LRB-) "
        "(VP (VBZ 6=is) (NP=3 (-NONE- 7=*?*))) (-RRB- 8=-RRB-) (. 9=.))",
    ]
    assert [one.tokens.comments for one in found] == [("newdoc id = 7", "sent_id = S1"), ("sent_id = S2",)]
    assert not left_out
    _, cleaned = read_treebank(path, clean=True)
    assert cleaned.labels == ("NP", "WHNP", "VP", "S", "SBAR", "NP", "VP", "S")
    assert cleaned.tokens.forms == ("Its", "1, 2(OH) salt", "that", "melts", "(", "is", ")", ".")
    for old, new, about in (
        ('<tok cat="NN">Salt', '<tok cat="NN">', "a word with the tag NN is empty"),
        ('<tok cat="NN">Salt', "<tok>Salt", "S1: the attribute 'cat' is missing"),
        (
            "</cons></sentence></ArticleTitle>",
            "</cons>!two</sentence></ArticleTitle>",
            "stands between elements",
        ),
        (
            "Salt</tok>",
            'Salt<tok cat="NN">lake</tok></tok>',
            "the text 'Salt' stands between elements; there are others in <tok>",
        ),
    ):
        path.write_text(GENIA.replace(old, new, 1))
        with pytest.raises(FormatError, match=about):
            list(read_treebank(path))


FRENCH = """<?xml version="1.0" encoding="ISO-8859-1"?>
<text>
<SENT nb="7" author="A B" date="2001-02-03">
  <NP fct="SUJ">
    <w cat="D" ee="D-def-ms" ei="Dms" lemma="le" mph="ms" subcat="def">Le</w>
    <w cat="N" compound="yes" ee="N-C-ms" lemma="café au lait" mph="ms" subcat="C">
      <w catint="N">café</w> <w catint="P">au</w> <w catint="N">lait</w>
    </w>
  </NP>
  <VN><w cat="V" ee="V--P3s" lemma="tiédir" mph="P3s" subcat="">tiédit</w></VN>
  <PP fct="MOD"><w cat="P" ee="P" lemma="à">au</w>
    <NP><w cat="D" lemma="le" mph="ms" subcat="def"/><w cat="N" lemma="frais">frais</w></NP></PP>
  <w cat="PONCT" lemma="." subcat="S">.</w>
</SENT>
</text>
"""


def test_french_treebank(tmp_path: Path) -> None:
    path = tmp_path / "flmf.xml"
    found, left_out = trees(path, FRENCH.encode("latin-1"))
    assert shown(found) == [
        "(SENT (NP (D 0=Le) (MWN (N 1=café) (P 2=au) (N 3=lait))) (VN (V 4=tiédit)) "
        "(PP (P 5=au) (NP (-NONE- 6=*) (N 7=frais))) (PONCT 8=.))"
    ]
    tokens = found[0].tokens
    assert tokens.lemmas == ("le", "--", "--", "--", "tiédir", "à", "le", "frais", ".")
    assert tokens.morphs is not None and tokens.morphs[0] == "mph=ms|subcat=def"
    assert tokens.morphs[6] == "cat=D|mph=ms|subcat=def"
    assert tokens.comments == ("sent_id = 7", "author = A B", "date = 2001-02-03")
    assert left_out == {"compound lemmas": 1} and found[0].functions is not None
    names = {found[0].label(node): name for node, name in enumerate(found[0].functions) if name}
    assert names == {"NP": "SUJ", "PP": "MOD"}
    (cleaned,) = read_treebank(path, clean=True)
    assert cleaned.tokens.forms == ("Le", "café", "au", "lait", "tiédit", "au", "frais", ".")
    assert cleaned.tokens.lemmas == ("le", "--", "--", "--", "tiédir", "à", "frais", ".")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("corenlp", json.dumps(DOCUMENT)),
        ("corenlpxml", XML),
        ("jsontrees", json.dumps(ALLEN)),
        ("genia", GENIA),
        ("frenchxml", FRENCH),
    ],
)
@given(data=st.data())
def test_damaged_files_give_trees_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str, data: st.DataObject
) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = at + data.draw(st.integers(0, 20))
        text = text[:at] + data.draw(st.text('()<>/{}[]",\\ 0a&', max_size=2)) + text[end:]
    path = tmp_path_factory.mktemp("x") / "x"
    path.write_text(text.replace("ISO-8859-1", "UTF-8"))
    with suppress(FormatError):
        for tree in read_treebank(path, name):
            assert tree.yields()[tree.root] == tuple(range(len(tree.tokens)))


def test_what_files_look_like(tmp_path: Path) -> None:
    """The content decides, whatever a file is called, if its name says nothing else."""
    tiger = '<corpus id="x"><body><s id="s1"><graph root="s1_1"/></s></body></corpus>'
    texts = {
        "corenlp": json.dumps(DOCUMENT),
        "corenlpxml": XML,
        "jsontrees": json.dumps(ALLEN),
        "genia": GENIA,
        "frenchxml": FRENCH,
        "tigerxml": f"<?xml version='1.0'?>{tiger}",
        "alpinoxml": "<alpino><alpino_ds/></alpino>",
        "brackets": "<DOC>\n<S ID=1>\n( (IP (NN a)) )\n</S>",
    }
    for name, text in texts.items():
        for called in ("x", "x.txt", "x.mrg", "x.json" if text[0] == "{" else "x.xml"):
            path = tmp_path / called
            path.write_text("\N{ZERO WIDTH NO-BREAK SPACE}" + text)
            if (name, called) != ("brackets", "x.xml"):
                assert format_of(path) == name, (name, called)
    (tmp_path / "x.export").write_text(tiger)
    assert format_of(tmp_path / "x.export") == "export"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "x.folia.xml",
            '<?xml version="1.0"?>\n<!-- a -->\n<FoLiA xmlns="x"><text/></FoLiA>',
            "is XML with <FoLiA> outermost, which is none of tigerxml, alpinoxml, ",
        ),
        ("x", "<?xml version='1.0'?><TEI/>", "is XML with <TEI> outermost, which is none of tigerxml, "),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        format_of(path)
    assert says in str(error.value) and str(error.value).endswith("; --format says what else it is")


def test_commands_that_read_json_lines_read_trees_in_json(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(ALLEN))
    assert "INTJ" in CliRunner().invoke(cli, ["draw", str(path)], catch_exceptions=False).output
