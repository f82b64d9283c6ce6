"""spaCy's pipelines, which cut text into words and sentences, and annotate words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from d2c.base.errors import ModelError
from d2c.dparsers.pipeline_parser import Annotation
from d2c.dparsers.spacy.training import forgetting
from d2c.protocols.dparser import LONGEST, Word

_LENGTH = 1 << 30  # characters that a pipeline takes at once
_OPENING, _CLOSING, _PARTICLES = frozenset("„«¿¡([「『（〈《"), frozenset("」』）〉》"), frozenset("とっ、")
_MAY_GO_ON = frozenset(".…,\"'“”’»)]")


class SpacyRules:
    """Rules by which a pipeline cuts text; without a component for sentences, it cuts them at full stops."""

    longest = LONGEST

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        nlp.max_length = _LENGTH
        if not {"parser", "senter", "sentencizer"} & {*nlp.pipe_names}:
            nlp.add_pipe("sentencizer")

    def words(self, text: str) -> list[Word]:
        """Return the tokens of a sentence, except those of blanks."""
        with forgetting(self.nlp):
            words = [token for token in self.nlp.make_doc(text) if not token.is_space]
            return [(word.text, word.idx, word.idx + len(word)) for word in words]

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences of a paragraph, except those of blanks."""
        with forgetting(self.nlp):
            cut = [[token for token in sent if not token.is_space] for sent in self.nlp(text).sents]
            spans = [(words[0].idx, words[-1].idx + len(words[-1])) for words in cut if words]
        return spans if "sentencizer" not in self.nlp.pipe_names else [*_mended(text, spans)]


class CutText:
    """A tokenizer for spaCy: its tokens are the words that a function returns, and what is between them."""

    def __init__(self, vocab: Vocab, words: Callable[[str], Iterable[Word]]) -> None:
        self.vocab, self.words = vocab, words

    def __call__(self, text: str) -> Doc:
        """Return the words of a text, and the blanks between them, as tokens."""
        pieces, end = list[str](), 0
        for _, begin, after in self.words(text):
            pieces += [text[end:begin], text[begin:after]]
            end = after
        forms = [piece for piece in (*pieces, text[end:]) if piece]
        return Doc(self.vocab, words=forms, spaces=[False] * len(forms))


def pipeline_of_words(words: Callable[[str], Iterable[Word]]) -> Language:
    """Return a pipeline that takes the words of a text from a function."""
    nlp = spacy.blank("xx")
    nlp.tokenizer = CutText(nlp.vocab, words)
    return nlp


def _mended(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the sentences of spaCy's sentencizer, corrected: marks that open a sentence go with it, not with
    the one before, and a sentence goes on if small letters, a comma, semicolon or Japanese particle follow an
    abbreviation, quotation or parenthesis."""
    held: tuple[int, int] | None = None
    for begin, end in spans:
        if held is not None:
            first, last = held
            while last > first + 1 and text[last - 1] in _OPENING:
                begin = last = last - 1
                while text[last - 1].isspace():
                    last -= 1
            before, follows = text[last - 1], text[begin]
            small = before in _MAY_GO_ON and (follows.islower() or follows in ",;")
            if small or before in _CLOSING and follows in _PARTICLES:
                begin = first
            else:
                yield first, last
        held = begin, end
    if held is not None:
        yield held


class SpacyPipeline(SpacyRules):
    """A pipeline that is installed, or in a directory, and has a parser."""

    def __init__(self, name: str) -> None:
        nlp = spacy.load(name, exclude=["ner", "lemmatizer", "d2c"])  # tagger and parser need none of these
        if "parser" not in nlp.pipe_names:
            raise ModelError(
                f"spacy:{name}: has no parser, only {', '.join(nlp.pipe_names) or 'a tokenizer'}"
            )
        super().__init__(nlp)

    def annotated(self, sentences: Sequence[list[str]]) -> list[Annotation]:
        """Return heads, labels and tags; tags are empty where there is no tagger."""
        with forgetting(self.nlp):
            return [
                Annotation(
                    (
                        tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc),
                        tuple(token.dep_ for token in doc),
                    ),
                    tuple(token.tag_ for token in doc),
                )
                for doc in self.nlp.pipe(self._docs(sentences))
            ]

    def _docs(self, sentences: Sequence[list[str]]) -> Iterator[Doc]:
        for words in sentences:
            yield Doc(self.nlp.vocab, words, sent_starts=[i == 0 for i in range(len(words))])
