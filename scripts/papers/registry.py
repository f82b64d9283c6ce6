"""The tables and figures by name. Another one is a function in a module and a row of TABLES."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module, resources
from typing import NamedTuple

from papers.experiment import PaperExperiment
from papers.table import Table

PAD = "Transforming Dependencies into Phrase Structures (PAD)"
REDUCTION = "Parsing as Reduction"
AUTOMATA = "Transition-based Dependency Parsing as Latent-Variable Constituent Parsing"


class Row(NamedTuple):
    """A table.

    path:     `module:function`; the function takes what `many` says and returns the table
    paper:    that it is from, or that its question is from
    title:    in one line
    figures:  the paper's own, `published/NAME.csv`, and of which data they are; None where it has none
    many:     whether the function takes a list of experiments, one for each treebank, and not one of them
    """

    path: str
    paper: str
    title: str
    figures: str | None = None
    many: bool = False


TABLES = {
    "pad-1": Row("papers.pad_speed:pruning", PAD, "Table 1: pruning", "WSJ 22"),
    "pad-2": Row(
        "papers.pad:gold_dependencies",
        PAD,
        "Table 2: rules and chart on gold d-trees",
        "WSJ 22; 19 for rules",
    ),
    "pad-3": Row(
        "papers.pad_systems:systems",
        PAD,
        "Table 3: other c-parsers",
        "WSJ 23 and the test part of CTB 5.1",
    ),
    "pad-4": Row("papers.pad:dparsers", PAD, "Table 4: d-parsers", "WSJ 22"),
    "pad-5": Row("papers.pad_errors:rules", PAD, "Table 5: errors of binary rules", "WSJ 22"),
    "pad-errors": Row("papers.pad_errors:brackets", PAD, "Table 4 (b) of the draft: wrong brackets"),
    "pad-figure-5": Row("papers.pad_speed:run_time", PAD, "Figure 5: run time against length"),
    "pad-recovery": Row("papers.pad:recovery", PAD, "Section 7: few c-trees, d-trees for all", "WSJ 22; F1"),
    "pad-binarization": Row(
        "papers.pad:binarization", PAD, "Section 3.3: Markovized grammars, collapsed unary nodes"
    ),
    "pad-tuning": Row("papers.pad_tuning:tuning", PAD, "Section 6: λ and γ", "what was chosen"),
    "pad-jackknife": Row("papers.pad:jackknife", PAD, "Section 6: learning from jackknifed d-trees"),
    "reduction-1": Row("papers.reduction:encodings", REDUCTION, "Table 1: d-parsers and encodings", "WSJ 22"),
    "reduction-2": Row("papers.reduction:systems", REDUCTION, "Table 2: other systems", "WSJ 23"),
    "reduction-3": Row(
        "papers.reduction_treebanks:spmrl",
        REDUCTION,
        "Table 3: many treebanks",
        "treebanks of SPMRL 2014, test",
        many=True,
    ),
    "reduction-4": Row(
        "papers.reduction_treebanks:gaps",
        REDUCTION,
        "Table 4: treebanks with gaps",
        "TIGER and NEGRA, test",
        many=True,
    ),
    "automata": Row("papers.automata:parsers", AUTOMATA, "transition systems beside other parsers"),
}


def make_table(name: str, experiments: Sequence[PaperExperiment]) -> Table:
    """One of TABLES; of the first experiment where it is about one treebank."""
    module, function = TABLES[name].path.split(":")
    make = getattr(import_module(module), function)
    table: Table = make(experiments if TABLES[name].many else experiments[0])
    return table


def published(name: str) -> str | None:
    """The paper's own figures as CSV; None where it has none."""
    file = resources.files("papers") / "published" / f"{name}.csv"
    return file.read_text(encoding="utf-8") if file.is_file() else None
