"""BERT (Devlin et al., NAACL 2019) in prediction, with weights as `transformers` names them.

That package has one, too, but takes more than a second to import what else it can do. On a CPU the layers
are computed by OpenVINO where it is installed, otherwise by torch.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from d2c.dparsers.stanza.engine import Compute, compiled_layers

# Of a matrix that is multiplied, of which there are so many, or twice, three times ...: for each new size the
# library makes code, and keeps it, which takes a fifth of the time of the whole, and memory.
_ROWS = 64


class States(NamedTuple):
    """The part that Stanza reads of a transformer's output: after each layer [sentences, pieces, size]."""

    hidden_states: tuple[Tensor, ...]


class Bert(nn.Module):
    """BERT without dropout, with GELU and absolute positions.

    config:  as `transformers` has it
    mixture: [N] if it is known, how much each of the last N states counts in their sum, which alone is
             returned in their place
    """

    mixture: Tensor | None = None

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config, size, heads = config, config.hidden_size, config.num_attention_heads
        if heads < 1 or size % heads:
            raise ValueError(f"{heads} heads of attention cannot share vectors of {size}")
        numbers = {"word": config.vocab_size, "position": config.max_position_embeddings}
        tables = {
            f"{name}_embeddings": nn.Embedding(number, size, _weight=torch.empty(number, size))
            for name, number in (numbers | {"token_type": config.type_vocab_size}).items()
        }
        self.embeddings: Any = nn.ModuleDict(tables | {"LayerNorm": _norm(config)})
        layers = [_layer(config) for _ in range(config.num_hidden_layers)]
        self.encoder: Any = nn.ModuleDict({"layer": nn.ModuleList(layers)})
        self.pooler = nn.ModuleDict({"dense": nn.Linear(size, size)})  # of which nothing is read

    def set_attn_implementation(self, name: str) -> None:
        """Do nothing: attention is always the fused one."""

    def forward(self, ids: Tensor, attention_mask: Tensor, output_hidden_states: bool = True) -> States:
        """Return the vectors of pieces; ids, mask: [sentences, pieces], the mask 0 for padding."""
        word, position, token_type, norm = self.embeddings.values()
        first = norm(word(ids) + token_type(torch.zeros_like(ids)) + position.weight[: ids.shape[1]])
        if ids.device.type == "cpu" and self._compiled:
            made = self._compiled(first, attention_mask)
            return States(made if self.mixture is not None else (first, *made))
        states = [functional.pad(first.flatten(0, 1), (0, 0, 0, -ids.numel() % _ROWS))]
        if torch.is_autocast_enabled(ids.device.type):  # else each product would have to round them
            states[0] = states[0].bfloat16()
        mask = None if attention_mask.all() else attention_mask[:, None, None].bool()
        for layer in self.encoder["layer"]:
            states.append(_after(layer, states[-1], ids.shape, mask, self.config.num_attention_heads))
        if self.mixture is not None:
            last = zip(self.mixture, states[-len(self.mixture) :], strict=True)
            states = [sum((share * state.float() for share, state in last), torch.zeros(()))]
        return States(tuple(rows[: ids.numel()].view(*ids.shape, -1) for rows in states))

    @cached_property
    def _compiled(self) -> Compute | None:
        """Return what computes the layers in place of torch, in bfloat16 where torch would."""
        halves = torch.is_autocast_enabled("cpu")
        return compiled_layers(self.config, self.state_dict(), halves, self.mixture)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has, perhaps in another process, which compiles the layers for itself."""
        return {name: value for name, value in vars(self).items() if name != "_compiled"}


def _norm(config: Any) -> nn.LayerNorm:
    return nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)


def _layer(config: Any) -> nn.ModuleDict:
    size, inner = config.hidden_size, config.intermediate_size
    seen = nn.ModuleDict({name: nn.Linear(size, size) for name in ("query", "key", "value")})
    mixed = nn.ModuleDict({"dense": nn.Linear(size, size), "LayerNorm": _norm(config)})
    return nn.ModuleDict(
        {
            "attention": nn.ModuleDict({"self": seen, "output": mixed}),
            "intermediate": nn.ModuleDict({"dense": nn.Linear(size, inner)}),
            "output": nn.ModuleDict({"dense": nn.Linear(inner, size), "LayerNorm": _norm(config)}),
        }
    )


def _after(layer: Any, rows: Tensor, shape: torch.Size, mask: Tensor | None, heads: int) -> Tensor:
    """Return [rows, size] the states after a layer.

    rows: those before, of pieces [sentences, pieces] of this shape, then padding
    mask: [sentences, 1, 1, pieces] where to look; None: everywhere
    """
    (seen, mixed), pieces = layer["attention"].values(), shape.numel()
    split = (part(rows)[:pieces].unflatten(0, shape).unflatten(2, (heads, -1)) for part in seen.values())
    query, key, value = (states.transpose(1, 2) for states in split)
    found = functional.scaled_dot_product_attention(query, key, value, mask).transpose(1, 2).flatten(2)
    found = functional.pad(found.flatten(0, 1), (0, 0, 0, len(rows) - pieces))
    rows = mixed["LayerNorm"](mixed["dense"](found) + rows)
    inner = functional.gelu(layer["intermediate"]["dense"](rows))
    return layer["output"]["LayerNorm"](layer["output"]["dense"](inner) + rows)  # type: ignore[no-any-return]
