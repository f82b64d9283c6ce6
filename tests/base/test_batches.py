"""Streams are cut by the number of elements, and by words."""

from __future__ import annotations

from d2c.base.batches import WORDS, batches


def test_by_number() -> None:
    assert [*batches("abcde", 2)] == [["a", "b"], ["c", "d"], ["e"]]
    assert [*batches("", 2)] == []


def test_by_words() -> None:
    room = 2 * WORDS
    sizes = [room, room + 9, 1, room - 1, 1, 0, 0, 5]
    assert [*batches(sizes, 2, int)] == [[room], [room + 9], [1, room - 1], [1, 0], [0, 5]]
    assert [*batches([], 2, int)] == []


def test_nothing_is_read_before_it_is_needed() -> None:
    read = list[int]()
    found = batches((read.append(i) or 1 for i in range(9)), 3, int)
    assert next(found) == [1, 1, 1]
    assert read == [0, 1, 2]
