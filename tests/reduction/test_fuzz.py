"""Whatever a d-parser predicts becomes a valid tree; whatever a file holds is read or refused."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import fuzz
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.repair import KINDS

TREES = 2_000  # of each encoding; scripts/fuzz.py takes more
FILES = 400


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_junk_decodes_to_valid_trees(encoding: str) -> None:
    repairs = fuzz.decode_junk(Random(1), encoding, TREES)
    assert repairs.sentences == TREES
    assert min(repairs.counts[kind] for kind in KINDS) > 0  # every repair was exercised


def test_corrupted_files_are_read_or_refused(tmp_path: Path) -> None:
    counts = fuzz.read_junk(Random(1), tmp_path, FILES)
    assert counts["read"] + counts["refused"] == FILES
    assert min(counts["read"], counts["refused"]) > FILES // 10
