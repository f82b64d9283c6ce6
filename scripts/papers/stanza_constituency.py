"""Stanza's own constituency parser, trained on the same trees as the d-parsers, and on the same encoder.

An in-order shift-reduce parser over a bidirectional LSTM with a dynamic oracle. It sees words and tags; of a
word that is not in train it knows only the tag, unless it has an encoder. The training loop follows
`stanza.models.constituency.parser_training`, which scores by a program in Java.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec
import torch
from stanza.models import constituency_parser as stanza_program
from stanza.models.common.pretrain import Pretrain, PretrainedWordVocab
from stanza.models.common.utils import default_device
from stanza.models.constituency import parser_training, transition_sequence
from stanza.models.constituency.in_order_oracle import InOrderOracle
from stanza.models.constituency.lstm_model import (
    ConstituencyComposition,
    LSTMModel,
    SentenceBoundary,
    StackHistory,
)
from stanza.models.constituency.parse_transitions import (
    CloseConstituent,
    OpenConstituent,
    Transition,
    TransitionScheme,
)
from stanza.models.constituency.parse_tree import Tree
from stanza.models.constituency.utils import build_optimizer
from torch.optim.lr_scheduler import LambdaLR

from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.base.progress import log
from d2c.base.settings import Told
from d2c.dparsers.graph.directory import FOLDER
from d2c.dparsers.stanza.encoder import (
    NAME,
    Encoder,
    load_encoder,
    read_encoder,
    said_of,
    save_encoder,
)
from d2c.dparsers.stanza.networks import ONE_AT_A_TIME, quiet, read_checkpoint, seeded
from d2c.dparsers.stanza.tasks import ARGUMENTS, fitted
from d2c.protocols.directories import ModelFormat, loading
from d2c.protocols.dparser import EMPTY_FORM
from d2c.protocols.training import DEV_WORDS, Course, TrainingPlan, best_state, rise_and_fall, thinned
from d2c.routes.voting.constituents import Parse
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.scores.brackets import bracket_scores

# The model directory: the settings, this file, and the encoder if there is one.
KIND = ModelFormat("cparser", "stanza", 2, ("preset", "transformer", "epochs", "seed"))
_MODEL = "parser.pt"
_PARTS = ("model", "config", "transitions", "constituents", "tags", "words", "rare_words", "unary_limit")
_ENUMS = {
    "transition_scheme": TransitionScheme,
    "sentence_boundary_vectors": SentenceBoundary,
    "constituency_composition": ConstituencyComposition,
    "transition_stack": StackHistory,
    "constituent_stack": StackHistory,
}

_EVALUATIONS = 5
_WINDOW = 1024  # sentences that `parse` sorts by length and holds at a time
_ROOT = "root"  # Stanza's node above the tree; labels are numbers
_UNSURE = 0.0  # the confidence of a flat tree, where the parser found no other

# Options of Stanza's training program that differ from its defaults, and passes over the training treebank.
# The learning rate rises over the first twentieth of the steps, then falls to 0.
# On 1,000 sentences of CRAFT a rate of 0.004 learns less in the same passes, two layers less still.
_SMALL: dict[str, Any] = {
    "hidden_size": 128,
    "num_lstm_layers": 1,
    "tag_embedding_dim": 32,
    "learning_rate": 0.008,
    "learning_weight_decay": 0.01,
}
# Rates and layers as for the d-parsers.
_FINETUNE: dict[str, Any] = _SMALL | {
    "learning_rate": ARGUMENTS["lr"],
    "learning_beta2": ARGUMENTS["beta2"],
    "bert_model": NAME,
    "bert_finetune": True,
    "bert_hidden_layers": ARGUMENTS["bert_hidden_layers"],
    "bert_learning_rate": ARGUMENTS["bert_learning_rate"],
    "bert_weight_decay": 1.0,  # as a factor of the network's
}
PRESETS: dict[str, tuple[dict[str, Any], int]] = {
    "default": ({"learning_rate": 0.001}, 60),
    "small": (_SMALL, 5),
    "finetune": (_FINETUNE, 10),
}


@dataclass(eq=False)
class StanzaConstituency:
    """Stanza's constituency parser.

    preset: default (Stanza's own sizes, made for GPUs) or small (minutes on two cores); with a transformer
            always `finetune`, which trains both together
    epochs: passes over the training treebank, instead of the preset's number
    device: cpu, cuda, ...; None: cuda where there is one
    seed:   same seed, same model, on one machine and number of threads; not on cuda
    transformer: directory or name of a transformer, an encoder of BERT's kind; by name, it is downloaded
    """

    preset: str = "default"
    epochs: float | None = None
    device: str | None = None
    seed: int = 1
    transformer: str | None = None
    labels_: tuple[str, ...] = field(default=(), init=False)
    model_: Any = field(default=None, init=False)

    def fit(self, train: Sequence[CTree], dev: Sequence[CTree]) -> Self:
        """Learn, and keep the weights with the best F1 on dev, or on some of it, evenly chosen.

        Raises ModelError for trees with gaps, which no sequence of its transitions builds.
        """
        Told(choices=tuple(PRESETS)).check("preset", self.preset)
        if self.preset == "finetune" and self.transformer is None:
            raise ModelError("the preset finetune needs a transformer")
        if not all(ctree.is_continuous() for ctree in train):
            raise ModelError("Stanza's constituency parser learns no trees with gaps")
        roots = Counter(ctree.labels[-1] for ctree in train if ctree.labels)
        counts = Counter(label for ctree in train for label in ctree.labels)
        self.labels_ = tuple(sorted(counts, key=lambda label: (-roots[label], -counts[label], label)))
        with quiet(), seeded(self.seed):
            self._fit(train, thinned(dev, DEV_WORDS))
        return self

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[CTree]:
        """Yield the c-tree of each sentence, in order; about a thousand sentences are held at a time.

        Where the parser finds no way on, the tree is flat. Raises ModelError where nothing was learned yet.
        """
        return (parse.ctree for parse in self.parses(sentences))

    def parses(self, sentences: Iterable[Tokens]) -> Iterator[Parse]:
        """Yield the c-trees with a confidence of each node: the probability of opening and of closing it."""
        if self.model_ is None:
            raise ModelError("this parser is not trained yet")
        for window in batches(sentences, _WINDOW):
            with ONE_AT_A_TIME, quiet():
                order = sorted(
                    (i for i, tokens in enumerate(window) if len(tokens)), key=lambda i: len(window[i])
                )
                trees: dict[int, _Found] = {}
                for some in batches(order, self.model_.args["eval_batch_size"]):
                    found = _predict(self.model_, [window[i] for i in some])
                    trees |= {some[i]: tree for i, tree in found.items()}
            for i, tokens in enumerate(window):
                tree, closed = trees.get(i, (None, [_UNSURE]))
                ctree = _from_stanza(tree, tokens, self.labels_)
                yield Parse(ctree, tuple(closed[: len(ctree.labels)]))

    def save(self, directory: Path) -> None:
        """Write the model, which `load` reads."""
        KIND.write(directory, {"labels": self.labels_, **said_of(self.transformer)}, self)
        if self.model_.bert_model is not None:
            save_encoder(self.model_.bert_model, self.model_.bert_tokenizer, directory / FOLDER)
        params = self.model_.get_params()
        params["model"] = {**params["model"]}  # without torch's list of all modules, the encoder's among them
        torch.save(params, directory / _MODEL, _use_new_zipfile_serialization=False)

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """Return the parser that `save` left; it cannot bring code with it. Raises ModelError."""
        settings, path = KIND.read(directory), Path(directory) / _MODEL
        with quiet(), loading(path):
            parser = cls(device=device, **KIND.parameters_in(settings))
            parser.labels_ = msgspec.convert(settings["labels"], tuple[str, ...])
            checkpoint = read_checkpoint(path, _PARTS)
            checkpoint["transitions"] = [*map(Transition.from_repr, checkpoint["transitions"])]
            encoder = None if parser.transformer is None else read_encoder(directory / FOLDER)
            enums = {name: kind[checkpoint["config"][name]] for name, kind in _ENUMS.items()}
            arguments = {**checkpoint["config"], **enums, "use_peft": False}
            parser.model_ = _network(checkpoint, arguments, encoder)
            parser.model_.load_state_dict(checkpoint["model"], strict=False)  # the encoder is not among them
            parser.model_.to(device or default_device())
        return parser

    def _arguments(self) -> tuple[dict[str, Any], float, tuple[Encoder, Any] | None]:
        """Return the arguments of Stanza's training program, the passes, the encoder with its tokenizer."""
        own, epochs = PRESETS["finetune" if self.transformer is not None else self.preset]
        arguments = stanza_program.parse_args(["--no_multistage", "--optim", "adamw"]) | own
        arguments["device"] = self.device or default_device()
        arguments["reduce_position"] = arguments["hidden_size"] // 4
        encoder = None
        if self.transformer is not None:
            encoder = load_encoder(self.transformer)
            encoder[0].mask = None  # it learns less from hidden pieces, unlike the d-parser
            arguments = fitted(arguments, encoder[0])
        return arguments, epochs if self.epochs is None else self.epochs, encoder

    def _fit(self, train: Sequence[CTree], dev: Sequence[CTree]) -> None:
        arguments, epochs, encoder = self._arguments()
        device, size = arguments["device"], arguments["train_batch_size"]
        code_of = {label: str(i) for i, label in enumerate(self.labels_)}
        trees = [_to_stanza(ctree, code_of) for ctree in train]
        sequences = transition_sequence.build_treebank(trees, arguments["transition_scheme"])
        parts = _parts(trees, sequences, arguments["rare_word_threshold"])
        self.model_ = model = _network(parts, arguments, encoder).to(device)
        optimizer = build_optimizer(arguments, model)
        for group in optimizer.param_groups:
            group |= {"fused": True, "foreach": False}  # all of a weight's changes in one pass over it
        steps = math.ceil(epochs * math.ceil(len(trees) / size))
        falling = LambdaLR(optimizer, rise_and_fall(steps))
        items = parser_training.compose_train_data(trees, sequences)
        goals = {one: torch.tensor([i], device=device) for i, one in enumerate(model.transitions)}
        loss = torch.nn.CrossEntropyLoss(reduction="sum")
        oracle = InOrderOracle(model.root_labels, None, None, None)
        drawn = _batches(items, size)

        def update() -> float:
            model.train()
            found = parser_training.train_model_one_batch(
                1, 0, model, next(drawn), goals, lambda scores: scores, loss, oracle, arguments
            )
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            if not found.nans:
                optimizer.step()
            optimizer.zero_grad()
            falling.step()
            return float(found.epoch_loss)

        def evaluate(step: int, steps: int, mean: float, _seconds: float) -> float:
            f1 = bracket_scores(dev, self.parse(ctree.tokens for ctree in dev), gaps=False).f1
            log.info("step %d/%d  loss %.3f  dev F1 %.2f", step, steps, mean, f1)
            return f1

        best = best_state(
            Course(TrainingPlan("stanza's c-parser", steps, math.ceil(steps / _EVALUATIONS), device)),
            update,
            evaluate,
            lambda: {name: value.clone() for name, value in model.state_dict().items()},
        )
        model.load_state_dict(best)


def _parts(trees: Sequence[Tree], sequences: Sequence[Any], rare: float) -> dict[str, Any]:
    """Return what the network is made for. rare: the share of words that count as rare"""
    return {
        "transitions": transition_sequence.all_transitions(sequences),
        "constituents": Tree.get_unique_constituent_labels(trees),
        "tags": Tree.get_unique_tags(trees),
        "words": Tree.get_unique_words(trees),
        "rare_words": Tree.get_rare_words(trees, rare),
        "unary_limit": 1 + max(tree.count_unary_depth() for tree in trees),
    }


def _network(
    parts: Mapping[str, Any], arguments: Mapping[str, Any], encoder: tuple[Encoder, Any] | None
) -> Any:
    """Return the network before it has learned. parts: as `_parts` has them"""
    none = {} if encoder else {"bert_model": None, "bert_finetune": False, "stage1_bert_finetune": False}
    vectors = Pretrain()  # on which Stanza insists: of no word, and 0
    vectors._vocab = PretrainedWordVocab([], lang="d2c")
    vectors._emb = torch.zeros(len(vectors._vocab), 1)
    model = LSTMModel(
        vectors,
        None,
        None,
        *(encoder or (None, None)),
        encoder is not None,  # which keeps its weights from being frozen
        None,
        parts["transitions"],
        *(parts[part] for part in ("constituents", "tags", "words", "rare_words")),
        [_ROOT],
        [(label,) for label in parts["constituents"]],
        parts["unary_limit"],
        {**arguments, **none},
    )
    if encoder:
        model.unsaved_modules.append("bert_model")  # has a folder of its own
    return model


def _to_stanza(ctree: CTree, code_of: dict[str, str]) -> Tree:
    nodes = [
        Tree(tag, Tree(form or EMPTY_FORM))
        for form, tag in zip(ctree.tokens.forms, ctree.tokens.tags, strict=True)
    ]
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        nodes.append(Tree(code_of[label], [nodes[kid] for kid in kids]))
    return Tree(_ROOT, nodes[-1])


def _from_stanza(tree: Tree | None, tokens: Tokens, symbols: Sequence[str]) -> CTree:
    """Return the tree below Stanza's root, over our own tokens; of None, a flat tree.

    symbols: labels by code; several nodes below that root are joined under the first, the commonest root
    """
    n, token = len(tokens), 0
    if tree is None:
        return build_ctree(tokens, [symbols[0]], [range(n)], n, top="TOP")
    labels, children = list[str](), list[list[int]]()
    stack = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        if node.is_preterminal():
            number, token = token, token + 1
        else:
            number = n + len(labels)
            labels.append(symbols[0 if node.label == _ROOT else int(node.label)])
            children.append([])
            stack += [(kid, number - n) for kid in reversed(node.children)]
        if parent >= 0:
            children[parent].append(number)
    below = children[0]
    return build_ctree(tokens, labels, children, below[0] if len(below) == 1 else n, top="TOP")


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Yield batches of trees with sequences of similar length without end, composed anew for every pass."""
    while True:
        order = random.sample(items, len(items))
        order.sort(key=lambda item: len(item.gold_sequence))
        sampled = [*batches(order, size)]
        random.shuffle(sampled)
        yield from sampled


_Found = tuple[Tree, list[float]]  # with the confidences of its nodes in postorder, the root's last


def _predict(model: Any, sentences: Sequence[Tokens]) -> dict[int, _Found]:
    """Return trees by greedy search, by number of sentence; a sentence has none if no transition goes on."""
    words = [
        [Tree(tag, Tree(form or EMPTY_FORM)) for form, tag in zip(one.forms, one.tags, strict=True)]
        for one in sentences
    ]
    found: dict[int, _Found] = {}
    opened, closed = [list[float]() for _ in words], [list[float]() for _ in words]
    model.eval()
    with torch.no_grad():
        # Stanza hands on what it takes for a gold tree: here the number of the sentence.
        states = model.initial_state_from_preterminals(words, [*range(len(words))], None)
        while states:
            scores, transitions, chosen = model.predict(states)
            sure = (chosen - scores.logsumexp(1)).exp().tolist()
            for state, transition, probability in zip(states, transitions, sure, strict=True):
                if isinstance(transition, OpenConstituent):
                    opened[state.gold_tree].append(probability)
                elif isinstance(transition, CloseConstituent):
                    closed[state.gold_tree].append(opened[state.gold_tree].pop() * probability)
            states = [state for state in model.bulk_apply(states, transitions) if not state.broken]
            done = [state for state in states if state.finished(model)]
            found |= {state.gold_tree: (state.get_tree(model), closed[state.gold_tree]) for state in done}
            states = [state for state in states if not state.finished(model)]
    return found
