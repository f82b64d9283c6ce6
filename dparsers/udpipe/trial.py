"""A program that reads a model of UDPipe's and parses a sentence; its exit status is 0 where it could.

    python trial.py MODEL

UDPipe trusts the files that it reads: damaged ones make it read past its memory, or ask for all there is. So
this takes no more than a gigabyte and some seconds. It imports nothing of ours.
"""

from __future__ import annotations

import resource
import sys

from ufal.udpipe import Model, ProcessingError, Sentence

_BYTES, _SECONDS = 1 << 30, 5


def main(path: str) -> int:
    """Tries a model; returns the exit status."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    model, sentence = Model.load(path), Sentence()
    for form, tag in (("a", "A"), ("b", "B")):
        sentence.addWord(form).upostag = tag
    return 0 if model is not None and model.parse(sentence, "beam_search=1", ProcessingError()) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
