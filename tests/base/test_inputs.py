"""Which files are meant: each once, in one order; directories, patterns, ranges, and what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.base.inputs import files_of, find_files, is_pattern, names_of, of_each

FILES = (
    "wsj/02/b.mrg",
    "wsj/02/a.mrg.gz",
    "wsj/03/c.mrg",
    "wsj/10/d.mrg",
    "wsj/10/.x.mrg",
    "wsj/README",
    "e.mrg",
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in map(Path, FILES):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def found(*given: str, suffixes: tuple[str, ...] | None = (".mrg",)) -> list[str]:
    return [*map(str, find_files(map(Path, given), suffixes))]


SECTIONS = ["wsj/02/a.mrg.gz", "wsj/02/b.mrg", "wsj/03/c.mrg", "wsj/10/d.mrg"]


def test_files_keep_their_order_and_come_once() -> None:
    assert found("e.mrg", "-", "wsj/02", "wsj/02/b.mrg", "e.mrg") == ["e.mrg", "-", *SECTIONS[:2]]
    assert found("wsj/README", "/dev/null") == ["wsj/README", "/dev/null"]


def test_directories() -> None:
    assert found("wsj") == SECTIONS
    assert found("wsj", suffixes=None) == [*SECTIONS, "wsj/README"]
    assert [*map(str, find_files([Path("wsj")], (".mrg",), Path("wsj/02")))] == SECTIONS[2:]


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("wsj/*/*.mrg", SECTIONS[1:]),
        ("wsj/**/*.mrg*", SECTIONS),
        ("wsj/0?", SECTIONS[:3]),
        ("wsj/[1-9]*", SECTIONS[3:]),
        ("wsj/02..03", SECTIONS[:3]),
        ("wsj/{02..03}", SECTIONS[:3]),
        ("wsj/{02..03}/*.mrg", SECTIONS[1:3]),
        ("wsj/10..10/d.mrg", SECTIONS[3:]),
    ],
)
def test_patterns_and_ranges(pattern: str, files: list[str]) -> None:
    assert found(pattern) == files
    assert is_pattern(Path(pattern))


def test_each_file_comes_once_by_what_it_is() -> None:
    Path("link.mrg").symlink_to("e.mrg")
    Path("hard.mrg").hardlink_to("e.mrg")
    for others in (str(Path("e.mrg").resolve()), "./e.mrg", "link.mrg", "hard.mrg", "wsj/../e.mrg"):
        assert found("e.mrg", others) == ["e.mrg"] and found(others, "e.mrg") == [str(Path(others))]
    Path("wsj/02/z.mrg").symlink_to("b.mrg")
    assert found("wsj") == SECTIONS


def test_directories_go_into_no_linked_ones() -> None:
    """They may lead in circles."""
    Path("other").mkdir()
    Path("other/f.mrg").touch()
    Path("wsj/04").symlink_to(Path("other").resolve())
    Path("wsj/02/up").symlink_to("..")
    assert found("wsj") == SECTIONS and found("wsj/04") == ["wsj/04/f.mrg"]


@pytest.mark.parametrize("pattern", ["wsj/**/*.mrg*", "**/*.mrg*", "*/**/*.mrg*", "**/**/*.mrg*", "wsj/**"])
def test_patterns_go_into_no_linked_directories(pattern: str) -> None:
    """With two links in circles a walk through them would never end."""
    for name in ("x", "y"):
        Path("wsj/02", name).symlink_to(".")
    Path("wsj/.hidden").mkdir()
    Path("wsj/.hidden/f.mrg").touch()
    before = ["e.mrg"] if pattern.startswith("**") else []
    after = ["wsj/03/README", "wsj/README"] if pattern.endswith("**") else []
    Path("wsj/03/README").touch()
    assert sorted(found(pattern)) == sorted(before + SECTIONS + after)
    assert found("wsj/0**/*.mrg") == ["wsj/02/b.mrg", "wsj/03/c.mrg"]  # `**` that is no whole name is `*`
    Path("there").symlink_to("wsj")
    assert found("there/**/*.mrg") == ["there/02/b.mrg", "there/03/c.mrg", "there/10/d.mrg"]


def test_a_name_that_is_there_is_no_pattern() -> None:
    for name in ("a[1].mrg", "1..3.mrg", "{1..3}"):
        Path(name).touch()
        assert found(name) == [name] and not is_pattern(Path(name))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("none.mrg", "none.mrg: cannot be read: No such file or directory"),
        ("wsj/02..04", "wsj/04: cannot be read: No such file or directory"),
        ("wsj/03..02", "wsj/03..02: there is no number from 03 to 02"),
        ("wsj/*.psd", "wsj/*.psd: no file has such a name"),
        ("empty", "empty: no file in it is called .mrg; say --format"),
    ],
)
def test_what_is_not_there(given: str, says: str) -> None:
    Path("empty").mkdir()
    with pytest.raises(FormatError) as caught:
        found("e.mrg", given)
    assert str(caught.value) == says


def test_several_files_as_one() -> None:
    one, several = Path("a"), (Path("a"), Path("b"), Path("c"))
    assert files_of(one) == (one,) and files_of(several) == several
    assert [names_of(paths) for paths in (one, several[:1], several[:2], several, Path("-"))] == [
        *("a", "a", "a and 1 more file", "a and 2 more files", "<stdin>")
    ]
    assert [*of_each(lambda path: iter(str(path) * 2))(several)] == [*"aabbcc"]
