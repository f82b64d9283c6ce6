"""Parameters of EVALB and of its SPMRL variant, from .prm files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.scores.prm import Prm, bundled


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is compared, and how. The defaults are those of EVALB without a parameter file.

    max_error:      errors that may follow the first; the next one ends the scoring
    cutoff:         the second summary is of sentences with at most this many tokens
    labeled:        whether the labels of brackets must match
    delete_labels:  brackets that are left out, and tags that are left out with their words
    delete_labels_for_length:  tags of tokens that a sentence's length does not count
    quote_labels:   tags of quotation marks that come back where only one side leaves them out
    equal_labels, equal_words: pairs that are as good as equal, in both directions
    spmrl:          follow the variant of the SPMRL 2013 shared task: words are never left out, `#` ends a
                    label as `-` and `=` do, tags end there too, and sentences of unequal length count as
                    valid ones without brackets. A .prm file does not say which program it is for.
    morphology:     in the variant, tags are compared whole, with the morphological features behind `#`
    """

    max_error: int = 10
    cutoff: int = 40
    labeled: bool = True
    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    equal_labels: frozenset[tuple[str, str]] = frozenset()
    equal_words: frozenset[tuple[str, str]] = frozenset()
    spmrl: bool = False
    morphology: bool = False

    @classmethod
    def read(cls, path: AnyPath, spmrl: bool = False) -> Parameters:
        """The parameters in a .prm file. DEBUG is read over, since it changes no number.

        Raises FormatError for an unknown keyword or a malformed value, where EVALB warns and goes on.
        """
        with open_input(path) as lines:
            return _parse(lines, file_name(path), spmrl)

    @classmethod
    def collins(cls) -> Parameters:
        """The usual parameters for English (Collins, 1997), from the bundled `collins.prm`."""
        return _parse(bundled("collins.prm"), "collins.prm", spmrl=False)

    @classmethod
    def spmrl2013(cls) -> Parameters:
        """The parameters of the SPMRL 2013 shared task, for its variant of EVALB."""
        return cls(
            max_error=10000,
            cutoff=70,
            delete_labels=frozenset({"TOP", "ROOT", "S1", "VROOT", "-NONE-"}),
            delete_labels_for_length=frozenset({"-NONE-"}),
            spmrl=True,
        )


def _parse(lines: Iterable[str], file: str, spmrl: bool) -> Parameters:
    numbers = {"MAX_ERROR": 10, "CUTOFF_LEN": 40, "LABELED": 1, "DEBUG": 0}
    labels = dict.fromkeys(("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL"), (1, 1))
    prm = Prm(lines, file, numbers, labels | {"EQ_LABEL": (2, 2), "EQ_WORD": (2, 2)})
    return Parameters(
        max_error=prm.numbers["MAX_ERROR"],
        cutoff=prm.numbers["CUTOFF_LEN"],
        labeled=prm.numbers["LABELED"] != 0,
        delete_labels=prm.all("DELETE_LABEL"),
        delete_labels_for_length=prm.all("DELETE_LABEL_FOR_LENGTH"),
        quote_labels=prm.all("QUOTE_LABEL"),
        equal_labels=frozenset((a, b) for a, b in prm["EQ_LABEL"]),
        equal_words=frozenset((a, b) for a, b in prm["EQ_WORD"]),
        spmrl=spmrl,
    )
