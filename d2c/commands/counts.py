"""What `search --count` and `phrases --count` write: a row for each file and each pattern or label.

A terminal shows blocks of rows, one for each file or, if there are more files than names, one for each name;
several files have a total.

    a.mrg: 12 sentences, 250 words                   NP < PP
    label  phrases  sentences_with  per_1000_words   file   matches  sentences_with  sentences  words  ...
    NP          81              12          324.00   a.mrg       12               8         12    250
    PP          20              10           80.00   total       15              11         20    430
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from d2c.base.columns import in_columns, terminal_width, wrapped
from d2c.base.counting import many
from d2c.base.errors import printable
from d2c.base.files import open_output
from d2c.base.tables import TABLES, Put
from d2c.trees.conventions import PENN_TREEBANK, Convention, convention_of
from d2c.trees.ctree import CTree


class CountTable:
    """Counts what was found, and sentences with any, by file and name; all sentences and words, by file.

    Words are tokens with a letter or a digit that are no empty elements, such as traces. The column called
    `kind` has the names, the one called `what` how many were found, `per_1000_words` how many per 1,000.
    """

    def __init__(self, kind: str, what: str) -> None:
        numbers = dict.fromkeys((what, "sentences_with", "sentences", "words"), int)
        self.columns: dict[str, type] = {"file": str, kind: str, **numbers, "per_1000_words": float}
        self._found, self._with = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self._sentences, self._words = Counter[str](), Counter[str]()
        self._conventions = dict[str, Convention]()

    def add(self, file: str, ctree: CTree, found: Iterable[str]) -> None:
        """Count a sentence, given its tree. found: the name of each thing that was found in it"""
        here = Counter([(file, name) for name in found])
        self._found.update(here)
        self._with.update(here.keys())
        self._sentences[file] += 1
        convention = self._conventions.get(file, PENN_TREEBANK)
        if convention is PENN_TREEBANK:  # until a tree shows another convention
            convention = self._conventions[file] = convention_of([ctree])
        no_text = convention.no_text(ctree)
        words = [form for i, form in enumerate(ctree.tokens.forms) if i not in no_text]
        self._words[file] += sum([any(map(str.isalnum, word)) for word in words])

    def rows(self, files: Iterable[str], names: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows of the files that sentences are from, in order, or of `files` without any sentences.

        names: those that have a row in each file; if empty, all that were found in any file
        """
        names = [*dict.fromkeys(names)] or sorted({name for _, name in self._found})
        for file in self._sentences or files:
            for key in [(file, name) for name in names]:
                numbers = self._found[key], self._with[key], self._sentences[file], self._words[file]
                yield self._row(*key, numbers)

    @contextmanager
    def opened(self, output: Path, to: str, safe: bool) -> Iterator[Put]:
        """Begin a table in one of the formats TABLES; `columns` is written at the end."""
        if to != "columns":
            with TABLES[to].opened(output, self.columns, safe) as put:
                yield put
            return
        rows, width = list[dict[str, Any]](), terminal_width() if str(output) == "-" else None
        with open_output(output) as stream:
            yield lambda row: rows.append(dict(row))
            stream.writelines(f"{line}\n" for line in self._blocks(rows, width))

    def _row(self, file: str, name: str, numbers: Sequence[int]) -> dict[str, Any]:
        found, words = numbers[0], numbers[-1]
        share = round(1000 * found / words, 2) if words else None
        return dict(zip(self.columns, (file, name, *numbers, share), strict=True))

    def _blocks(self, rows: list[dict[str, Any]], width: int | None) -> Iterator[str]:
        """Yield the lines of blocks of rows, by file or by name."""
        file, kind, *numbers, share = self.columns
        files, names = len({row[file] for row in rows}), _grouped(rows, kind)
        if files > 1:
            for name, alike in names.items():
                rows.append(self._row("total", name, [sum(row[n] for row in alike) for n in numbers]))
        of_files, by_file = numbers[2:], files == 1 or files < len(names)
        by, columns = (file, [kind, *numbers[:2], share]) if by_file else (kind, [file, *numbers, share])
        for number, (group, own) in enumerate(_grouped(rows, by).items()):
            said = ", ".join([many(own[0][of], of.removesuffix("s")) for of in of_files])
            if number:
                yield ""
            heading = printable(f"{group}: {said}" if by_file else group)
            yield from wrapped(heading, width) if width else [heading]
            cells = [[_cell(row[column]) for column in columns] for row in own]
            yield from in_columns([columns, *cells], width, [0])


def _grouped(rows: Iterable[dict[str, Any]], column: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows with each value of a column, in order."""
    groups = defaultdict[str, list[dict[str, Any]]](list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else printable(str(value))
