"""Stanza's dependency parsers, trained from scratch on CoNLL-U.

`graph` is the deep biaffine parser of Dozat and Manning (2017) in the form of Qi et al. (2018): O(n^2) arc
scores, then the best tree (Chu-Liu-Edmonds). `transition` joins subtrees on a stack, greedily; it is far
slower, and labels every root `root`. Both give exactly one root and no cycle; arcs may cross.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

from stanza.models import parser as stanza_program
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.trainer import Trainer
from stanza.models.depparse.transition.model import SubtreeCombination
from stanza.models.pos.vocab import MultiVocab

from d2c.base.batches import batches
from d2c.base.errors import FormatError, ModelError
from d2c.base.model_files import first_line
from d2c.base.settings import seed_setting, setting
from d2c.base.temporary import whole_directory
from d2c.dparsers.stanza.encoder import FOLDER, NAME, read_encoder, said_of, trainable
from d2c.dparsers.stanza.joint import ARGUMENTS as JOINT_ARGUMENTS
from d2c.dparsers.stanza.joint import shape
from d2c.dparsers.stanza.networks import (
    ONE_AT_A_TIME,
    TRAINERS,
    WordRow,
    load_network,
    predict,
    quiet,
    read_checkpoint,
    read_vectors,
    seeded,
    threads,
)
from d2c.dparsers.stanza.tasks import ARGUMENTS, CHARLM, SMOOTHING, ArcTask, StanzaEstimator
from d2c.dparsers.stanza.training import EncoderPair, Preset
from d2c.packed.arcs import single
from d2c.packed.dtree import with_packed_arcs
from d2c.protocols.codes import read_trees
from d2c.protocols.directories import SETTINGS, ModelFormat, loading
from d2c.protocols.dparser import DependencyParser, Report, with_arcs
from d2c.protocols.training import check_choice, check_limits, evaluating_arcs, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

# The model directory: the settings and these files.
FORMAT = ModelFormat("dparser", "stanza", 1, ("model_type", "preset", "bert_model", "epochs", "seed"))
_WEIGHTS = {"transition": "output_basic.weight", "joint": "tag_scorer.weight"}  # which others lack
_VECTORS, _CHARLM = "vectors.pt", ("charlm_forward.pt", "charlm_backward.pt")

_WINDOW = 1024  # sentences that `parse` sorts by length and holds at a time

# Without its network over characters and its scores for directions and distances Stanza sees a third more
# words in the same time, which is worth more (2,000 and 5,000 sentences of CRAFT).
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
# The transition parser takes its words one by one: a few hundred a second on two cores, whatever its size.
_SMALL_TRANSITION = _SMALL | {"hidden_dim": 150, "num_layers": 1, "dropout": 0.0}
_FINETUNE = _SMALL | {"num_layers": 1} | ARGUMENTS
PRESETS = {
    # Stanza's 5000 words a batch take the transition parser tens of gigabytes where sentences are long.
    "default": {"graph": Preset(), "transition": Preset({"batch_size": 500})},
    "small": {
        "graph": Preset(_SMALL, epochs=10, least_steps=800, dev_words=20_000),
        "transition": Preset(_SMALL_TRANSITION, epochs=3, least_steps=200, evaluations=4, dev_words=2_000),
    },
    "finetune": {
        "graph": Preset(_FINETUNE, epochs=10, least_steps=400, dev_words=20_000),
        "transition": Preset(_FINETUNE, epochs=4, least_steps=200, evaluations=4, dev_words=2_000),
    },
}


@dataclass(eq=False)
class StanzaParser(StanzaEstimator, DependencyParser):
    """One of Stanza's two dependency parsers.

    model_type: graph, transition or joint, which is graph and finds tags, too (`d2c.dparsers.stanza.joint`)
    preset:     default (Stanza's own sizes and schedule, made for GPUs) or small (minutes on two cores);
                with a transformer always `finetune`, which trains both together
    vectors:    word vectors, as text (a word and its numbers per line) or as Stanza's .pt file
    charlm:     Stanza's forward and backward character language models (.pt files)
    bert_model: directory or name of a transformer, an encoder of BERT's kind; by name, it is downloaded
    checkpoints: a directory, from which a training with a transformer goes on
    epochs:     passes over the training treebank, instead of the preset's number
    device:     cpu, cuda, ...; None: cuda where there is one
    seed:       same seed, same model, on one machine and number of threads; not on cuda
    threads:    of torch; None: as many as it is set to
    arguments:  further arguments of Stanza's training program, over those of the preset

    It sees words, tags (XPOS), and, where there are any, lemmas and morphology (FEATS). Stanza's UPOS holds
    the morphology: its own embedding of features takes UD notation only. UPOS itself is not read.
    """

    FILE: ClassVar[str] = "parser.pt"

    model_type: str = "graph"
    preset: str = "default"
    vectors: Path | None = None
    charlm: tuple[Path, Path] | None = None
    bert_model: str | None = None
    epochs: float | None = setting(None, above=0)
    device: str | None = None
    seed: int = seed_setting()
    threads: int | None = setting(None, least=1)
    arguments: Mapping[str, Any] | None = None
    checkpoints: Path | None = None
    trainer_: Any = field(default=None, init=False)
    pretrain_: Pretrain | None = field(default=None, init=False)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best LAS on the second file; errors: `DependencyParser`."""
        preset = self._preset()
        train = [self._rows(one.tokens, one.heads, one.labels) for one in read_trees(train_conllu)]
        dev = read_trees(dev_conllu)
        if preset.dev_words is not None:
            dev = [*thinned(dev, preset.dev_words)]
        labels = {row[-1] for rows in train for row in rows if row[-2]}
        if self.model_type == "transition" and (not labels or "root" in labels):
            message = "the transition parser wants words with heads, and `root` for roots only"
            raise FormatError(str(train_conllu), 0, 0, message)
        evaluate = evaluating_arcs(self, dev, progress)

        def build(arguments: dict[str, Any], encoder: EncoderPair | None) -> ArcTask:
            try:
                return ArcTask(arguments, train, self.pretrain_, encoder, evaluate)
            except OSError as error:
                if not arguments["charlm"]:
                    raise
                raise ModelError(f"a language model cannot be loaded: {first_line(error)}") from error

        with (
            quiet(),
            seeded(self.seed),
            threads(self.threads),
            whole_directory(directory, SETTINGS) as staging,
        ):
            arguments = self._arguments(preset)
            self.pretrain_ = self._bring_other_models(staging, arguments)
            self._learn(build, arguments, preset, staging, train, dev)
            self._leave(staging)
        return self

    def go_on(
        self, train: Iterable[DTree], dev: Sequence[DTree], directory: Path, rate: float, progress: Report
    ) -> Self:
        """Learn more, with an encoder, and leave what is best on `dev` in a directory; trees with new labels
        or tags are left out. A network that does not know ends of yields learns these, too.

        rate: the highest of learning
        """
        assert self.trainer_ is not None and self.bert_model is not None
        begin = self.trainer_
        labels, tags = ({*_units(begin, name)} for name in ("deprel", "upos"))
        rows = [
            self._rows(one.tokens, one.heads, one.labels)
            for one in train
            if labels >= {*(one.labels or ())} and (not self.finds_tags or tags >= {*one.tokens.tags})
        ]
        evaluate = evaluating_arcs(self, dev, progress)
        encoder = trainable(begin.model.bert_model), begin.model.bert_tokenizer
        own = {"lr": rate, "device": self._device, "seed": self.seed, "yields": self.gives_arcs} | SMOOTHING

        def build(arguments: dict[str, Any], encoder: EncoderPair | None) -> ArcTask:
            return ArcTask(arguments, rows, self.pretrain_, encoder, evaluate, begin)

        with (
            quiet(),
            seeded(self.seed),
            threads(self.threads),
            whole_directory(directory, SETTINGS) as staging,
        ):
            arguments, preset = begin.args | own, self._preset()
            for key, name in zip(CHARLM, _CHARLM, strict=True):
                if arguments[key]:
                    shutil.copyfile(arguments[key], staging / name)
            self._learn(build, arguments, preset, staging, rows, [*dev], encoder=encoder)
            self._leave(staging)
        return self

    def _leave(self, directory: Path) -> None:
        """Complete a model's directory, and read it back at once: Stanza only logs it where a model cannot be
        written."""
        if self.pretrain_ is not None:
            self.pretrain_.save(str(directory / _VECTORS))
        FORMAT.write(directory, said_of(self.bert_model), self)
        self.trainer_, self.pretrain_ = _load(directory, self._device, self.bert_model is not None)

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """Return the parser that `train` left, which cannot bring code with it. Raises ModelError."""
        settings = FORMAT.read(directory)
        with ONE_AT_A_TIME, quiet(), loading(directory), threads(1):  # two wait longer than they compute
            parser = cls(device=device, **FORMAT.parameters_in(settings))
            encoder = parser.bert_model is not None
            parser.trainer_, parser.pretrain_ = _load(Path(directory), parser._device, encoder)
            next(parser.parse([Tokens(("a", "b"), ("A", "B"))]))  # what cannot parse says so now
        return parser

    @property
    def gives_arcs(self) -> bool:
        """Whether it scores all arcs."""
        return self.model_type != "transition"

    @property
    def finds_tags(self) -> bool:
        """Whether it finds tags beside arcs."""
        return self.model_type == "joint"

    @property
    def tags_(self) -> tuple[str, ...]:
        """The tags that it finds."""
        return _units(self.trainer_, "upos") if self.finds_tags else ()

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; about a thousand sentences are held at a time."""
        return self._parse(sentences, packed=False)

    def parse_packed(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Parse as `parse`, with packed arcs. Raises ModelError for the transition parser, which has none."""
        if not self.gives_arcs:
            raise ModelError("Stanza's transition parser does not say how probable other heads are")
        return self._parse(sentences, packed=True)

    def _parse(self, sentences: Iterable[Tokens], packed: bool) -> Iterator[DTree]:
        if self.trainer_ is None:
            raise ModelError("this parser is not trained yet")
        for window in batches(sentences, _WINDOW):
            with ONE_AT_A_TIME, quiet(), threads(self.threads):
                rows = [self._rows(tokens) for tokens in window if len(tokens)]
                predicted = predict(self.trainer_, self.pretrain_, rows, packed)
            if self.finds_tags:
                found = iter([tuple(tags) for _, tags, _ in predicted])
                window = [Tokens(one.forms, next(found) if len(one) else ()) for one in window]
            arcs = iter([own for *_, own in predicted])
            for dtree in with_arcs(window, [arcs for arcs, *_ in predicted], "stanza"):
                if packed:
                    dtree = with_packed_arcs(dtree, next(arcs) if dtree.heads else single(()))
                yield dtree

    def _rows(
        self, tokens: Tokens, heads: Iterable[int] | None = None, labels: Iterable[str] | None = None
    ) -> list[WordRow]:
        """Return a sentence as Stanza sees it."""
        blank = ("_",) * len(tokens)
        forms = [form or "_" for form in tokens.forms]  # the network over characters needs one
        own = (tokens.morphs or blank, tokens.tags, blank, tokens.lemmas or blank)
        if self.finds_tags:
            own = (tokens.tags, tuple(map(shape, forms)), blank, blank)
        columns = (forms, *own, heads or (0,) * len(tokens), labels or blank)
        return [[*row] for row in zip(*columns, strict=True)]

    def _preset(self) -> Preset:
        check_limits(self)
        check_choice("model type", self.model_type, TRAINERS)
        check_choice("preset", self.preset, PRESETS)
        if self.preset == "finetune" and self.bert_model is None:
            raise ModelError("the preset finetune needs a transformer")
        presets = PRESETS["finetune" if self.bert_model is not None else self.preset]
        return presets["transition" if self.model_type == "transition" else "graph"]

    def _arguments(self, preset: Preset) -> dict[str, Any]:
        """Return the arguments of Stanza's training program. Raises ModelError for unknown ones."""
        arguments = stanza_program.parse_args([])
        unknown = {*preset.arguments, *(self.arguments or {})} - set(arguments)
        if unknown:
            raise ModelError(f"Stanza's parser has no argument {', '.join(sorted(unknown))}")
        own = {"model_type": self.model_type, "pretrain": self.vectors is not None}
        own |= {"yields": True} if self.gives_arcs else {}
        own |= SMOOTHING if self.gives_arcs and self.bert_model is not None else {}
        own |= JOINT_ARGUMENTS if self.finds_tags else {}
        # Switched on, `use_ufeats` only makes Stanza (1.15) concatenate the embedding of the tags once more.
        return self._filled(arguments, preset, **own, use_ufeats=False)

    def _bring_other_models(self, directory: Path, arguments: dict[str, Any]) -> Pretrain | None:
        """Copy vectors and language models into the model's directory, so that it can be moved."""
        for source, name in zip(self.charlm or (), _CHARLM, strict=False):
            try:
                shutil.copyfile(source, directory / name)
            except OSError as error:
                raise ModelError(f"{source}: cannot be read: {error.strerror or error}") from None
        arguments |= _charlm_arguments(directory, self.charlm is not None)
        if self.vectors is None:
            return None
        vectors = str(self.vectors)
        text = {} if vectors.endswith(".pt") else {"vec_filename": vectors, "save_to_file": False}
        with loading(vectors, "no word vectors"):
            pretrain = Pretrain(None if text else vectors, max_vocab=arguments["pretrain_max_vocab"], **text)
            pretrain.load()
        return pretrain


def _units(trainer: Trainer, name: str) -> tuple[str, ...]:
    """Return what a vocabulary of a network knows."""
    known = trainer.vocab[name]
    return tuple(known.unmap(range(VOCAB_PREFIX_SIZE, len(known))))


def _load(directory: Path, device: str, has_encoder: bool) -> tuple[Trainer, Pretrain | None]:
    """has_encoder: as the settings have it, which `d2c info` shows"""
    path, vectors = directory / StanzaParser.FILE, directory / _VECTORS
    charlm = _charlm_arguments(directory, (directory / _CHARLM[0]).exists())
    encoder, tokenizer = read_encoder(directory / FOLDER) if has_encoder else (None, None)
    with loading(path):
        pretrain = read_vectors(vectors) if vectors.exists() else None
        checkpoint = read_checkpoint(path, ("model", "vocab", "config"))
        config, vocab = checkpoint["config"], MultiVocab.load_state_dict(checkpoint["vocab"])
        config |= charlm | {"bert_model": NAME if has_encoder else None, "use_peft": False}
        config |= {"pretrain": pretrain is not None, "wandb": False}
        combination = config.get("transition_subtree_combination", "NONE")
        config["transition_subtree_combination"] = SubtreeCombination[combination]
        kind = TRAINERS[next((name for name, own in _WEIGHTS.items() if own in checkpoint["model"]), "graph")]
        own = {"emb_matrix": pretrain.emb if pretrain else None, "bert_model": encoder}
        build = partial(kind.build_model, config, vocab, **own, bert_tokenizer=tokenizer)
        model = load_network(path, checkpoint, build).to(device)
        return kind(config, vocab, pretrain, model, build_optimizer=False), pretrain


def _charlm_arguments(directory: Path, present: bool) -> dict[str, Any]:
    """Return the arguments for language models; Stanza wants a name beside their files."""
    if not present:
        return {"charlm": False} | dict.fromkeys(CHARLM)
    files = {key: str(directory / name) for key, name in zip(CHARLM, _CHARLM, strict=True)}
    return {"char": True, "charlm": True, "charlm_shorthand": "d2c"} | files
