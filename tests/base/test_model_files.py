"""Settings of models, and the digests of their files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from d2c.base.errors import ModelError
from d2c.base.model_files import (
    check_digests,
    digest_of_directory,
    digests,
    read_as,
    read_json,
    read_settings,
    reading,
    write_settings,
)
from d2c.base.numbers import Count, Share, Weight
from d2c.learning.settings import LearnerSettings


def test_settings_come_back(tmp_path: Path) -> None:
    write_settings(tmp_path / "a" / "x.json", 3, {"name": "ö", "size": 1.5})
    assert read_settings(tmp_path / "a" / "x.json", 3) == {"format": 3, "name": "ö", "size": 1.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[" * 200_000 + "]" * 200_000, "is not JSON"),
        ('{"a": ' * 200_000, "is not JSON"),
        ('{"format": NaN}', "is not JSON"),
        ('{"format": "\\ud800"}', "is not JSON"),
        ('{"format": ' + "9" * 5_000 + "}", "is not JSON"),
        ('{"format": "\xff"}', "is not JSON"),
        ("[]", "holds no settings"),
        ("{}", "says no format"),
        ('{"format": [3]}', "says no format"),
        ('{"format": 4}', "has format 4; this version of d2c reads 3"),
    ],
)
def test_broken_settings(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="latin-1")
    with pytest.raises(ModelError, match=f"^[^\n]*x.json: {message}$"):
        read_settings(tmp_path / "x.json", 3)


class Part(NamedTuple):
    """In a file, a list."""

    share: Share = 0.5
    weight: Weight = 0.0


@dataclass(frozen=True)
class Whole:
    """A file with numbers in ranges at several places."""

    parts: tuple[Part, ...] = ()
    counts: dict[str, Count] = field(default_factory=dict)
    name: str = ""
    settings: LearnerSettings = LearnerSettings()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"parts": [[0.1], [1, 2], [7]]}, "parts[2][0] is 7: Expected `float` <= 1.0"),
        ({"parts": [[0.1, -1e31]]}, "parts[0][1] is -1e+31: Expected `float` >= -1e+30"),
        ({"parts": [[0, 10**400]]}, f"parts[0][1] is 1{'0' * 17}...{'0' * 18}: Number out of range"),
        ({"counts": {"x": -1}}, "counts[...]: Expected `int` >= 0"),
        ({"name": ["x"]}, "name: Expected `str`, got `array`"),
        ({"name": None}, "name is null: Expected `str`, got `null`"),
        ({"settings": {"rate": 1e9}}, "settings: rate is 1000000000.0, not more than 0 and at most 1000"),
        ({"settings": {"seed": -1}}, "settings: seed is -1, not at least 0 and at most 4294967295"),
        ({"settings": {"epochs": 10**400}}, f"settings: epochs is 1{'0' * 27}...{'0' * 28}, not at least 0"),
    ],
)
def test_an_error_says_file_field_value_and_range(said: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(said))
    with pytest.raises(ModelError) as found:
        read_as(file, None, Whole)
    assert str(found.value).startswith(f"{file}: is broken ({message}")
    assert len(str(found.value).splitlines()) == 1 and len(str(found.value)) < 300 + len(str(file))


def test_a_large_file_is_not_read_again_for_the_value(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"name": 7, "more": "x" * (1 << 20)}))
    with pytest.raises(ModelError, match=r"x.json: is broken \(name: Expected `str`, got `int`\)"):
        read_as(file, None, Whole)


def test_what_is_no_file_or_too_large(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="x: cannot be read: No such file"):
        read_json(tmp_path / "x")
    with pytest.raises(ModelError, match="cannot be read: it is no file"):
        read_json(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="pipe: cannot be read: it is no file"):
        read_json(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(ModelError, match="large: has 1,099,511,627,776 bytes, more than"):
        read_json(tmp_path / "large")


def test_any_error_is_one_short_line() -> None:
    for error in (ValueError("a\nb"), RecursionError("x" * 9_999), MemoryError(), NotImplementedError()):
        with pytest.raises(ModelError) as found, reading(Path("file")):
            raise error
        assert "\n" not in str(found.value) and len(str(found.value)) < 300
    with pytest.raises(ModelError) as found, reading(Path("file")):
        raise ValueError("begins " + "x" * 9_999 + " ends")
    said = f"begins {'x' * 91}...{'x' * 93} ends"
    assert str(found.value) == f"file: is broken ({said}); train the model again"


def test_digests(tmp_path: Path) -> None:
    for file in ("a/x", "a/deep/y", "b/z"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(file)
    known = digests(tmp_path, ("a", "b"))
    assert [*known] == ["a/deep/y", "a/x", "b/z"]
    check_digests(tmp_path, ("a", "b"), known)
    (tmp_path / "b" / "z").write_text("y")
    check_digests(tmp_path, ("a",), known)
    with pytest.raises(ModelError, match="b/z: is damaged; copy or train the model again$"):
        check_digests(tmp_path, ("a", "b"), known)
    (tmp_path / "b" / "z").unlink()
    with pytest.raises(ModelError, match="b/z: is missing"):
        check_digests(tmp_path, ("a", "b"), known)
    (tmp_path / "a" / "other").write_text("x")
    with pytest.raises(ModelError, match="a/other: is no file of this model"):
        check_digests(tmp_path, ("a",), known)


def test_large_files_are_not_read_to_be_found_wrong(tmp_path: Path) -> None:
    """A sparse file of 50 GB is refused by its size, and one that is not expected by its name."""
    (tmp_path / "route").mkdir()
    (tmp_path / "route" / "a").write_bytes(b"a")
    expected = digests(tmp_path, ["route"])
    with open(tmp_path / "route" / "b", "wb") as stream:
        stream.truncate(50 << 30)
    with pytest.raises(ModelError, match="route/b: is no file of this model; copy or train the model again$"):
        check_digests(tmp_path, ["route"], expected)
    with pytest.raises(ModelError, match="route/b: has 53,687,091,200 bytes, more than the 8,589,934,592 "):
        check_digests(tmp_path, ["route"], expected | {"route/b": "x"})
    with pytest.raises(ModelError, match="route/b: has 53,687,091,200 bytes"):
        digests(tmp_path, ["."])


def test_the_digest_of_a_directory(tmp_path: Path) -> None:
    digests = []
    for name, content in (("a", "x"), ("b/c", "x"), ("b/c", "y"), ("b/d", "y")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
        digests.append(digest_of_directory(tmp_path))
    assert len({*digests}) == 4 and digest_of_directory(tmp_path) == digests[-1]
