"""Constituents of spaCy's spans and tokens: checked against the tree that was stored."""

from __future__ import annotations

from dataclasses import replace

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span, Token

from d2c.plugins.spacy.attributes import NonConstituentException, register, store
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.unaries import strip_unaries
from tests.strategies import ctrees

register()
VOCAB = spacy.blank("en").vocab
TREE = parse_bracket("(TOP (S (NP (PRP They)) (VP (VBD saw) (S (NP (DT the) (NN cat)))) (. .)))")
OTHER = parse_bracket("(TOP (FRAG (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-))))")


def document(ctrees: list[CTree], blanks: set[int] | None = None) -> Doc:
    """The sentences of trees, with a token of blanks after each number of tokens in `blanks`."""
    forms: list[str] = []
    tags: list[str] = []
    starts: list[bool | int | None] = []
    words: list[list[int]] = []
    for ctree in ctrees:
        words.append([])
        for i, (form, tag) in enumerate(zip(ctree.tokens.forms, ctree.tokens.tags, strict=True)):
            words[-1].append(len(forms))
            forms.append(form)
            tags.append(tag)
            starts.append(i == 0)
            if len(forms) in (blanks or ()):
                forms.append("\n")
                tags.append("_SP")
                starts.append(False)
    doc = Doc(VOCAB, forms, tags=tags, sent_starts=starts)
    for sentence, tokens, ctree in zip(doc.sents, words, ctrees, strict=True):
        store(sentence, tokens, ctree)
    return doc


def span_of(doc: Doc, text: str) -> Span:
    start = doc.text.index(text)
    found = doc.char_span(start, start + len(text))
    assert found is not None
    return found


def test_an_example() -> None:
    doc = document([TREE, OTHER])
    first, second = doc.sents
    assert first._.parse_string == "(S (NP (PRP They)) (VP (VBD saw) (S (NP (DT the) (NN cat)))) (. .))"
    assert second._.parse_string == "(FRAG (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))"
    assert [span.text for span in first._.constituents] == [
        "They saw the cat .",
        "They",
        "saw the cat",
        "saw",
        "the cat",
        "the",
        "cat",
        ".",
    ]
    assert [span.text for span in first._.children] == ["They", "saw the cat", "."]
    cat = span_of(doc, "the cat")
    assert cat._.labels == ("S", "NP")
    assert cat._.parse_string == "(S (NP (DT the) (NN cat)))"
    assert cat._.parent.text == "saw the cat"
    assert cat._.parent._.parent._.parent is None
    assert second._.labels == ("FRAG", "NP") and second._.parent is None


def test_tokens_are_spans_of_one_token() -> None:
    doc = document([TREE])
    assert doc[0]._.labels == ("NP",)
    assert doc[0]._.parse_string == "(NP (PRP They))"
    assert doc[0]._.parent.text == doc.text.strip()
    assert doc[1]._.labels == ()
    assert doc[1]._.parse_string == "(VBD saw)"
    assert [span.text for span in doc[1]._.constituents] == ["saw"]
    assert list(doc[1]._.children) == []


@pytest.mark.parametrize(("start", "end"), [(0, 2), (1, 3), (3, 6), (2, 2), (5, 5), (0, 8)])
def test_other_spans_are_no_constituents(start: int, end: int) -> None:
    doc = document([TREE, OTHER])
    for name in ("labels", "parse_string", "parent"):
        with pytest.raises(NonConstituentException, match="Span is not a constituent"):
            doc[start:end]._.get(name)
    for name in ("constituents", "children"):
        with pytest.raises(NonConstituentException):
            list(doc[start:end]._.get(name))


def test_tokens_of_blanks_are_in_no_tree() -> None:
    doc = document([TREE, OTHER], {2, 5})
    assert [token.is_space for token in doc] == [i in (2, 5) for i in range(len(doc))]
    first, second = doc.sents
    assert first.text == "They saw \n the cat \n ."
    assert first._.parse_string == "(S (NP (PRP They)) (VP (VBD saw) (S (NP (DT the) (NN cat)))) (. .))"
    assert doc[2:5]._.labels == ("S", "NP")
    assert [(span.start, span.end) for span in first._.children] == [(0, 1), (1, 5), (6, 7)]
    assert without_words(doc[2]) and without_words(doc[2:3])


def without_words(part: Span | Token) -> bool:
    """Whether nothing is known of a part of a document, and no error raised."""
    known = part._.labels, part._.parse_string, part._.parent, *part._.constituents, *part._.children
    return known == ((), "", None)


def test_parts_of_nothing_but_blanks() -> None:
    doc = document([TREE, OTHER], {5, 8})
    blanks = Doc(VOCAB, [" ", "\n"], sent_starts=[True, False])
    joined = Doc.from_docs([blanks, doc, blanks])
    assert [without_words(sentence) for sentence in joined.sents] == [True, False, False, True]
    assert without_words(Doc(VOCAB)[:])


def test_sentences_that_were_not_parsed() -> None:
    doc = Doc(VOCAB, ["They", "saw"], sent_starts=[True, False])
    with pytest.raises(ValueError, match="this sentence has no constituents"):
        _ = doc[:]._.labels


def test_tokens_that_changed() -> None:
    for split in (False, True):
        doc = document([TREE, OTHER], {8})
        with doc.retokenize() as retokenizer:
            if split:
                retokenizer.split(doc[3], ["c", "at"], heads=[doc[1], doc[1]])
            else:
                retokenizer.merge(doc[2:4])
        with pytest.raises(ValueError, match="the tokens of this sentence have changed since it was parsed"):
            _ = doc[0]._.labels
        assert [*doc.sents][1]._.labels == ("FRAG", "NP")


@given(st.lists(ctrees(gaps=False), min_size=1, max_size=3), st.sets(st.integers(1, 12)))
def test_any_tree(trees: list[CTree], blanks: set[int]) -> None:
    for sentence, ctree in zip(document(trees, blanks).sents, trees, strict=True):
        words = [token for token in sentence if not token.is_space]
        unaryless, chains = strip_unaries(ctree)
        yields, parents = unaryless.yields(), unaryless.parents()
        spans = [sentence.doc[words[y[0]].i : words[y[-1]].i + 1] for y in yields]
        assert sentence._.parse_string == format_bracket(replace(ctree, top=None))
        found = [*sentence._.constituents]
        assert set(found) == set(spans) and len(found) == len(spans)
        assert [(s.start, -s.end) for s in found] == sorted((s.start, -s.end) for s in spans)
        n = len(words)
        for node, span in enumerate(spans):
            own = (unaryless.labels[node - n],) if node >= n else ()
            assert span._.labels == (*chains[node], *own)
            assert span._.parent == (None if parents[node] < 0 else spans[parents[node]])
            kids = unaryless.children[node - n] if node >= n else ()
            assert [*span._.children] == [spans[kid] for kid in kids]


def attributes(doc: Doc) -> list[object]:
    return [
        (span.start, span.end, span._.labels, span._.parse_string)
        for sentence in doc.sents
        for span in sentence._.constituents
    ]


def test_constituents_go_where_documents_go() -> None:
    doc = document([TREE, OTHER], {1})
    expected = attributes(doc)
    copied = Doc(VOCAB).from_bytes(doc.to_bytes())
    assert attributes(copied) == expected
    assert copied.user_data == doc.user_data
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (binned,) = DocBin().from_bytes(stored).get_docs(VOCAB)
    assert attributes(binned) == expected
    assert attributes(doc.copy()) == expected
    joined = Doc.from_docs([doc, copied])
    assert [s._.parse_string for s in joined.sents] == [s._.parse_string for s in doc.sents] * 2
    cut = [*doc.sents][1].as_doc(copy_user_data=True)
    assert cut[:]._.parse_string == "(FRAG (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))"


def test_what_is_stored_is_small() -> None:
    doc = document([TREE])
    data = spacy.util.srsly.msgpack_dumps([*doc.user_data.values()])
    assert len(data) == 39


def test_deep_trees() -> None:
    deep = CTree(OTHER.tokens, ("X", *["Y"] * 3000), ((0, 1, 2), *[(k,) for k in range(3, 3003)]))
    (sentence,) = document([deep]).sents
    assert len(sentence._.labels) == 3001
    assert sentence._.parse_string.count("(Y ") == 3000
