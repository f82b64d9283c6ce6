"""Whatever a file holds is read or refused, and whatever a d-parser predicts becomes a tree; inputs are drawn
anew each time, a part of what scripts/fuzz.py tries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from random import Random, SystemRandom

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.models.model import Model
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu, read_conllu
from d2c.trees.formats.registry import FORMATS, WRITABLE, Place, read_treebank, write_treebank
from d2c.trees.repair import Repairs
from fuzzing import children, commands, fields, fitted, frame, inputs, models, patterns, seeds, writers
from tests import junk

INPUTS, PATTERNS, MODELS, EXTREMES, JOBS = 100, 40, 12, 20, 2
ROOT = Path(__file__).resolve().parents[1]
TWICE = """
from random import Random
from fuzzing import fitted
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
rng, dtrees = Random({seed}), []
for n in rng.choices(range(1, 13), k=60):
    tokens = Tokens(tuple(map(str, range(n))), tuple(rng.choices(("NN", "VB", "."), k=n)))
    heads, labels = rng.choices(range(-1, n + 2), k=n), rng.choices(("NP#1", "VP#2", "S|VP#1", "x"), k=n)
    dtrees.append(DTree(tokens, tuple(heads), labels=tuple(labels)))
for name in fitted.ROUTES:
    print(*fitted.fit(name, fitted.sample(25)).decode_all(dtrees), sep="\\n")
"""


@pytest.mark.parametrize("kind", inputs.TREEBANKS)
def test_there_are_good_texts_of_every_format(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(seeds.SEEDS[kind])
    assert list(read_treebank(path, kind)) and (seeds.writer(kind) or kind in seeds.SHAPES)


class Nouns:
    """A tagger that takes no time."""

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        return (Tokens(tuple(forms), ("NN",) * len(forms)) for forms in sentences)


@pytest.fixture
def seed() -> int:
    number = SystemRandom().randrange(1 << 31)
    print(f"python scripts/fuzz.py --seed {number}")
    return number


def faults_in(directory: Path) -> str:
    return "\n".join(f"{file}\n{file.read_text()[-2000:]}" for file in directory.rglob(frame.FAULT))


@pytest.mark.slow
def test_broken_inputs_are_read_or_refused(small_model: Path, seed: int, tmp_path: Path) -> None:
    model = Model.load(small_model)
    model.tagger_name, model.tagger = "nouns", Nouns()  # type: ignore[assignment]
    rows = frame.try_all(inputs.group(model), seed, INPUTS, JOBS, tmp_path)
    assert not (faults := faults_in(tmp_path)), faults
    assert sum(row.tried for row in rows) == INPUTS
    assert min(sum(row.read for row in rows), sum(row.refused for row in rows)) > INPUTS // 10


def test_patterns_find_what_nltk_does_and_end(seed: int, tmp_path: Path) -> None:
    rows = frame.try_all(patterns.group(), seed, PATTERNS, JOBS, tmp_path)
    assert not (faults := faults_in(tmp_path)), faults
    assert sum(row.tried for row in rows) == PATTERNS and min(row.read for row in rows) > 0


def test_what_an_interrupted_run_says_that_it_has_kept_is_no_fault() -> None:
    left, said = {"x.part", "x.part.log", "y"}, "x.part has what is finished: 2,048 sentences; see --resume\n"
    assert commands.unwanted(left, said) == {"y"}
    assert commands.unwanted(left, "d2c: in.txt.gz: broken gzip file\n") == left


@pytest.mark.slow
def test_of_two_writers_one_wins(small_model: Path, seed: int, tmp_path: Path) -> None:
    model = Model.load(small_model)
    model.tagger_name, model.tagger = "nouns", Nouns()  # type: ignore[assignment]
    rows = frame.try_all(writers.group(model), seed, len(writers.COMMANDS), JOBS, tmp_path)
    assert not (faults := faults_in(tmp_path)), faults
    assert sum(row.read + row.refused for row in rows) == len(writers.COMMANDS)


@pytest.mark.parametrize(
    ("codes", "said", "fault"),
    [
        ([2, 2], "another process is writing it", "not exactly one writer has won"),
        ([0, 0], "", "not exactly one writer has won"),
        ([0, 1], "", "an exit status that is not documented"),
        ([0, 2], "no room", "no line says that there is another writer"),
    ],
)
def test_what_two_writers_may_not_do(codes: list[int], said: str, fault: str) -> None:
    with pytest.raises(children.Fault, match=fault):
        writers.check(codes, [said, said], writers.COMMANDS["two train"], "told")


def test_what_waits_hangs_and_what_works_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that takes on a busy machine."""
    monkeypatch.setattr(children, "PATIENCE", 0.3)

    def work(item: str) -> str:
        began = time.process_time()
        while item == "works" and time.process_time() - began < 0.8:
            pass
        while item == "waits":
            time.sleep(600)
        return item

    limits = children.Limits(20, 1 << 32)
    ended = dict(children.run_all(work, ["waits", "works"], limits, 2))
    assert (ended["waits"].fault, ended["works"]) == ("hung", ended["works"]._replace(said="works", fault=""))


@pytest.mark.slow
def test_broken_models_parse_or_are_refused(small_model: Path, seed: int, tmp_path: Path) -> None:
    directory, ctrees = tmp_path / "models", fitted.sample(25)
    for name in ("reduction-spine", "labeler", "cky", "rules", "combined"):
        model = Model.load(small_model)
        model.route_name, model.route = fitted.ROUTES[name][0], fitted.fit(name, ctrees)
        (directory / name).mkdir(parents=True)
        model.save(directory / name, small_model)
    rows = frame.try_all(models.group(directory), seed, MODELS, JOBS, tmp_path / "failures")
    assert not (faults := faults_in(tmp_path)), faults
    assert sum(row.tried for row in rows) == MODELS


def _is_name(key: object) -> bool:
    return isinstance(key, str)


@pytest.mark.slow
def test_extreme_fields_are_refused_or_give_probabilities(tagged_model: Path, tmp_path: Path) -> None:
    """Of one seed, with which some of the twenty are read."""
    [row] = frame.try_all(models.group_of_extremes([tagged_model]), 20261128, EXTREMES, JOBS, tmp_path)
    assert not (faults := faults_in(tmp_path)), faults
    assert row.tried == EXTREMES and min(row.read, row.refused) > 0, row


def test_every_field_of_every_file_has_a_dozen_extremes(tmp_path: Path) -> None:
    """In the first model that has it; `UNREAD` has none, nor have files in a format of another library."""
    one, other = tmp_path / "one", tmp_path / "other"
    for model, rules in ((one, [[1, "S"], [2, "NP"]]), (other, [[3, "VP"]])):
        model.mkdir()
        (model / "x.json").write_text(json.dumps({"settings": {"rate": 0.5}, "rules": rules, "words": []}))
        (model / "card.json").write_text("{}")
        (model / "parser.udpipe").write_bytes(b"x")
        np.savez(model / "x.npz", weights=np.zeros(3, np.float32))
    (other / "y.json").write_text('{"share": 0.5}')
    edits = [*fields.edits_of([one, other], Random(1))]
    assert len(edits) == 12 * len({edit[:3] for edit in edits})
    ways = {
        (edit.model.name, edit.file, *(key for key in edit.way if isinstance(key, str))) for edit in edits
    }
    assert ways == {
        ("one", "x.json", "settings"),
        ("one", "x.json", "settings", "rate"),
        ("one", "x.json", "rules"),
        ("one", "x.json", "words"),
        ("one", "x.npz", "weights"),
        ("other", "y.json", "share"),
    }
    of_rate, of_rules = (
        [json.loads(fields.edited(edit)) for edit in edits if edit.file == "x.json" and edit.way == way]
        for way in (("settings", "rate"), ("rules",))
    )
    assert [said["settings"]["rate"] for said in of_rate] == fields.EXTREMES
    assert [len(said["rules"]) for said in of_rules[:3]] == [0, 4, 2_000]
    for edit in edits:
        if edit.file == "x.npz":
            with np.load(BytesIO(fields.edited(edit)), allow_pickle=False) as file:
                assert file["weights"].shape != (3,) or file["weights"].any() or edit.number == 1


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", fitted.ROUTES)
def test_junk_decodes_to_valid_trees(name: str, gaps: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng, directory = Random(1), tmp_path_factory.mktemp("junk")
    ctrees = [junk.with_gaps(rng, one) if gaps and i % 2 else one for i, one in enumerate(fitted.sample(40))]
    fitted.fit(name, ctrees).save(directory)
    route = fitted.route_class(fitted.ROUTES[name][0]).load(directory)
    symbols = frozenset(label for ctree in ctrees for label in ctree.labels)
    formats = [one for one in WRITABLE if not gaps or "gaps" in FORMATS[one].holds]
    repairs = Repairs()

    @settings(max_examples=40, deadline=None)
    @given(dtrees=st.lists(junk.dtrees(), min_size=1, max_size=6), format_name=st.sampled_from(formats))
    def decode(dtrees: list[DTree], format_name: str) -> None:
        decoded = list(route.decode_all(dtrees, repairs))
        for dtree, ctree in zip(dtrees, decoded, strict=True):
            junk.check(ctree, dtree.tokens, symbols)
            assert gaps or ctree.is_continuous()
        read_back(decoded, format_name, directory / "x")

    decode()
    junk_of_many_words = DTree(Tokens(("w",) * 400, ("NN",) * 400), tuple(rng.choices(range(402), k=400)))
    junk.check(next(iter(route.decode_all([junk_of_many_words]))), junk_of_many_words.tokens, symbols)
    assert not name.startswith("reduction") or repairs.counts.total()


def read_back(ctrees: list[CTree], format_name: str, path: Path) -> None:
    """Assert that trees come back from a format that can hold them; else one line says why it cannot."""
    write, held = FORMATS[format_name].write, []
    assert write is not None
    for ctree in ctrees:
        try:
            write([ctree], StringIO())
        except ValueError as error:
            assert len(str(error).splitlines()) == 1
        else:
            held.append(ctree)
    if not held:
        return
    with open(path, "w", encoding="utf-8") as stream:
        write_treebank(held, format_name, stream, Place("junk"))
    assert list(read_treebank(path, format_name)) == [inputs.as_held(one, format_name) for one in held]


def test_what_conllu_can_hold_comes_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("conllu") / "x.conllu"

    @given(dtree=junk.dtrees())
    def write_and_read(dtree: DTree) -> None:
        try:
            path.write_text(format_conllu(dtree), encoding="utf-8")
        except ValueError:
            return
        [other] = read_conllu(path)
        assert dtree.tokens.forms == other.tokens.forms
        assert other.heads == tuple(max(-1, head) for head in dtree.heads)

    write_and_read()


@pytest.mark.slow
def test_trees_do_not_depend_on_the_hashes_of_strings(seed: int) -> None:
    """Those of this process, which are drawn, and those of another one."""
    with redirect_stdout(StringIO()) as here:
        exec(TWICE.format(seed=seed), {})
    hashes = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = os.environ | {"PYTHONHASHSEED": hashes, "PYTHONPATH": str(ROOT / "scripts")}
    command = [sys.executable, "-c", TWICE.format(seed=seed)]
    there = subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout
    assert there == here.getvalue() and there.count("\n") == 60 * len(fitted.ROUTES)
