"""Stanza's graph parser, trained from scratch on CoNLL-U or on a pretrained encoder.

It is the deep biaffine parser of Dozat and Manning (2017) in the form of Qi et al. (2018): O(n^2) arc scores,
then the best tree (Chu-Liu-Edmonds), with exactly one root and no cycle; arcs may cross.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from stanza.models import parser as stanza_program
from stanza.models.common.pretrain import Pretrain
from stanza.models.depparse.trainer import GraphTrainer
from stanza.models.depparse.transition.model import SubtreeCombination

from d2c.base.errors import ModelError
from d2c.base.locks import one_thread
from d2c.base.model_files import first_line
from d2c.base.temporary import whole_directory
from d2c.dparsers.graph.directory import FORMAT, NETWORK, NETWORK_WEIGHTS
from d2c.dparsers.graph.inputs import columns
from d2c.dparsers.graph.network_file import NetworkFile, is_plain
from d2c.dparsers.graph.scores import Found, GraphParser
from d2c.dparsers.settings import StanzaSettings
from d2c.dparsers.stanza.encoder import said_of
from d2c.dparsers.stanza.graph import GraphNetwork, units
from d2c.dparsers.stanza.networks import ONE_AT_A_TIME, WordRow, predict, quiet, read_vectors, seeded
from d2c.dparsers.stanza.tasks import ARGUMENTS, CHARLM, SMOOTHING, ArcTask, StanzaEstimator
from d2c.dparsers.stanza.training import EncoderPair, Preset
from d2c.protocols.abilities import DParserAbilities
from d2c.protocols.codes import read_trees
from d2c.protocols.directories import SETTINGS, loading
from d2c.protocols.dparser import Report
from d2c.protocols.settings import FINETUNE
from d2c.protocols.training import evaluating_arcs, thinned
from d2c.trees.ctree import Tokens

OF_GRAPHS = {"yields": True}  # an argument of `GraphNetwork` that Stanza's program does not know
GONE = (
    "holds Stanza's transition parser, which is no longer part of d2c; train the model again with --dparser "
    "stanza, or with transition, which is d2c's own"
)
_VECTORS, _CHARLM = "vectors.pt", ("charlm_forward.pt", "charlm_backward.pt")

# Without its network over characters and its scores for directions and distances, Stanza sees a third more
# words in the same time, which helps more (2,000 and 5,000 sentences of CRAFT).
_SMALL: dict[str, Any] = {
    "char": False,
    "linearization": False,
    "distance": False,
    "hidden_dim": 200,
    "num_layers": 2,
    "deep_biaff_hidden_dim": 100,
    "word_emb_dim": 100,
    "word_cutoff": 2,
    "dropout": 0.25,
    "word_dropout": 0.1,
    "optim": "adam",
    "lr": 0.006,
    "beta2": 0.95,
    "weight_decay": None,
    "batch_size": 300,
    "max_grad_norm": 5.0,
}
PRESETS = {
    "default": Preset(),  # Stanza's own sizes and schedule
    "small": Preset(_SMALL, epochs=10, least_steps=800, dev_words=20_000),
    FINETUNE: Preset(_SMALL | {"num_layers": 1} | ARGUMENTS, epochs=10, least_steps=400, dev_words=20_000),
}


class StanzaParser(StanzaEstimator, GraphParser):
    """Stanza's dependency parser.

    It sees words, tags (XPOS), and, where there are any, lemmas and morphology (FEATS); a joint one only sees
    words. UPOS is not read.
    """

    FILE: ClassVar[str] = "parser.pt"
    PRESETS: ClassVar[Mapping[str, Preset]] = PRESETS
    settings: StanzaSettings

    def __init__(self, settings: StanzaSettings) -> None:
        super().__init__(settings)
        joint = settings.model_type == "joint"
        self.abilities = DParserAbilities(packed_arcs=True, tags=joint, gpu=self._wants_gpu)
        self.pretrain_: Pretrain | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best LAS on the second file. Raises as `DependencyParser`."""
        preset = self._preset()
        train = [self._rows(one.tokens, one.heads, one.labels) for one in read_trees(train_conllu)]
        dev = read_trees(dev_conllu)
        if preset.dev_words is not None:
            dev = [*thinned(dev, preset.dev_words)]
        evaluate = evaluating_arcs(self, dev, progress)

        def build(arguments: dict[str, Any], encoder: EncoderPair | None) -> ArcTask:
            try:
                return ArcTask(arguments, train, self.pretrain_, encoder, evaluate)
            except OSError as error:
                if not arguments["charlm"]:
                    raise
                raise ModelError(f"a language model cannot be loaded: {first_line(error)}") from error

        settings = self.settings
        with quiet(), seeded(settings.seed), whole_directory(directory, SETTINGS) as staging:
            arguments = self._arguments(preset)
            self.pretrain_ = self._bring_other_models(staging, arguments)
            self._learn(build, arguments, preset, staging, train, dev)
            if self.pretrain_ is not None:
                self.pretrain_.save(str(staging / _VECTORS))
            FORMAT.write(staging, said_of(settings.transformer), settings)
            self._load(staging)  # at once: where a model cannot be written, Stanza only logs that
        return self

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """Return the parser that `train` left, whose files cannot bring code. Raises ModelError."""
        said = FORMAT.read(directory)
        if said.get("model_type") == "transition":
            raise ModelError(f"{directory}: {GONE}")
        with ONE_AT_A_TIME, quiet(), loading(directory), one_thread():
            parser = cls(StanzaSettings(device=device, **FORMAT.parameters_in(said)))
            parser._load(Path(directory))
            next(parser.parse([Tokens(("a", "b"), ("A", "B"))]))  # a parser that cannot parse fails now
        return parser

    def _load(self, directory: Path) -> None:
        """Load the networks. Raises ModelError."""
        vectors, charlm = directory / _VECTORS, (directory / _CHARLM[0]).exists()
        kept = NETWORK if (directory / NETWORK).exists() else self.FILE
        with loading(directory / kept):
            pretrain = self.pretrain_ = read_vectors(vectors) if vectors.exists() else None

            def own(config: Mapping[str, Any]) -> dict[str, Any]:
                said = _charlm_arguments(directory, charlm)
                said |= {"pretrain": pretrain is not None, "wandb": False}
                combination = config.get("transition_subtree_combination", "NONE")  # or Stanza cannot save it
                return said | {"transition_subtree_combination": SubtreeCombination[combination]}

            build = partial(GraphNetwork, emb_matrix=pretrain.emb if pretrain else None)
            config, vocab, model = self._network(directory, own, build)
            self.trainer_ = GraphTrainer(config, vocab, pretrain, model, build_optimizer=False)

    def _read_network(self, directory: Path) -> tuple[Path, dict[str, Any]]:
        if not (directory / NETWORK).exists():
            return super()._read_network(directory)
        config, vocab, weights = NetworkFile.read(directory)
        tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
        return directory / NETWORK_WEIGHTS, {"model": tensors, "vocab": vocab, "config": config}

    def _write_network(self, directory: Path) -> None:
        config, vocab = self.trainer_.args, self.trainer_.vocab.state_dict()
        if not is_plain(config, vocab):
            return super()._write_network(directory)
        weights = self.trainer_.model.get_params(skip_modules=True)
        arrays = {name: tensor.cpu().numpy() for name, tensor in weights.items()}
        arguments = {name: one.name if isinstance(one, Enum) else one for name, one in config.items()}
        return NetworkFile(arguments, vocab, arrays).write(directory)

    @property
    def tags_(self) -> tuple[str, ...]:
        """Return the tags that the parser predicts, none unless it is joint."""
        return units(self.trainer_.vocab["upos"]) if self.abilities.tags else ()

    def _found(self, sentences: Sequence[Tokens], least: float | None) -> list[Found]:
        if self.trainer_ is None:
            raise ModelError("this parser is not trained yet")
        with ONE_AT_A_TIME, quiet():
            return predict(self.trainer_, self.pretrain_, [*map(self._rows, sentences)], least)

    def _rows(
        self, tokens: Tokens, heads: Iterable[int] | None = None, labels: Iterable[str] | None = None
    ) -> list[WordRow]:
        """Return a sentence as Stanza sees it, with heads and labels for training."""
        seen, blank = columns(tokens, self.abilities.tags), ("_",) * len(tokens)
        own = (
            seen.word,
            seen.upos,
            seen.xpos,
            blank,
            seen.lemma,
            heads or (0,) * len(tokens),
            labels or blank,
        )
        return [[*row] for row in zip(*own, strict=True)]

    def _arguments(self, preset: Preset) -> dict[str, Any]:
        """Return the arguments of Stanza's training program. Raises ModelError for unknown ones."""
        arguments, settings = stanza_program.parse_args([]), self.settings
        own = {"model_type": settings.model_type, "pretrain": settings.vectors is not None, **OF_GRAPHS}
        own |= SMOOTHING if settings.transformer is not None else {}
        own |= {"use_upos": False} if self.abilities.tags else {}
        # Switched on, `use_ufeats` only makes Stanza (1.15) concatenate the embedding of the tags once more.
        return self._filled(arguments, preset, **own, use_ufeats=False)

    def _bring_other_models(self, directory: Path, arguments: dict[str, Any]) -> Pretrain | None:
        """Copy language models into the model's directory, so that it can be moved; return the vectors."""
        for source, name in zip(self.settings.charlm or (), _CHARLM, strict=False):
            try:
                shutil.copyfile(source, directory / name)
            except OSError as error:
                raise ModelError(f"{source}: cannot be read: {error.strerror or error}") from None
        arguments |= _charlm_arguments(directory, self.settings.charlm is not None)
        if self.settings.vectors is None:
            return None
        vectors = str(self.settings.vectors)
        text = {} if vectors.endswith(".pt") else {"vec_filename": vectors, "save_to_file": False}
        with loading(vectors, "no word vectors"):
            pretrain = Pretrain(None if text else vectors, max_vocab=arguments["pretrain_max_vocab"], **text)
            pretrain.load()
        return pretrain


def _charlm_arguments(directory: Path, present: bool) -> dict[str, Any]:
    """Return the arguments for language models; Stanza wants a name for these beside their files."""
    if not present:
        return {"charlm": False} | dict.fromkeys(CHARLM)
    files = {key: str(directory / name) for key, name in zip(CHARLM, _CHARLM, strict=True)}
    return {"char": True, "charlm": True, "charlm_shorthand": "d2c"} | files
