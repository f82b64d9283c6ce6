"""Broken texts: bytes, words, numbers, lines, columns, runs and encodings of a good one are changed."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from random import Random

PIECES = [
    *(b"(", b")", b" ", b"\n", b"\t", b"\r", b"\r\n", b"#", b"0", b"-", b"_", b"=", b"|", b":", b"/", b"%"),
    *(b"\0", b"\xff", b"\x1b", b"\x85", b"<", b">", b"&", b'"', b"'", b"&#0;", b"&amp;", b"]]>", b"<!--"),
    *("é".encode(), "\N{NO-BREAK SPACE}".encode(), "\N{LINE SEPARATOR}".encode(), "\ufeff".encode()),
    *(b"\xed\xa0\x80", "\U0001f600".encode(), "\N{ZERO WIDTH SPACE}".encode(), b"\x0c", b"\x0b", b"\x1c"),
]
NUMBERS = [
    *("0", "-1", "-0", "+1", "1.5", "1e9", "1e999", "nan", "0x10", "007", "2147483648", "4294967296"),
    *("200000000", "99999999999999999999", "-200000000", "１２", "٣", "²", "½", "", "1-2", "2.1", "1_000"),
]
WORDS = [
    *("", "_", "--", "-NONE-", "*T*-1", "#BOS 1", "#EOS 1", "#BOS", "#500", "#501", "%%", "%%x", "x%%", "#"),
    *("-LRB-", "-RRB-", "(", ")", "()", "0=x", "1=", "=", "0", "a b", "a\tb", "root||NP", "||#1", "NP#1#1"),
    *(
        "NP|S#2",
        "root|S",
        "ROOT",
        "TOP",
        "VROOT",
        "-TOP-",
        "NP-SBJ-1=2",
        "\N{NO-BREAK SPACE}",
        "\x01",
        "\x7f",
    ),
    *(
        "&amp;",
        "<a>",
        "{",
        "}",
        "[",
        "]",
        "\\",
        "$(",
        "''",
        "``",
        '"',
        "'",
        "é",
        "漢字",
        "\u200b",
        "\ud7ff",
        "\uffff",
    ),
    *(
        "default",
        "left",
        "rightdis",
        "*",
        "NP*",
        "punctuation",
        "LABELED",
        "CUTOFF_LEN",
        "DELETE_LABEL",
        "#x",
    ),
]
ENCODINGS = ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig", "utf-7", "cp037", "koi8-r"]

_WORD = re.compile(rb"[^\s()<>\"=|:/]+")
_NUMBER = re.compile(rb"[0-9]+")


def mutated(rng: Random, text: bytes) -> bytes:
    """The text after one to four edits."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        text = rng.choices(EDITS, WEIGHTS)[0](rng, text)[:20_000_000]
    return text


def of_bytes(rng: Random, text: bytes) -> bytes:
    """Some bytes changed, deleted or added, or the end cut off."""
    i, k = rng.randrange(len(text) + 1), rng.randint(1, 6)
    new = rng.choice(PIECES) if rng.random() < 0.8 else bytes([rng.randrange(256)])
    edits = [
        text[:i] + new + text[i + 1 :],
        text[:i] + text[i + k :],
        text[:i] + new + text[i:],
        text[:i] + new * rng.choice((2, 10, 1000)) + text[i:],
        text[:i] if rng.random() < 0.3 else text[:i] + text[i + 1 :],
    ]
    return rng.choice(edits)


def of_runs(rng: Random, text: bytes) -> bytes:
    """A run copied, once or many times, moved, or exchanged with another one."""
    i, j, k = sorted(rng.randrange(len(text) + 1) for _ in range(3))
    edits = [
        text[:i] + text[i : i + 40] * rng.choice((2, 2, 3, 200)) + text[i + 40 :],
        text[:i] + text[j:k] + text[i:j] + text[k:],
        text[:j] + text[i:j] + text[j:],
    ]
    return rng.choice(edits)


def of_words(rng: Random, text: bytes) -> bytes:
    """One word, or all that are the same, replaced, or two exchanged."""
    found = list(_WORD.finditer(text))
    if not found:
        return of_bytes(rng, text)
    word, other = rng.choice(found), rng.choice(found)
    new = rng.choice(WORDS).encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        new = b"x" * rng.choice((1000, 100_000))
    if rng.random() < 0.2:
        return text.replace(word[0], new)
    return _replaced(text, word, rng.choice((new, new, other[0], word[0] + new, new + word[0])))


def of_numbers(rng: Random, text: bytes) -> bytes:
    """One number, or all that are the same, made another one, huge, or none."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return of_words(rng, text)
    number = rng.choice(found)
    new = rng.choice(NUMBERS).encode()
    if rng.random() < 0.2:
        new = rng.choice((b"1" + b"0" * 5000, b"-" + b"9" * 4301, str(int(number[0][:9]) + 1).encode()))
    return text.replace(number[0], new) if rng.random() < 0.1 else _replaced(text, number, new)


def of_lines(rng: Random, text: bytes) -> bytes:
    """Lines exchanged, dropped, copied, emptied or joined."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return of_runs(rng, text)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            lines[i], lines[j] = lines[j], lines[i]
        case 1:
            del lines[i]
        case 2:
            lines.insert(j, lines[i])
        case 3:
            lines[i] = rng.choice((b"\n", b" \n", b"\t\n", b"\r\n", b"#\n", b"%%\n"))
        case 4:
            lines[i] = lines[i].rstrip(b"\n")
        case _:
            lines = lines[: i + 1] * 2
    return b"".join(lines)


def of_columns(rng: Random, text: bytes) -> bytes:
    """Of a line with tabs or blanks: columns dropped, copied, exchanged or emptied."""
    lines = text.split(b"\n")
    i = rng.randrange(len(lines))
    separator = b"\t" if b"\t" in lines[i] else b" "
    columns = lines[i].split(separator)
    j, k = rng.randrange(len(columns)), rng.randrange(len(columns))
    match rng.randrange(5):
        case 0:
            del columns[j]
        case 1:
            columns.insert(k, columns[j])
        case 2:
            columns[j], columns[k] = columns[k], columns[j]
        case 3:
            columns[j] = b""
        case _:
            columns = columns[:j]
    lines[i] = separator.join(columns)
    return b"\n".join(lines)


def of_encodings(rng: Random, text: bytes) -> bytes:
    """The same in another encoding, with other line breaks, packed, or nothing at all."""
    decoded = text.decode("utf-8", "replace")
    match rng.randrange(6):
        case 0 | 1:
            return decoded.encode(rng.choice(ENCODINGS), "replace")
        case 2:
            return text.replace(
                b"\n", rng.choice((b"\r", b"\r\n", b"\n\r", b"\n\n", b"\x85", b"\xe2\x80\xa8"))
            )
        case 3:
            return rng.choice(
                (b"", b"\n", b" ", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\0" * 100_000, b"\r" * 9)
            )
        case 4:
            return gzip.compress(text)
        case _:
            return b"\xef\xbb\xbf" + text


def _replaced(text: bytes, match: re.Match[bytes], new: bytes) -> bytes:
    return text[: match.start()] + new + text[match.end() :]


Edit = Callable[[Random, bytes], bytes]
EDITS: list[Edit] = [of_bytes, of_runs, of_words, of_numbers, of_lines, of_columns, of_encodings]
WEIGHTS = [4, 2, 4, 3, 2, 2, 1]
