"""What the `tokenizer.json` of an encoder may contain: components that the tokenisers of
`d2c.dparsers.stanza.encoder.KINDS` have.

Those of the library `tokenizers` can do much more: rewrite a letter into a thousand, split by any regular
expression. Those here read a text in linear time and make a limited number of pieces of a letter. They have
the library's names of components and fields; fields that only say how pieces become text again are left out.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Annotated, Literal

from msgspec import Meta, Struct

_MOST_SPECIAL = 1_000  # special pieces: an encoder has five, some have a hundred unused ones
_LONGEST = 64  # characters of a special piece, bytes of the text that replaces a letter; NFKC has 33
_MOST_LETTERS = 100  # of a word that is cut, in quadratic time; longer words are unknown
_MOST_PARTS = 10  # of a sequence
_MOST_RULES = 1 << 20  # characters of rules for letters, in base64; XLM-RoBERTa has 316,720

Text = Annotated[str, Meta(max_length=_LONGEST)]


class Component(Struct, tag_field="type", tag=True):
    """A component; the library calls it as its class is called, or as `tag` says."""


class BertNormalizer(Component):
    """May lowercase letters, strip accents, and put blanks around Chinese characters."""


class NFKD(Component):
    """Unicode's compatibility decomposition."""


class StripAccents(Component):
    """Strips accents."""


class Lowercase(Component):
    """Lowercases letters."""


class Replace(Component):
    """Replaces quotation marks or blanks by one; these tokenisers have no other expressions."""

    pattern: dict[Literal["Regex", "String"], Literal[" {2,}", "``", "''"]]
    content: Literal['"', " ", "▁"]


class Precompiled(Component):
    """SentencePiece's rules for letters: 4 bytes with the size of a trie, the trie, and what letters become,
    with a zero byte behind each."""

    precompiled_charsmap: Annotated[str, Meta(max_length=_MOST_RULES)]

    def __post_init__(self) -> None:
        rules = b64decode(self.precompiled_charsmap, validate=True)
        begin = 4 + int.from_bytes(rules[:4], "little")
        if begin % 4 or begin > len(rules):  # with these the library would end the process
            raise ValueError("no rules for letters")
        if max(map(len, rules[begin:].split(b"\0"))) > _LONGEST:
            raise ValueError("a letter becomes a long text")


Normalizer = BertNormalizer | NFKD | StripAccents | Lowercase | Replace | Precompiled


class Normalizers(Component, tag="Sequence"):
    """Several normalizers, one after the other."""

    normalizers: Annotated[tuple[Normalizer, ...], Meta(max_length=_MOST_PARTS)]


class BertPreTokenizer(Component):
    """Splits at blanks and around punctuation."""


class ByteLevel(Component):
    """Splits by GPT-2's expression, and writes bytes as letters."""


class WhitespaceSplit(Component):
    """Splits at blanks."""


class Metaspace(Component):
    """Puts a mark in place of blanks."""

    replacement: Literal["▁"]


PreTokenizer = BertPreTokenizer | ByteLevel | WhitespaceSplit | Metaspace


class PreTokenizers(Component, tag="Sequence"):
    """Several pre-tokenizers, one after the other."""

    pretokenizers: Annotated[tuple[PreTokenizer, ...], Meta(max_length=_MOST_PARTS)]


class WordPiece(Component):
    """Takes the longest pieces first."""

    max_input_chars_per_word: Annotated[int, Meta(ge=1, le=_MOST_LETTERS)] = 100


class BPE(Component):
    """Joins pairs of pieces, without dropout."""

    dropout: None = None


class Unigram(Component):
    """Takes the most probable pieces."""


class Special(Struct, frozen=True):
    """A special piece, which stands for itself."""

    content: Text


class Mark(Struct, frozen=True):
    """The piece that a mark in a template is, by its id."""

    ids: Annotated[tuple[int, ...], Meta(max_length=1)]


class Named(Struct, frozen=True):
    """The name of an item in a template: of a mark, or of the sentence (A)."""

    id: Text


Item = dict[Literal["SpecialToken", "Sequence"], Named]


class TemplateProcessing(Component):
    """Puts marks around a sentence, by a template."""

    single: Annotated[tuple[Item, ...], Meta(max_length=_MOST_PARTS)]
    special_tokens: Annotated[dict[Text, Mark], Meta(max_length=_MOST_PARTS)]

    def __post_init__(self) -> None:
        marks = [item["SpecialToken"].id for item in self.single if "SpecialToken" in item]
        if not self.special_tokens.keys() >= {*marks}:  # without one, the library would panic
            raise ValueError("a mark around a sentence is none of the special tokens")


class BertProcessing(Component):
    """Puts BERT's marks around a sentence."""


class RobertaProcessing(Component):
    """Puts RoBERTa's marks around a sentence."""


class WordPieceDecoder(Component, tag="WordPiece"):
    """Joins pieces."""


class TokenizerFile(Struct, frozen=True):
    """The parts of the file that are checked."""

    model: WordPiece | BPE | Unigram
    normalizer: Normalizer | Normalizers | None = None
    pre_tokenizer: PreTokenizer | PreTokenizers | None = None
    post_processor: TemplateProcessing | BertProcessing | RobertaProcessing | None = None
    decoder: WordPieceDecoder | ByteLevel | Metaspace | None = None
    added_tokens: Annotated[tuple[Special, ...], Meta(max_length=_MOST_SPECIAL)] = ()
