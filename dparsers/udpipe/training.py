"""UDPipe's training as a program of its own, and sentences as UDPipe takes them.

In a process of its own because UDPipe's training neither lets other threads of Python run nor can be
interrupted, and says how far it is on standard error only. The program imports nothing of ours.

    python udpipe_training.py OPTIONS MODEL < DATA

DATA is JSON, [train, dev], each a list of `[forms, tags, features, heads, labels]`. MODEL is UDPipe's own
binary format, holding a parser alone. An error is the last line on standard error.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ufal.udpipe import ProcessingError, Sentence, Sentences, Trainer

Row = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[int], Sequence[str]]


def sentence_of(forms: Iterable[str], tags: Iterable[str], features: Iterable[str]) -> Sentence:
    """A sentence without heads. Its parser reads tags from UPOS; it would read XPOS only beside them."""
    sentence = Sentence()
    for form, tag, feature in zip(forms, tags, features, strict=True):
        word = sentence.addWord(form)
        word.upostag, word.feats = tag, feature
    return sentence


def _sentences(rows: Iterable[Row]) -> Sentences:
    sentences = Sentences()
    for forms, tags, features, heads, labels in rows:
        sentence = sentence_of(forms, tags, features)
        for m, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
            sentence.setHead(m, head, label)
        sentences.append(sentence)
    return sentences


def main(options: str, model: str) -> int:
    """Trains; returns the exit status."""
    if hasattr(signal, "SIGPIPE"):  # end with whoever reads the reports, however that one ended
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    train, dev = map(_sentences, json.load(sys.stdin))
    error = ProcessingError()
    data = Trainer.train("morphodita_parsito", train, dev, Trainer.NONE, Trainer.NONE, options, error)
    if error.occurred():
        print(error.message, file=sys.stderr)
        return 1
    Path(model).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
