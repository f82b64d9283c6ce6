"""Pretrained encoders (BERT and its kind) in Stanza's networks: loading, long sentences, files.

Stanza takes a transformer and its tokenizer as `transformers` has them. With sentences of more pieces than
the transformer has positions, it cuts the whole batch, leaves the sentence out, or fails, depending on the
transformer's name. So Stanza sees it through `Encoder`, which takes sentences of any length. Longer ones go
through in windows that overlap by half: each piece has the vectors of the window that shows more around it.
In training some of the pieces are hidden from the transformer.

A model keeps the fine-tuned encoder whole (`d2c.dparsers.graph.encoder_file`): to load it, nothing is
downloaded or unpickled.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from d2c.base.errors import ModelError, needing
from d2c.base.model_files import read_json
from d2c.dparsers.graph.directory import WEIGHTS
from d2c.dparsers.graph.encoder_file import (
    check_files,
    check_heads,
    packed,
    read_tensors,
    try_tokenizer,
    unpacked,
    window_of,
    windows,
)
from d2c.protocols.directories import loading
from d2c.protocols.settings import FINETUNE

NAME = "encoder"  # the name that Stanza is told: it looks for `bart` and `xlnet` even in paths

# Kinds of encoders with a mark before and after the sentence, whose code is in `transformers`.
KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "albert", "mpnet")
_FUSED, _PLAIN = "sdpa", "eager"  # attention; always given, so that no file can name code for it
_HAS_PLAIN_ALONE = ("mpnet",)
_HIDDEN = 0.15  # of the pieces in training: the words of a small treebank are soon known by heart
# The settings of dropout on attention weights, which is off: it takes half the time of attention on a CPU.
_ATTENTION_DROPOUTS = "attention_probs_dropout_prob", "attention_dropout"
_PRODUCTS_OF_HALVES = "amx_bf16", "avx512_bf16"  # torch's names of what CPUs can do


class States(NamedTuple):
    """The part of a transformer's output that Stanza reads: after each layer [sentences, pieces, size]."""

    hidden_states: tuple[Tensor, ...]


class Encoder(nn.Module):
    """A transformer for sentences of any number of pieces, called as Stanza calls transformers.

    window: pieces that the transformer takes at once, with the marks around them
    mask:   id of the piece in place of a hidden one, as in the transformer's own training; None: it has none
    marks:  ids of pieces that are no text, and never hidden
    """

    _hf_peft_config_loaded = False  # Stanza asks for it

    def __init__(self, transformer: nn.Module, window: int, mask: int | None, marks: Sequence[int]) -> None:
        super().__init__()
        self.transformer, self.window, self.mask, self.marks = transformer, window, mask, marks

    def train(self, mode: bool = True) -> Self:
        """Set the mode. On a CPU, training uses plain attention, since the gradient of fused attention takes
        four times as long."""
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
        """Return the number of layers, that of the pieces' own vectors included."""
        return int(self.config.num_hidden_layers) + 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor, output_hidden_states: bool = True) -> States:
        """Return vectors of all pieces; ids, mask: [sentences, pieces], the mask 0 for padding."""
        ids, mask, back = self._hidden(input_ids), attention_mask, None
        if ids.shape[1] > self.window:
            cut = windows(attention_mask.sum(1).tolist(), self.window)
            rows, columns, *back = (torch.from_numpy(part).to(ids.device) for part in (*cut[:2], *cut[2]))
            ids, mask = ids[rows.clamp(min=0), columns], (rows >= 0).long()
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=multiplies_halves(ids.device)):
            states = self.transformer(ids, attention_mask=mask, output_hidden_states=True).hidden_states
        states = tuple(state.float() for state in states)
        return States(states if back is None else tuple(state[*back] for state in states))

    def _hidden(self, ids: Tensor) -> Tensor:
        """Return pieces, in training with the mask in place of some.

        Devlin et al., BERT (NAACL 2019), section 3.1; there hidden pieces are predicted, here tags and trees.
        """
        if not self.training or self.mask is None:
            return ids
        text = ~torch.isin(ids, torch.tensor(self.marks, device=ids.device))
        drawn = torch.rand(ids.shape, device=ids.device) < _HIDDEN
        return ids.masked_fill(text & drawn, self.mask)


def multiplies_halves(device: torch.device) -> bool:
    """Return whether the device multiplies matrices of bfloat16 faster, as some CPUs do.

    An H100 took more than three times as long for a step in bfloat16 (MiniLM; all batches have other sizes).
    """
    if device.type != "cpu":
        return False
    abilities = torch.cpu.get_capabilities()
    return any(abilities.get(name) for name in _PRODUCTS_OF_HALVES)


def said_of(source: str | None) -> dict[str, str]:
    """Return the settings that name a model's encoder, if any; a directory gives its last part."""
    if source is None:
        return {}
    name = Path(source).resolve().name if Path(source).is_dir() else source
    return {"transformer": name, "preset": FINETUNE}


def load_encoder(source: str | Path) -> tuple[Encoder, Any]:
    """Load an encoder and its tokenizer; if `source` is no directory, it is downloaded. Raises ModelError."""
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
        tokenizer.backend_tokenizer.no_truncation()  # else its file would depend on its last call
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.save_pretrained(directory)
        tokenizer.model_max_length = unlimited
        from safetensors.numpy import save_file

        weights = {name: tensor.cpu().numpy() for name, tensor in encoder.transformer.state_dict().items()}
        save_file(packed(weights), directory / WEIGHTS)
        (directory / WEIGHTS).chmod((directory / "config.json").stat().st_mode)  # else for its owner alone


def read_encoder(directory: Path) -> tuple[Encoder, Any]:
    """Return what `save_encoder` wrote. Raises ModelError.

    Sizes are compared with those of the weights in the file before a network is built, which the library's
    own `from_pretrained` does not do.
    """
    settings = read_json(directory / "config.json")
    check_files(directory)
    with _transformers(directory) as hf, loading(directory):
        kind = settings.pop("model_type")
        _check_kind(directory, kind)
        settings.pop("num_labels", None)  # a classifier's: a name would be made for each, however many
        config = hf.AutoConfig.for_model(kind, **settings)
        arrays = unpacked(read_tensors(directory / WEIGHTS))
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        check_heads(config.hidden_size, config.num_attention_heads)
        if config.num_hidden_layers > len(weights):
            raise ValueError("says more layers than it has")
        with warnings.catch_warnings(), torch.device("meta"):
            warnings.simplefilter("ignore")  # about layers of no size, which have no numbers
            model = _of_transformers(hf, config)
        if {name: tensor.shape for name, tensor in model.state_dict().items()} != {
            name: tensor.shape for name, tensor in weights.items()
        }:
            raise ValueError("the weights are of another shape")
        model = _of_transformers(hf, config)  # once more: it has numbers besides its weights
        model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, assign=True)
        tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(directory, local_files_only=True)
        return _ready(model, tokenizer)


def _of_transformers(hf: Any, config: Any) -> Any:
    """Return a transformer of this configuration, as the package `transformers` builds it."""
    attention = _attention(config.model_type)
    return hf.AutoModel.from_config(config, attn_implementation=attention, dtype=torch.float32)


def _ready(model: nn.Module, tokenizer: Any) -> tuple[Encoder, Any]:
    config: Any = model.config
    if not tokenizer.is_fast or tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise ValueError("its tokenizer does not mark the ends of a sentence, or is none in tokenizer.json")
    try_tokenizer(tokenizer.backend_tokenizer, config.vocab_size)
    window = window_of(config, tokenizer.model_max_length)
    tokenizer.model_max_length = 1 << 60  # so that Stanza cuts nothing
    return Encoder(model, window, tokenizer.mask_token_id, tokenizer.all_special_ids), tokenizer


def _attention(kind: str) -> str:
    """Return the fastest attention that `transformers` has for a kind of encoder."""
    return _PLAIN if kind in _HAS_PLAIN_ALONE else _FUSED


def _check_kind(source: str | Path, kind: str) -> None:
    if kind not in KINDS:
        raise ModelError(f"{source}: is of the kind {kind}; encoders are {', '.join(KINDS)}")


@contextmanager
def _transformers(source: str | Path) -> Iterator[Any]:
    """Yield the package `transformers`, silenced; turn what it raises into a ModelError."""
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
