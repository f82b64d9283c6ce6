"""What may stand in the `tokenizer.json` of an encoder: components that tokenisers of
`d2c.dparsers.stanza.encoder.KINDS` have.

Those of the tokenizers library can do much more: rewrite a letter into a thousand, split by any regular
expression. What is here reads a text in linear time and makes some pieces of a letter at most. Structs have
the library's names of components and fields; fields that only say how pieces become text again are left out.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Annotated, Literal

from msgspec import Meta, Struct

_MOST_SPECIAL = 1_000  # pieces that stand for themselves: an encoder has five, some a hundred unused ones
_LONGEST = 64  # characters of a special piece, bytes of what another letter becomes; NFKC has 33
_MOST_LETTERS = 100  # of a word that is cut: time is their square; longer ones are unknown
_MOST_PARTS = 10  # of a sequence
_MOST_RULES = 1 << 20  # characters of rules for letters, in base64; of XLM-RoBERTa 316,720

Text = Annotated[str, Meta(max_length=_LONGEST)]


class Component(Struct, tag_field="type", tag=True):
    """One that the library calls as the class is called."""


class BertNormalizer(Component):
    """Small letters, without accents, blanks around Chinese characters."""


class NFKD(Component):
    """Unicode's compatibility decomposition."""


class StripAccents(Component):
    """Letters without accents."""


class Lowercase(Component):
    """Small letters."""


class Replace(Component):
    """Quotation marks or blanks become one: the few expressions that these tokenisers have."""

    pattern: dict[Literal["Regex", "String"], Literal[" {2,}", "``", "''"]]
    content: Literal['"', " ", "▁"]


class Precompiled(Component):
    """SentencePiece's rules for letters: 4 bytes that say the size of a trie, this, and what letters become,
    with a zero byte behind each."""

    precompiled_charsmap: Annotated[str, Meta(max_length=_MOST_RULES)]

    def __post_init__(self) -> None:
        rules = b64decode(self.precompiled_charsmap, validate=True)
        begin = 4 + int.from_bytes(rules[:4], "little")
        if begin % 4 or begin > len(rules):  # at which the library would end the process
            raise ValueError("no rules for letters")
        if max(map(len, rules[begin:].split(b"\0"))) > _LONGEST:
            raise ValueError("a letter becomes a long text")


Normalizer = BertNormalizer | NFKD | StripAccents | Lowercase | Replace | Precompiled


class Normalizers(Component, tag="Sequence"):
    """Several, each after the other."""

    normalizers: Annotated[tuple[Normalizer, ...], Meta(max_length=_MOST_PARTS)]


class BertPreTokenizer(Component):
    """Words and marks apart."""


class ByteLevel(Component):
    """GPT-2's expression, and bytes as letters."""


class WhitespaceSplit(Component):
    """What is between blanks."""


class Metaspace(Component):
    """A mark in place of blanks."""

    replacement: Literal["▁"]


PreTokenizer = BertPreTokenizer | ByteLevel | WhitespaceSplit | Metaspace


class PreTokenizers(Component, tag="Sequence"):
    """Several, each after the other."""

    pretokenizers: Annotated[tuple[PreTokenizer, ...], Meta(max_length=_MOST_PARTS)]


class WordPiece(Component):
    """The longest pieces first."""

    max_input_chars_per_word: Annotated[int, Meta(ge=1, le=_MOST_LETTERS)] = 100


class BPE(Component):
    """Pairs that are joined; nothing is left to chance."""

    dropout: None = None


class Unigram(Component):
    """The most probable pieces."""


class Special(Struct, frozen=True):
    """A piece that stands for itself."""

    content: Text


class Mark(Struct, frozen=True):
    """Which pieces a mark of a template is."""

    ids: Annotated[tuple[int, ...], Meta(max_length=1)]


class Named(Struct, frozen=True):
    """What stands in a template: a mark, or the sentence (A)."""

    id: Text


Item = dict[Literal["SpecialToken", "Sequence"], Named]


class TemplateProcessing(Component):
    """Marks around a sentence."""

    single: Annotated[tuple[Item, ...], Meta(max_length=_MOST_PARTS)]
    special_tokens: Annotated[dict[Text, Mark], Meta(max_length=_MOST_PARTS)]

    def __post_init__(self) -> None:
        marks = [item["SpecialToken"].id for item in self.single if "SpecialToken" in item]
        if not self.special_tokens.keys() >= {*marks}:  # at which the library would panic
            raise ValueError("a mark around a sentence is none of the special tokens")


class BertProcessing(Component):
    """BERT's marks around a sentence."""


class RobertaProcessing(Component):
    """RoBERTa's marks around a sentence."""


class WordPieceDecoder(Component, tag="WordPiece"):
    """Joins pieces."""


class TokenizerFile(Struct, frozen=True):
    """The file."""

    model: WordPiece | BPE | Unigram
    normalizer: Normalizer | Normalizers | None = None
    pre_tokenizer: PreTokenizer | PreTokenizers | None = None
    post_processor: TemplateProcessing | BertProcessing | RobertaProcessing | None = None
    decoder: WordPieceDecoder | ByteLevel | Metaspace | None = None
    added_tokens: Annotated[tuple[Special, ...], Meta(max_length=_MOST_SPECIAL)] = ()
