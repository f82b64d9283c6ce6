"""Pretrained encoders (BERT and its kind) in Stanza's networks: loading, long sentences, files.

Stanza takes a transformer and its tokenizer as `transformers` has them. What it does with a sentence of more
pieces than the transformer has positions depends on how that is called: it cuts the whole batch, leaves the
sentence out, or fails. So it sees the transformer through `Encoder`, which takes sentences of any length,
those that are too long in windows that overlap by half: each piece has the vectors of the window that shows
more around it. In training some of the pieces are hidden from the transformer.

A model keeps the fine-tuned encoder whole, in the layout of `transformers` (config.json, tokenizer.json,
model.safetensors), but a byte for each number of a matrix: to load it, nothing is downloaded, nothing
unpickled, and no code run that is not installed. No setting of it can name any.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from d2c.base.errors import ModelError, needing
from d2c.base.model_files import check_file, read_as, read_json
from d2c.dparsers.stanza.bert import Bert, States
from d2c.dparsers.stanza.tokenizer_file import TokenizerFile
from d2c.protocols.directories import loading
from d2c.protocols.settings import FINETUNE

NAME = "encoder"  # what Stanza is told it is called: it looks for `bart` and `xlnet` even in paths
FOLDER = "encoder"  # in a model's directory

# Encoders with a mark before and after the sentence, all of which `transformers` has itself.
KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "albert", "mpnet")
_FUSED, _PLAIN = "sdpa", "eager"  # attention; given always, so that no file can name code for it
_HAS_PLAIN_ALONE = ("mpnet",)
_LONGEST = 512  # pieces in a window: attention takes their square in time
_HIDDEN = 0.15  # of the pieces in training: what a small treebank says of a word is soon known by heart
_MOST_BYTES, _MOST_HEADER = 1 << 33, 1 << 20  # of the weights; of their names, a large encoder has 100 KB
_MOST_OTHER = 1 << 16  # bytes of any other file
_WEIGHTS, _TOKENIZER = "model.safetensors", "tokenizer.json"
_TRIAL, _MOST_PIECES = "It's 5,000 ﷺ é ½ 漢 😀 .", 20  # to try it, and of a letter: NFKC has 18
_SCALE = ":scale"  # after the name of a matrix
_LEAST_SHARE = 0.01  # of a layer's states that a mixture is divided by
_BYTE, _LEAST_SCALE = 127, 1e-30  # the largest number of a byte; for rows of zeros
# Settings of the dropout on weights of attention, half the time of attention on a CPU: there is none.
_ATTENTION_DROPOUTS = "attention_probs_dropout_prob", "attention_dropout"
_PRODUCTS_OF_HALVES = "amx_bf16", "avx512_bf16"  # as torch calls what CPUs can do


class Encoder(nn.Module):
    """A transformer for sentences of any number of pieces, called as Stanza calls transformers.

    window: pieces that it takes at once, with the marks around them
    mask:   the piece that stands for one that is hidden, as in its own training; None: it has none
    marks:  pieces that are no text, and never hidden
    """

    _hf_peft_config_loaded = False  # which Stanza asks for

    def __init__(self, transformer: nn.Module, window: int, mask: int | None, marks: Sequence[int]) -> None:
        super().__init__()
        self.transformer, self.window, self.mask, self.marks = transformer, window, mask, marks

    def train(self, mode: bool = True) -> Self:
        """Train; on a CPU with plain attention, since the fused one's gradient takes four times as long."""
        plain = mode and next(self.parameters()).device.type == "cpu"
        attention = _PLAIN if plain else _attention(self.config.model_type)
        self.transformer.set_attn_implementation(attention)  # type: ignore[operator]
        return super().train(mode)

    @property
    def config(self) -> Any:
        """Return the configuration of the transformer."""
        return self.transformer.config

    @property
    def layers(self) -> int:
        """Return how many layers it has, that of the pieces' own vectors included."""
        return int(self.config.num_hidden_layers) + 1

    def mix(self, by: nn.Linear | None) -> None:
        """Let prediction return the mixture of the last layers' states alone, by Stanza's weights for these.

        Stanza multiplies what it gets by the share of the first of them, so the mixture is divided by that.
        """
        if by is not None and isinstance(self.transformer, Bert):
            shares = by.weight[0].detach() + 1 / by.in_features
            self.transformer.mixture = shares / shares[0] if shares[0].abs() > _LEAST_SHARE else None

    def forward(self, input_ids: Tensor, attention_mask: Tensor, output_hidden_states: bool = True) -> States:
        """Return vectors of all pieces; ids, mask: [sentences, pieces], the mask 0 for padding."""
        ids, mask, back = self._hidden(input_ids), attention_mask, None
        if ids.shape[1] > self.window:
            rows, columns, back = windows(attention_mask.sum(1).tolist(), self.window, ids.device)
            ids, mask = ids[rows.clamp(min=0), columns], (rows >= 0).long()
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=multiplies_halves(ids.device)):
            states = self.transformer(ids, attention_mask=mask, output_hidden_states=True).hidden_states
        states = tuple(state.float() for state in states)
        return States(states if back is None else tuple(state[back] for state in states))

    def _hidden(self, ids: Tensor) -> Tensor:
        """Return pieces, in training with the mask in place of some.

        Devlin et al., "BERT" (NAACL 2019), section 3.1, where it is the task; here tags and trees are.
        """
        if not self.training or self.mask is None:
            return ids
        text = ~torch.isin(ids, torch.tensor(self.marks, device=ids.device))
        drawn = torch.rand(ids.shape, device=ids.device) < _HIDDEN
        return ids.masked_fill(text & drawn, self.mask)


def multiplies_halves(device: torch.device) -> bool:
    """Return whether matrices of bfloat16 are multiplied faster: on CPUs that can do that.

    With them a step took an H100 more than three times as long (MiniLM; all batches have other sizes).
    """
    if device.type != "cpu":
        return False
    abilities = torch.cpu.get_capabilities()
    return any(abilities.get(name) for name in _PRODUCTS_OF_HALVES)


def windows(
    lengths: list[int], size: int, device: torch.device | None = None
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """Say how to cut sentences into windows, and how to join their vectors again.

    lengths: pieces of each sentence, the marks at both ends among them
    size:    of a window at most; each has the sentence's marks around it

    Returns where each place of each window is from, [windows, size] rows (-1: padding) and columns; and for
    each piece of each sentence, [sentences, pieces], window and place there. Linear time.
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
            # Where two overlap, the first half of what they share is the first one's, the rest the second's.
            taken = (begins[i - 1] + inside - begin) // 2 + 1 if i else 0
            for place in range(taken, len(pieces)):
                window_of[-1][pieces[place]], place_of[-1][pieces[place]] = len(rows), place
            padding = size - len(pieces)
            rows.append([sentence] * len(pieces) + [-1] * padding)
            columns.append(pieces + [0] * padding)
    made = [torch.tensor(part, device=device) for part in (rows, columns, window_of, place_of)]
    return made[0], made[1], (made[2], made[3])


def said_of(source: str | None) -> dict[str, str]:
    """Return what a model says of its encoder, if it has one: of a directory its last part."""
    if source is None:
        return {}
    name = Path(source).resolve().name if Path(source).is_dir() else source
    return {"transformer": name, "preset": FINETUNE}


def load_encoder(source: str | Path) -> tuple[Encoder, Any]:
    """Load a pretrained encoder and its tokenizer; what is no directory is downloaded. Raises ModelError."""
    with _transformers(source) as hf:
        options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": Path(source).is_dir()}
        config = hf.AutoConfig.from_pretrained(source, **options)
        _check_kind(source, config.model_type)
        for name in _ATTENTION_DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, 0.0)
        options |= {"config": config, "attn_implementation": _attention(config.model_type)}
        model = hf.AutoModel.from_pretrained(source, dtype=torch.float32, **options)
        tokenizer = hf.AutoTokenizer.from_pretrained(source, add_prefix_space=True, **options)
        return _ready(model, tokenizer)


def save_encoder(encoder: Encoder, tokenizer: Any, directory: Path) -> None:
    """Write an encoder and its tokenizer where `read_encoder` finds them."""
    with _transformers(directory):
        encoder.config.save_pretrained(directory)
        unlimited, tokenizer.model_max_length = tokenizer.model_max_length, encoder.window
        if tokenizer.is_fast:  # else its file depends on how it was called last
            tokenizer.backend_tokenizer.no_truncation()
            tokenizer.backend_tokenizer.no_padding()
        tokenizer.save_pretrained(directory)
        tokenizer.model_max_length = unlimited
        from safetensors.torch import save_file

        save_file(packed(encoder.transformer.state_dict()), directory / _WEIGHTS)
        (directory / _WEIGHTS).chmod((directory / "config.json").stat().st_mode)  # else for its owner alone


def packed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights with a byte, and for each row a scale, in place of the numbers of matrices.

    What is so rounded stays what it is when it is packed again.
    """
    made = dict[str, Tensor]()
    for name, tensor in weights.items():
        if tensor.ndim == 2 and tensor.is_floating_point():
            scale = tensor.abs().amax(dim=1).clamp(min=_LEAST_SCALE) / _BYTE
            made[name + _SCALE] = scale
            tensor = (tensor / scale[:, None]).round().to(torch.int8)
        made[name] = tensor.contiguous()
    return made


def unpacked(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return what `packed` was given, rounded; what it did not pack stays. Raises ValueError."""
    scales = {name: weights.pop(name) for name in [*weights] if name.endswith(_SCALE)}
    for name, scale in scales.items():
        of = name.removesuffix(_SCALE)
        if of not in weights or weights[of].dtype != torch.int8 or scale.shape != weights[of].shape[:1]:
            raise ValueError(f"{name} is the scale of no matrix")
        weights[of] = weights[of].float() * scale[:, None]
    return weights


def read_encoder(directory: Path) -> tuple[Encoder, Any]:
    """Return what `save_encoder` wrote. Raises ModelError.

    Sizes are compared with those of the weights in the file before a network is built, which the library's
    own `from_pretrained` does not do.
    """
    settings, path = read_json(directory / "config.json"), directory / _WEIGHTS
    _check_files(directory)
    with _transformers(directory) as hf, loading(directory):
        from safetensors.torch import load_file

        kind = settings.pop("model_type")
        _check_kind(directory, kind)
        settings.pop("num_labels", None)  # a classifier's: a name is made for each, however many they are
        config = hf.AutoConfig.for_model(kind, **settings)
        weights = unpacked(load_file(path))
        if config.num_hidden_layers > len(weights):
            raise ValueError("says more layers than it has")
        own = kind == "bert" and config.hidden_act == "gelu" and not config.is_decoder
        build = Bert if own else partial(_of_transformers, hf)
        with warnings.catch_warnings(), torch.device("meta"):
            warnings.simplefilter("ignore")  # that a layer of no size has no numbers
            model = build(config)
        if {name: tensor.shape for name, tensor in model.state_dict().items()} != {
            name: tensor.shape for name, tensor in weights.items()
        }:
            raise ValueError("the weights are of another shape")
        if not all(tensor.isfinite().all() for tensor in weights.values()):
            raise ValueError("some of the weights are no numbers")
        if not own:  # that has numbers besides its weights
            model = build(config)
        model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, assign=True)
        tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(directory, local_files_only=True)
        _try(tokenizer, config.vocab_size)
        return _ready(model, tokenizer)


def _check_files(directory: Path) -> None:
    """Raise ModelError unless the tokenizer is one of KINDS, and files are of their sizes."""
    path = directory / _WEIGHTS
    check_file(path, _MOST_BYTES)
    with open(path, "rb") as stream:
        if int.from_bytes(stream.read(8), "little") > _MOST_HEADER:
            raise ModelError(f"{path}: has more than {_MOST_HEADER:,} bytes of names; it is broken")
    read_as(directory / _TOKENIZER, None, TokenizerFile)
    for other in directory.iterdir():
        if other.name not in (_WEIGHTS, _TOKENIZER):
            check_file(other, _MOST_OTHER)


def _try(tokenizer: Any, size: int) -> None:
    """Raise ValueError unless a tokenizer makes some pieces of a sentence, of which there are so many."""
    try:
        pieces = tokenizer(_TRIAL)["input_ids"]
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the library, which is written in Rust
            raise
        raise ValueError(f"its tokenizer fails: {error}") from None
    if max(pieces) >= size:
        raise ValueError("its tokenizer has more pieces than it has vectors")
    if len(pieces) > _MOST_PIECES * len(_TRIAL):
        raise ValueError(f"its tokenizer makes {len(pieces):,} pieces of {len(_TRIAL)} letters")


def _of_transformers(hf: Any, config: Any) -> Any:
    """Return a transformer as that package builds it."""
    attention = _attention(config.model_type)
    return hf.AutoModel.from_config(config, attn_implementation=attention, dtype=torch.float32)


def _ready(model: nn.Module, tokenizer: Any) -> tuple[Encoder, Any]:
    config: Any = model.config
    if not tokenizer.is_fast or tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise ValueError("its tokenizer does not mark the ends of a sentence, or is none in tokenizer.json")
    if max(tokenizer.get_vocab().values(), default=0) >= config.vocab_size:
        raise ValueError("its tokenizer has more pieces than it has vectors")
    # RoBERTa's positions begin after that of the padding.
    positions = config.max_position_embeddings - 1 - max(0, config.pad_token_id or 0)
    window = min(_LONGEST, positions, tokenizer.model_max_length)
    if window < 4:
        raise ValueError(f"takes {window} pieces at once, which are too few")
    tokenizer.model_max_length = 1 << 60  # Stanza cuts nothing
    return Encoder(model, window, tokenizer.mask_token_id, tokenizer.all_special_ids), tokenizer


def _attention(kind: str) -> str:
    """Return the fastest attention that `transformers` has for a kind of encoders."""
    return _PLAIN if kind in _HAS_PLAIN_ALONE else _FUSED


def _check_kind(source: str | Path, kind: str) -> None:
    if kind not in KINDS:
        raise ModelError(f"{source}: is of the kind {kind}; encoders are {', '.join(KINDS)}")


@contextmanager
def _transformers(source: str | Path) -> Iterator[Any]:
    """Yield the package, which says nothing meanwhile; raise as ModelError what it raises."""
    with needing(f"{source}: a transformer", "transformers"):
        import transformers
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with loading(source, "the transformer cannot be used"):
            yield transformers
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
