"""The files of an encoder in a model's directory, in the layout of `transformers`, read without torch.

These are config.json, tokenizer.json and model.safetensors, in which each number of a matrix takes a byte. No
code is run except what is installed; no setting can name other code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from d2c.base.arrays import Longs
from d2c.base.errors import ModelError
from d2c.base.model_files import check_file, read_as
from d2c.dparsers.graph.directory import TOKENIZER, WEIGHTS
from d2c.dparsers.graph.tokenizer_file import TokenizerFile

_LONGEST = 512  # pieces in a window: the time of attention grows with their square
_MOST_BYTES, _MOST_HEADER = 1 << 33, 1 << 20  # of weights; of their names (a large encoder: 100 KB)
_MOST_OTHER = 1 << 16  # bytes of any other file
_TRIAL, _MOST_OF_LETTER = "It's 5,000 ﷺ é ½ 漢 😀 .", 20  # a text to try; pieces of a letter: NFKC makes 18
_SCALE = ":scale"  # after the name of a matrix
_BYTE, _LEAST_SCALE = 127, 1e-30  # the largest number of a byte; for rows of zeros
UNSEEN = "-"  # in place of a word of which a tokenizer makes no pieces


@dataclass(frozen=True, kw_only=True)
class BertConfig:
    """The settings in BERT's config.json that matter here; names are those of `transformers`."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: Annotated[float, Meta(gt=0, lt=1)]
    pad_token_id: int | None = 0

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise ValueError unless arrays [...], packed or not, have the shapes that these settings say."""
        size, inner = self.hidden_size, self.intermediate_size
        check_heads(size, self.num_attention_heads)
        if not 0 < self.num_hidden_layers <= len(arrays):
            raise ValueError("says more layers than it has")
        numbers = {"word": self.vocab_size, "position": self.max_position_embeddings}
        numbers |= {"token_type": self.type_vocab_size}
        shapes = {f"embeddings.{name}_embeddings.weight": (many, size) for name, many in numbers.items()}
        square: dict[str, tuple[int, ...]] = {"weight": (size, size), "bias": (size,)}
        norm: dict[str, tuple[int, ...]] = {"weight": (size,), "bias": (size,)}
        parts = {f"attention.self.{name}": square for name in ("query", "key", "value")}
        parts |= {"attention.output.dense": square, "attention.output.LayerNorm": norm}
        parts |= {"intermediate.dense": {"weight": (inner, size), "bias": (inner,)}}
        parts |= {"output.dense": {"weight": (size, inner), "bias": (size,)}, "output.LayerNorm": norm}
        every = {"embeddings.LayerNorm": norm, "pooler.dense": square}
        for layer in range(self.num_hidden_layers):
            every |= {f"encoder.layer.{layer}.{name}": part for name, part in parts.items()}
        wanted = shapes | {f"{name}.{kind}": of for name, part in every.items() for kind, of in part.items()}
        if wanted != {name: one.shape for name, one in arrays.items() if not name.endswith(_SCALE)}:
            raise ValueError("the weights are of another shape")


def window_of(config: Any, longest: int = _LONGEST) -> int:
    """Return how many pieces an encoder takes at once, `longest` at most. Raises ValueError for too few.

    config: `BertConfig`, or one of `transformers`
    """
    # RoBERTa's positions begin after that of the padding.
    positions: int = config.max_position_embeddings - 1 - max(0, config.pad_token_id or 0)
    window = min(_LONGEST, positions, longest)
    if window < 4:
        raise ValueError(f"takes {window} pieces at once, which are too few")
    return window


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in a file [...], packed or of floating point. Raises ModelError, ValueError."""
    from safetensors.numpy import load_file

    _check_header(path)
    arrays: dict[str, NDArray[Any]] = load_file(path)
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.float16) and name + _SCALE not in arrays:
            raise ValueError(f"the weights {name} are of the type {array.dtype}")
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("some of the weights are no numbers")
    return arrays


def packed(weights: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return weights [...] with a byte in place of each number of a matrix, and a scale for each row.

    Weights that were rounded in this way stay the same when they are packed again.
    """
    made = dict[str, NDArray[Any]]()
    for name, array in weights.items():
        if array.ndim == 2 and np.issubdtype(array.dtype, np.floating):
            scale = np.abs(array).max(axis=1).clip(min=_LEAST_SCALE) / np.float32(_BYTE)
            made[name + _SCALE] = scale
            array = np.rint(array / scale[:, None]).astype(np.int8)
        made[name] = np.ascontiguousarray(array)
    return made


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return what `packed` was given [...], rounded; arrays that are not packed stay. Raises ValueError."""
    weights = {name: array for name, array in arrays.items() if not name.endswith(_SCALE)}
    for name in arrays.keys() - weights.keys():
        scale, of = arrays[name], name.removesuffix(_SCALE)
        if of not in weights or weights[of].dtype != np.int8 or scale.shape != weights[of].shape[:1]:
            raise ValueError(f"{name} is the scale of no matrix")
        with np.errstate(over="ignore"):
            weights[of] = weights[of].astype(np.float32) * scale[:, None]
        if not np.isfinite(weights[of]).all():
            raise ValueError(f"{name} is too large")
    return weights


def _check_header(path: Path) -> None:
    check_file(path, _MOST_BYTES)
    with open(path, "rb") as stream:
        if int.from_bytes(stream.read(8), "little") > _MOST_HEADER:
            raise ModelError(f"{path}: has more than {_MOST_HEADER:,} bytes of names; it is broken")


def check_heads(size: int, heads: int) -> None:
    """Raise ValueError unless vectors of this size can be shared by so many attention heads."""
    if heads < 1 or size % heads:
        raise ValueError(f"{heads} heads of attention cannot share vectors of {size}")


def check_files(directory: Path) -> None:
    """Raise ModelError for a tokenizer that no encoder here can have, and for files that are too large."""
    _check_header(directory / WEIGHTS)
    read_as(directory / TOKENIZER, None, TokenizerFile)
    for other in directory.iterdir():
        if other.name not in (WEIGHTS, TOKENIZER):
            check_file(other, _MOST_OTHER)


def read_tokenizer(directory: Path, size: int) -> Any:
    """Return the tokenizer, an object of the library `tokenizers`. Raises ModelError, and ValueError, also
    for pieces with ids of `size` or more."""
    from tokenizers import Tokenizer

    check_files(directory)
    tokenizer = Tokenizer.from_file(str(directory / TOKENIZER))
    try_tokenizer(tokenizer, size)
    return tokenizer


def try_tokenizer(tokenizer: Any, size: int) -> None:
    """Raise ValueError unless a tokenizer of the library `tokenizers` has only ids below `size`, makes few
    pieces of a text, and marks the ends of a sentence. Truncation and padding are switched off in it."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        pieces, unseen = tokenizer.encode(_TRIAL).ids, tokenizer.encode([UNSEEN], is_pretokenized=True)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the library, which is written in Rust
            raise
        raise ValueError(f"its tokenizer fails: {error}") from None
    if max([*tokenizer.get_vocab().values(), *pieces], default=0) >= size:
        raise ValueError("its tokenizer has more pieces than it has vectors")
    if len(pieces) > _MOST_OF_LETTER * len(_TRIAL):
        raise ValueError(f"its tokenizer makes {len(pieces):,} pieces of {len(_TRIAL)} letters")
    words = unseen.word_ids
    if 0 not in words or words[0] == 0 or words[-1] == 0:
        raise ValueError(f"its tokenizer makes no piece of {UNSEEN}, or does not mark the ends of a sentence")


def windows(lengths: list[int], size: int) -> tuple[Longs, Longs, tuple[Longs, Longs]]:
    """Return how to cut sentences into windows that overlap by half, and how to join their vectors again.

    Each piece has the vectors of the window that shows more around it.

    lengths: numbers of pieces of the sentences, the marks at both ends included
    size:    of a window at most; each has the sentence's marks around it

    Returns where the piece at each place of each window is from, [windows, size] rows (-1: padding) and
    columns; and for each piece of each sentence, [sentences, pieces], its window and place. Linear time.
    """
    inside, longest = size - 2, max(lengths)
    rows, columns, window_of, place_of = (list[list[int]]() for _ in range(4))
    for sentence, length in enumerate(lengths):
        last = max(0, length - 2 - inside)  # the first piece of the last window, marks not counted
        begins = [*range(0, last, max(1, inside // 2)), last]
        window_of.append([len(rows)] * longest)
        place_of.append([0] * longest)
        for i, begin in enumerate(begins):
            pieces = [0, *range(begin + 1, min(begin + inside, length - 2) + 1), length - 1]
            # The first half of the pieces that two windows share is taken from the first one.
            taken = (begins[i - 1] + inside - begin) // 2 + 1 if i else 0
            for place in range(taken, len(pieces)):
                window_of[-1][pieces[place]], place_of[-1][pieces[place]] = len(rows), place
            padding = size - len(pieces)
            rows.append([sentence] * len(pieces) + [-1] * padding)
            columns.append(pieces + [0] * padding)
    made = [np.array(part, np.int64) for part in (rows, columns, window_of, place_of)]
    return made[0], made[1], (made[2], made[3])
