"""UDPipe as a program, for a process of its own, and sentences as UDPipe takes them.

UDPipe's training blocks the other threads of Python, cannot be interrupted, and reports progress on standard
error only. And UDPipe trusts the files that it reads: damaged ones make it read past its memory, or ask for
all there is. The program imports nothing of d2c; an error is the last line on standard error.

    python program.py train OPTIONS MODEL < DATA
    python program.py try MODEL

DATA is JSON, [train, dev], each a list of `[forms, tags, features, heads, labels]`. MODEL is UDPipe's own
binary format, holding a parser alone. `try` reads it and parses a sentence, in a gigabyte and five seconds of
computing; the exit status is 0 on success.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

udpipe: Any = import_module("ufal.udpipe")  # SWIG makes its names as it is imported, so they have no types
Columns = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[int], Sequence[str]]

_BYTES, _SECONDS = 1 << 30, 5  # to try a model


def sentence_of(forms: Iterable[str], tags: Iterable[str], features: Iterable[str]) -> Any:
    """Return a sentence without heads; its tags are in UPOS: UDPipe's parser reads XPOS only beside that."""
    sentence = udpipe.Sentence()
    for form, tag, feature in zip(forms, tags, features, strict=True):
        word = sentence.addWord(form)
        word.upostag, word.feats = tag, feature
    return sentence


def _sentences(rows: Iterable[Columns]) -> Any:
    sentences = udpipe.Sentences()
    for forms, tags, features, heads, labels in rows:
        sentence = sentence_of(forms, tags, features)
        for m, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
            sentence.setHead(m, head, label)
        sentences.append(sentence)
    return sentences


def train(options: str, model: str) -> int:
    """Train a model; return the exit status."""
    if hasattr(signal, "SIGPIPE"):  # end when the process that reads the reports has ended, however it did
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    treebank, dev = map(_sentences, json.load(sys.stdin))
    error, trainer = udpipe.ProcessingError(), udpipe.Trainer
    data = trainer.train("morphodita_parsito", treebank, dev, trainer.NONE, trainer.NONE, options, error)
    if error.occurred():
        print(error.message, file=sys.stderr)
        return 1
    Path(model).write_bytes(data)
    return 0


def attempt(path: str) -> int:
    """Try a model; return the exit status."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    model, sentence, error = udpipe.Model.load(path), sentence_of("ab", "AB", "__"), udpipe.ProcessingError()
    return 0 if model is not None and model.parse(sentence, "beam_search=1", error) else 1


if __name__ == "__main__":
    sys.exit(train(*sys.argv[2:]) if sys.argv[1] == "train" else attempt(*sys.argv[2:]))
