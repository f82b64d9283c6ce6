"""Files of d-trees with packed arcs: CoNLL-U, and beside it Parquet, a row with the arcs of each sentence.

pyarrow, of the extra `tables`, is imported only for such arcs: `needs_parquet` asks for it before long work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from d2c.base.errors import needs
from d2c.packed.arcs import ArcLabels, PackedArcs, packed_arcs, with_packed_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu


def needs_parquet() -> tuple[Any, Any]:
    """Return pyarrow and its module of Parquet. Raises ModelError where they are not installed."""
    return needs("pyarrow", "tables"), needs("pyarrow.parquet", "tables")


def _schema(pa: Any) -> Any:
    """Return the fields of `PackedArcs`; labels are their names, and all logarithms in one list."""
    numbers = dict.fromkeys(("logs", "yields", "labels"), pa.large_list(pa.float32()))
    places = dict.fromkeys(("begin", "heads"), pa.list_(pa.int32()))
    return pa.schema({**places, **numbers, "names": pa.list_(pa.string())})


def save_dtrees(dtrees: Sequence[DTree], stem: Path) -> None:
    """Write d-trees, and their packed arcs if they have any, into stem.conllu and stem.parquet."""
    save_conllu(dtrees, stem.with_suffix(".conllu"))
    rows = [arcs and _row(arcs) for arcs in map(packed_arcs, dtrees)]
    if any(rows):
        pa, parquet = needs_parquet()
        schema = _schema(pa)
        columns = {name: [row and row.get(name) for row in rows] for name in schema.names}
        parquet.write_table(pa.table(columns, schema), stem.with_suffix(".parquet"))


def read_dtrees(sentences: Sequence[Tokens], stem: Path) -> list[DTree]:
    """Read what `save_dtrees` wrote, over the tokens of the sentences."""
    pairs = zip(sentences, read_conllu(stem.with_suffix(".conllu")), strict=True)
    dtrees = [replace(dtree, tokens=tokens) for tokens, dtree in pairs]
    file = stem.with_suffix(".parquet")
    if not file.exists():
        return dtrees
    pa, parquet = needs_parquet()
    rows = zip(*parquet.read_table(file, schema=_schema(pa)), strict=True)
    return list(map(with_packed_arcs, dtrees, map(_arcs, rows)))


def _row(arcs: PackedArcs) -> dict[str, Any]:
    row = arcs._asdict() | {"labels": None}
    return row | {"names": arcs.labels.names, "labels": arcs.labels.logs.ravel()} if arcs.labels else row


def _arcs(row: Sequence[Any]) -> PackedArcs | None:
    """Return the arcs of a row; arrays are copied, as kernels are compiled for writable arrays."""
    begin, heads, logs, yields, labels, names = (one.values for one in row)
    if begin is None:
        return None
    begin, heads, logs = (np.array(one) for one in (begin, heads, logs))
    known = names and ArcLabels(tuple(names.to_pylist()), np.array(labels).reshape(len(heads), len(names)))
    return PackedArcs(begin, heads, logs, known, None if yields is None else np.array(yields))
