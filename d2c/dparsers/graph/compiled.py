"""Prediction with a graph parser's network over BERT by OpenVINO, which takes half of torch's time on a CPU.

BERT: Devlin et al., NAACL 2019. The network over it, with a bidirectional LSTM and biaffine scores: Dozat and
Manning, ICLR 2017, in the form of Qi et al., CoNLL 2018, which Stanza has.

The graphs are made from the weights in memory, which takes half a second, and are not written to files. They
compute in one thread, so a forked process needs no other. They compute in bfloat16 if the CPU multiplies it.
The scores of a sentence depend, by rounding, on how far its batch is padded, but not on its other sentences.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats
from d2c.dparsers.graph.batching import PieceBatch
from d2c.dparsers.graph.encoder_file import BertConfig, unpacked
from d2c.dparsers.graph.network_file import PREFIX, NetworkFile, floats
from d2c.dparsers.graph.scores import GraphScores
from d2c.packed.arcs import PackedArcs

# With this module `import openvino` reports to its makers, and writes into the home directory
# (findings/openvino-import.sh); without the module, the import does neither.
_TELEMETRY = "openvino_telemetry"
_ARCS = 128  # arcs whose labels are scored at a time: the arrays of more do not fit into the cache
_GATES = 1, 0, 2, 3  # OpenVINO's LSTM gates, by their places in torch's: forget, input, cell, output


def openvino() -> Any:
    """Return the module `openvino`, imported without its telemetry. Raises ImportError."""
    absent = _TELEMETRY not in sys.modules
    sys.modules.setdefault(_TELEMETRY, None)  # type: ignore[arg-type]
    try:
        return import_module("openvino")
    finally:
        if absent:
            del sys.modules[_TELEMETRY]


def multiplies_halves() -> bool:
    """Return whether the CPU multiplies matrices of bfloat16 by itself, which is faster than in float32."""
    return "BF16" in openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


class CompiledNetwork:
    """The network of a graph parser, computed by OpenVINO.

    file:    that of the network over BERT
    config:  BERT's configuration
    arrays:  BERT's weights, as its file has them
    """

    def __init__(self, file: NetworkFile, config: BertConfig, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.file, self.config, self.arrays = file, config, arrays
        self.names, self.tags = (tuple(file.units(part)[len(PREFIX) :]) for part in ("deprel", "upos"))
        self.has_yields = bool(file.arguments.get("yields"))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, perhaps in another process; it compiles the graphs for itself."""
        return {name: value for name, value in vars(self).items() if name != "_requests"}

    def scores(self, batch: PieceBatch) -> GraphScores:
        """Return the network's scores for a batch."""
        of_arcs, of_labels = self._requests
        columns = [batch.columns[name] for name in self.file.tables]
        of_arcs.infer([*batch[:3], *columns, batch.lengths], share_inputs=True, share_outputs=True)
        found = iter([output.data for output in of_arcs.output_tensors])
        sizes = [n for n in batch.lengths.tolist() if n > 1]
        heads, dependents, tops = next(found), next(found), next(found)
        tables = [table[:n, :n] for table, n in zip(heads, sizes, strict=False)]
        yields, tags = None, list[list[str]]()
        if self.has_yields:
            ends = zip(next(found), next(found), sizes, strict=False)
            yields = [np.stack([first, last])[:, 1:n, 1:n] for first, last, n in ends]
        if self.file.joint:
            best = next(found)[:, :, 0].tolist()
            tags = [[self.tags[tag] for tag in row[1:n]] for row, n in zip(best, sizes, strict=False)]

        def labels(arcs: Sequence[PackedArcs]) -> Floats:
            of = np.repeat(np.arange(len(arcs)), [len(own.heads) for own in arcs])
            words = np.concatenate([own.dependents() for own in arcs]) + 1
            pair = dependents[of, words], tops[of, np.concatenate([own.heads for own in arcs])]
            padding = (0, -len(of) % _ARCS), (0, 0)
            parts = (np.split(np.pad(one, padding), -(-len(of) // _ARCS)) for one in pair)
            logs = [of_labels.infer(part, share_inputs=True)[0] for part in zip(*parts, strict=True)]
            return np.concatenate(logs)[: len(of)]

        return GraphScores(tables, labels, self.names, yields, tags)

    @property
    def compiles(self) -> bool:
        """Return whether OpenVINO can be imported, and has code for the processor."""
        try:
            return bool(self._requests)
        except (ImportError, RuntimeError):
            return False

    @cached_property
    def _requests(self) -> tuple[Any, Any]:
        """Return the requests that compute the scores of arcs, and of labels."""
        hint = "bf16" if multiplies_halves() else "f32"
        options = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": 1}
        graphs = _Graphs(self)
        made = (
            openvino().compile_model(graph, "CPU", options)
            for graph in (graphs.of_arcs(), graphs.of_labels())
        )
        first, second = (one.create_infer_request() for one in made)
        return first, second


class _Graphs:
    """Makes the graphs of a network."""

    def __init__(self, network: CompiledNetwork) -> None:
        self.ov = openvino()
        self.op = self.ov.opset13
        self.file, self.config = network.file, network.config
        self.bert, self.own = floats(unpacked(network.arrays)), floats(network.file.weights)
        self.has_yields = network.has_yields

    def of_arcs(self) -> Any:
        """Return the graph from a `PieceBatch` to its results for W words, the root one of them.

        These are logarithms of probabilities of heads [sentences, W, W]; the label scorer's factors of
        dependents and of heads [sentences, W, size]; if the network has them, logarithms of probabilities of
        the first and of the last words of yields [sentences, W, W], and ids of tags [sentences, W, 1].
        """
        op = self.op
        pieces, there, places, lengths = (
            self._numbers(*axes) for axes in ((-1, -1), (-1, -1), (-1, -1, 2), (-1,))
        )
        columns = {name: self._numbers(-1, -1) for name in self.file.tables}
        of_words = op.gather_nd(self._mixture(pieces, there), places)
        states = self._states(self._inputs(columns, of_words), lengths)
        size = self._dimension(states, 1)
        number = op.range(op.constant(0), size, op.constant(1), "i64")
        absent = op.greater_equal(op.unsqueeze(number, 0), op.unsqueeze(lengths, 1))  # [sentences, words + 1]
        itself = op.equal(op.unsqueeze(number, 0), op.unsqueeze(number, 1))
        nowhere = op.logical_or(op.unsqueeze(absent, 1), op.unsqueeze(itself, 0))
        found = [self._shares(self._pairs(states, "unlabeled", 0), nowhere), *self._factors(states, "deprel")]
        if self.has_yields:
            root = op.unsqueeze(op.equal(number, op.constant(0, np.int64)), 0)
            no_word = op.unsqueeze(op.logical_or(absent, root), 1)
            found += [self._shares(self._pairs(states, "yields", end), no_word) for end in (0, 1)]
        if self.file.joint:
            tags = self._linear(states, self.own, "tag_scorer")
            found.append(op.topk(tags, op.constant(1), 2, "max", "none").output(1))
        inputs = [pieces, there, places, *columns.values(), lengths]
        return self.ov.Model([op.result(one) for one in found], inputs, "arcs")

    def of_labels(self) -> Any:
        """Return the graph from factors of dependents and heads [A, size] to logarithms of probabilities of
        labels [A, L]: one product for all pairs of components, which is faster than one for each arc."""
        op, weight = self.op, self.own["deprel.scorer.W_bilin.weight"]
        size = len(weight) - 1  # behind their components both factors have a 1
        dependents, heads = (op.parameter([-1, size], np.float32) for _ in range(2))
        pairs = op.multiply(op.unsqueeze(dependents, 2), op.unsqueeze(heads, 1))
        pairs = op.reshape(pairs, [0, size * size], True)
        parts = (
            (pairs, weight[:size, :size].reshape(size * size, -1)),
            (dependents, weight[:size, size]),
            (heads, weight[size, :size]),
        )
        products = [op.matmul(one, self._constant(by), False, False) for one, by in parts]
        bias = self._constant(weight[size, size] + self.own["deprel.scorer.W_bilin.bias"])
        scores = op.log_softmax(reduce(op.add, [*products, bias]), 1)
        return self.ov.Model([op.result(scores)], [dependents, heads], "labels")

    def _mixture(self, pieces: Any, there: Any) -> Any:
        """Return [windows, pieces, size] the mixture of BERT's last layers, with Stanza's weights."""
        op, table = self.op, self.bert
        rows = (
            table["embeddings.position_embeddings.weight"]
            + table["embeddings.token_type_embeddings.weight"][0]
        )
        length = op.unsqueeze(self._dimension(pieces, 1), 0)
        first = [op.constant([one]) for one in (0, 1, 0)]
        position = op.slice(self._constant(rows), first[0], length, first[1], first[2])
        word = op.gather(self._constant(table["embeddings.word_embeddings.weight"]), pieces, op.constant(0))
        states = self._norm(op.add(word, position), "embeddings.LayerNorm")
        seen = op.unsqueeze(op.convert(there, bool), [1, 2])
        layers = [states]
        for number in range(self.config.num_hidden_layers):
            states = self._layer(states, seen, f"encoder.layer.{number}.")
            layers.append(states)
        shares = self.own["bert_layer_mix.weight"][0]
        shares = shares + np.float32(1 / len(shares))
        last = zip(layers[-len(shares) :], shares, strict=True)
        return reduce(op.add, [op.multiply(layer, op.constant(share)) for layer, share in last])

    def _layer(self, states: Any, seen: Any, of: str) -> Any:
        """Return [windows, pieces, size] the states after a layer of BERT; of: prefix of its weights."""
        op, heads = self.op, self.config.num_attention_heads

        def split(name: str) -> Any:
            made = self._linear(states, self.bert, f"{of}attention.self.{name}")
            return op.transpose(op.reshape(made, [0, 0, heads, -1], True), [0, 2, 1, 3])

        found = op.scaled_dot_product_attention(*map(split, ("query", "key", "value")), seen)
        mixed = op.reshape(op.transpose(found, [0, 2, 1, 3]), [0, 0, -1], True)
        mixed = self._linear(mixed, self.bert, f"{of}attention.output.dense")
        states = self._norm(op.add(mixed, states), f"{of}attention.output.LayerNorm")
        inner = op.gelu(self._linear(states, self.bert, f"{of}intermediate.dense"), "erf")
        inner = self._linear(inner, self.bert, f"{of}output.dense")
        return self._norm(op.add(inner, states), f"{of}output.LayerNorm")

    def _inputs(self, columns: Mapping[str, Any], of_words: Any) -> Any:
        """Return [sentences, words + 1, inputs] the inputs of the LSTM."""
        op = self.op
        made = {
            name: op.gather(self._constant(self.own[f"{name}_emb.weight"]), numbers, op.constant(0))
            for name, numbers in columns.items()
        }
        tags = [made[name] for name in ("upos", "xpos") if name in made]
        return op.concat([made["word"], made["lemma"], reduce(op.add, tags), of_words], 2)

    def _states(self, states: Any, lengths: Any) -> Any:
        """Return [sentences, words + 1, size] the states after all layers of the highway LSTM."""
        op = self.op
        for layer in range(self.file.size("num_layers")):
            # OpenVINO ignores the lengths of sequences where shapes are dynamic
            # (findings/openvino-lstm-lengths.sh): the way back would begin with padding, so turn sentences.
            turned = op.reverse_sequence(states, lengths, 0, 1)
            there, back = self._one_way(states, layer, 0), self._one_way(turned, layer, 1)
            both = op.concat([there, op.reverse_sequence(back, lengths, 0, 1)], 2)
            gate = op.sigmoid(self._linear(states, self.own, f"parserlstm.gate.{layer}"))
            way = op.tanh(self._linear(states, self.own, f"parserlstm.highway.{layer}"))
            states = op.add(both, op.multiply(gate, way))
        return states

    def _one_way(self, states: Any, layer: int, way: int) -> Any:
        """Return [sentences, words + 1, size] the states of one of the two directions of the LSTM."""
        op, size, end = self.op, self.file.size("hidden_dim"), ("", "_reverse")[way]
        sentences, words = (op.unsqueeze(self._dimension(states, axis), 0) for axis in (0, 1))
        shape = op.concat([sentences, op.constant([1, size])], 0)
        rows = (self.own[f"parserlstm_{name}_init"][2 * layer + way] for name in ("h", "c"))
        starts = [op.broadcast(self._constant(row[None]), shape) for row in rows]

        def own(name: str) -> Floats:
            return self.own[f"parserlstm.lstm.{layer}.lstm.{name}_l0{end}"]

        arrays = own("weight_ih"), own("weight_hh"), own("bias_ih") + own("bias_hh")
        gates = [np.concatenate([np.split(array, 4)[i] for i in _GATES])[None] for array in arrays]
        whole = op.broadcast(words, sentences)
        made = op.lstm_sequence(states, *starts, whole, *map(self._constant, gates), size, "forward")
        return op.squeeze(made.output(0), op.constant(1))

    def _factors(self, states: Any, scorer: str) -> list[Any]:
        """Return [sentences, words + 1, size] a biaffine scorer's factors of dependents, and of heads."""
        return [self.op.relu(self._linear(states, self.own, f"{scorer}.W{i}")) for i in (1, 2)]

    def _pairs(self, states: Any, scorer: str, output: int) -> Any:
        """Return [sentences, words + 1, words + 1] one of the outputs of a biaffine scorer."""
        op, (left, right) = self.op, self._factors(states, scorer)
        weight = self.own[f"{scorer}.scorer.W_bilin.weight"][:, :, output]
        size, row = len(weight) - 1, weight[-1].copy()
        row[-1] += self.own[f"{scorer}.scorer.W_bilin.bias"][output]
        product = op.add(op.matmul(left, self._constant(weight[:size]), False, False), self._constant(row))
        own, bias = op.variadic_split(product, op.constant(2), op.constant([size, 1])).outputs()
        return op.add(op.matmul(own, right, False, True), bias)

    def _shares(self, scores: Any, impossible: Any) -> Any:
        """Return the log softmax of scores over the last axis; what is impossible gets -inf."""
        return self.op.log_softmax(
            self.op.select(impossible, self.op.constant(np.float32(-np.inf)), scores), 2
        )

    def _linear(self, states: Any, table: Mapping[str, Floats], name: str) -> Any:
        product = self.op.matmul(states, self._constant(table[f"{name}.weight"]), False, True)
        return self.op.add(product, self._constant(table[f"{name}.bias"]))

    def _norm(self, states: Any, name: str) -> Any:
        op = self.op
        scaled = op.mvn(states, [-1], True, self.config.layer_norm_eps, "inside_sqrt")
        weight, bias = (self._constant(self.bert[f"{name}.{part}"]) for part in ("weight", "bias"))
        return op.add(op.multiply(scaled, weight), bias)

    def _constant(self, array: NDArray[Any]) -> Any:
        return self.op.constant(np.ascontiguousarray(array))

    def _numbers(self, *axes: int) -> Any:
        """Return an input of integers of this shape; -1: any length."""
        return self.op.parameter([*axes], np.int64)

    def _dimension(self, states: Any, axis: int) -> Any:
        """Return the length of an axis."""
        return self.op.gather(self.op.shape_of(states), self.op.constant(axis), self.op.constant(0))
