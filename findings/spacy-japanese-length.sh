#!/usr/bin/env bash
# spaCy 3.8.18 with SudachiPy 0.7.0: Japanese text of more than 49,149 bytes is refused, long before nlp.max_length.
#
# Expected: `max_length` is "the maximum allowed length of text for processing", 1,000,000 characters as in any other
# language, and a longer text is error E088, which says so and that max_length may be raised.
# Seen: 16,383 letters of Japanese are split into words; 16,384 (49,152 bytes of UTF-8) raise sudachipy.errors.SudachiError.
# This is a limit of SudachiPy's tokenizer, whose input spaCy neither measures nor splits. nlp.max_length changes nothing,
# and a page of an encyclopaedia can be longer. Ideographs beyond the basic plane count four bytes: 12,287 are safe.
# What to do: pass a sentence or a short paragraph at a time.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" "sudachipy==0.7.0" "sudachidict-core==20261015" 2>/dev/null
"$place/env/bin/python" - <<'END'
import spacy
from sudachipy.errors import SudachiError

nlp = spacy.blank("ja")
text = "今日は晴れた。" * 3000  # today the sky was clear
print("spaCy", spacy.__version__, "max_length", f"{nlp.max_length:,}")
assert nlp.max_length == 1_000_000
words = len(nlp(text[:16_383]))
print(f"16,383 characters: {words:,} words")
assert words > 10_000
nlp.max_length = 10**9
try:
    nlp(text[:16_384])
except SudachiError as error:
    print("16,384 characters:", error)
    assert "49149" in str(error)
else:
    raise SystemExit("they are cut into words now")
END
