"""Broken texts: bytes, words, numbers, lines, columns, runs and encodings of a good one are changed."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from random import Random

from fuzzing.seeds import SEEDS

MARKS = "( ) # 0 - _ = | : / % < > & \" ' &#0; &amp; ]]> <!-- é 😀"
ODD = "\N{NO-BREAK SPACE}\N{LINE SEPARATOR}\ufeff\N{ZERO WIDTH SPACE}\0\x1b\x0b\x0c\x1c \n\t\r"
BYTES = [b"\r\n", b"\xff", b"\x85", b"\xed\xa0\x80"]
NUMBERS = """
    0 -1 -0 +1 1.5 1e9 1e999 nan 0x10 007 2147483648 4294967296 200000000 99999999999999999999 -200000000
    １２ ٣ ² ½ 1-2 2.1 1_000"""
WORDS = r"""
    _ -- -NONE- *T*-1 #BOS #500 #501 %% %%x x%% # -LRB- -RRB- ( ) () 0=x 1= = 0 root||NP ||#1 NP#1#1 NP|S#2
    root|S ROOT TOP VROOT -TOP- NP-SBJ-1=2 &amp; <a> { } [ ] \ $( '' `` " ' é 漢字 default left rightdis *
    NP* punctuation LABELED CUTOFF_LEN DELETE_LABEL #x"""
BLANK = ["", "#BOS 1", "#EOS 1", "a b", "a\tb", "\xa0", "\x01", "\x7f", "\u200b", "\ud7ff", "\uffff"]
ENCODINGS = "utf-16 utf-16-le utf-32 latin-1 cp1252 utf-8-sig utf-7 cp037 koi8-r"
LINES = (b"\n", b" \n", b"\t\n", b"\r\n", b"#\n", b"%%\n")
BREAKS = (b"\r", b"\r\n", b"\n\r", b"\n\n", b"\x85", b"\xe2\x80\xa8")
NOTHING = (b"", b"\n", b" ", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\0" * 100_000, b"\r" * 9)

CONFUSABLES = dict(
    zip(
        "()|:#=-_/%<>&'\"\t\n *aceopx019",
        "（）｜：＃＝‐＿∕％＜＞＆’”\u2003\u2028\u3000＊асеорх０１９",
        strict=True,
    )
)

_PIECES = [*map(str.encode, (*MARKS.split(), *ODD)), *BYTES]
_WORD = re.compile(rb"[^\s()<>\"=|:/]+")
_NUMBER = re.compile(rb"[0-9]+")


def edited(rng: Random, text: bytes) -> bytes:
    """Return the text after one to four edits."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        text = rng.choices(EDITS, WEIGHTS)[0](rng, text)[:20_000_000]
    return text


def of_bytes(rng: Random, text: bytes) -> bytes:
    """Change, delete or add some bytes, or cut the end off."""
    i, k = rng.randrange(len(text) + 1), rng.randint(1, 6)
    new = rng.choice(_PIECES) if rng.random() < 0.8 else bytes([rng.randrange(256)])
    edits = [
        text[:i] + new + text[i + 1 :],
        text[:i] + text[i + k :],
        text[:i] + new + text[i:],
        text[:i] + new * rng.choice((2, 10, 1000)) + text[i:],
        text[:i] if rng.random() < 0.3 else text[:i] + text[i + 1 :],
    ]
    return rng.choice(edits)


def of_runs(rng: Random, text: bytes) -> bytes:
    """Copy a run, once or many times, move it, or exchange it with another one."""
    i, j, k = sorted(rng.randrange(len(text) + 1) for _ in range(3))
    edits = [
        text[:i] + text[i : i + 40] * rng.choice((2, 2, 3, 200)) + text[i + 40 :],
        text[:i] + text[j:k] + text[i:j] + text[k:],
        text[:j] + text[i:j] + text[j:],
    ]
    return rng.choice(edits)


def of_words(rng: Random, text: bytes) -> bytes:
    """Replace one word, or all that are the same, or exchange two."""
    found = list(_WORD.finditer(text))
    if not found:
        return of_bytes(rng, text)
    word, other = rng.choice(found), rng.choice(found)
    new = rng.choice((*WORDS.split(), *BLANK)).encode()
    if rng.random() < 0.1:
        new = b"x" * rng.choice((1000, 100_000))
    if rng.random() < 0.2:
        return text.replace(word[0], new)
    return _replaced(text, word, rng.choice((new, new, other[0], word[0] + new, new + word[0])))


def of_numbers(rng: Random, text: bytes) -> bytes:
    """Replace one number, or all that are the same, by another one, a huge one, or nothing."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return of_words(rng, text)
    number = rng.choice(found)
    new = rng.choice(("", *NUMBERS.split())).encode()
    if rng.random() < 0.2:
        new = rng.choice((b"1" + b"0" * 5000, b"-" + b"9" * 4301, str(int(number[0][:9]) + 1).encode()))
    return text.replace(number[0], new) if rng.random() < 0.1 else _replaced(text, number, new)


def of_lines(rng: Random, text: bytes) -> bytes:
    """Exchange, drop, copy, empty or join lines."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return of_runs(rng, text)
    i = rng.randrange(len(lines))
    return b"".join(_of_parts(rng, lines, i, (*LINES, lines[i].rstrip(b"\n"), b"".join(lines[: i + 1]))))


def of_columns(rng: Random, text: bytes) -> bytes:
    """Drop, copy, exchange or empty columns of a line with tabs or blanks."""
    lines = text.split(b"\n")
    i = rng.randrange(len(lines))
    separator = b"\t" if b"\t" in lines[i] else b" "
    columns = lines[i].split(separator)
    lines[i] = separator.join(_of_parts(rng, columns, rng.randrange(len(columns)), (b"",)))
    return b"\n".join(lines)


def of_confusables(rng: Random, text: bytes) -> bytes:
    """Write some marks and letters as others that look alike, or put byte order marks before them."""
    shown = list(text[:100_000].decode("utf-8", "replace"))
    places = [i for i, character in enumerate(shown) if character in CONFUSABLES]
    for i in rng.sample(places, min(len(places), rng.choice((1, 3, 100)))):
        shown[i] = rng.choice((CONFUSABLES[shown[i]], "\ufeff" + shown[i]))
    return "".join(shown).encode() + text[100_000:]


def of_splices(rng: Random, text: bytes) -> bytes:
    """Put a piece of a good text of any format between two lines, or in place of the rest."""
    lines, other = text.splitlines(keepends=True), rng.choice([*SEEDS.values()]).splitlines(keepends=True)
    i, j = rng.randrange(len(lines) + 1), rng.randrange(len(other))
    piece = other[j : j + rng.choice((1, 1, 3, 20))]
    return b"".join([*lines[:i], *piece, *(lines[i:] if rng.random() < 0.7 else ())])


def _of_parts(rng: Random, parts: list[bytes], i: int, others: tuple[bytes, ...]) -> list[bytes]:
    """Exchange a part with another one, drop, copy or replace it, or end with it."""
    j = rng.randrange(len(parts))
    exchanged = [parts[{i: j, j: i}.get(k, k)] for k in range(len(parts))]
    edits = [
        exchanged,
        parts[:i] + parts[i + 1 :],
        parts[:j] + [parts[i]] + parts[j:],
        parts[:i] + [rng.choice(others)] + parts[i + 1 :],
        parts[:i],
    ]
    return rng.choice(edits)


def of_encodings(rng: Random, text: bytes) -> bytes:
    """Return the same in another encoding, with other line breaks, packed, or nothing at all."""
    edits = [
        text.decode("utf-8", "replace").encode(rng.choice(ENCODINGS.split()), "replace"),
        text.replace(b"\n", rng.choice(BREAKS)),
        rng.choice(NOTHING),
        gzip.compress(text),
        b"\xef\xbb\xbf" + text,
    ]
    return rng.choice((edits[0], *edits))


def _replaced(text: bytes, match: re.Match[bytes], new: bytes) -> bytes:
    return text[: match.start()] + new + text[match.end() :]


Edit = Callable[[Random, bytes], bytes]
EDITS: list[Edit] = [of_bytes, of_runs, of_words, of_numbers, of_lines, of_columns, of_encodings]
EDITS += [of_confusables, of_splices]
WEIGHTS = [4, 2, 4, 3, 2, 2, 1, 1, 1]
