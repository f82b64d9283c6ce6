#!/usr/bin/env bash
# spaCy 3.8.18: in Indonesian some reduplicated words are one token, others three, by a list that takes seconds to load.
#
# Expected: a doubled word, the plural of Indonesian (anak-anak, children), is always one token, or is always split
# at its hyphen; spacy.blank("id") takes about as long as spacy.blank("en"), since both consist only of rules.
# Seen: 15,600 words with hyphens are exceptions that stay whole, and all others are three tokens: anak-anak and
# buku-buku (books) are one, wartawan-wartawan (journalists) and anak-anaknya (his children) are three. So a parser sees
# the plurals of common and of rarer nouns as different constructions. Building the exceptions takes ten to twenty times
# as long as all of English. Malay (ms) has 7,800 of these, but different ones: buku-buku is three tokens there.
# Treebanks differ: ICON (PACLIC 2023) splits at nearly every hyphen.
# What to do: follow the treebank, and either remove words with a hyphen between letters from
# Indonesian.Defaults.tokenizer_exceptions, or keep all such words whole.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
import re
import time

import spacy


def made(language):
    begin = time.process_time()
    return spacy.blank(language), time.process_time() - begin


made("en")  # what is imported once
(english, quick), (indonesian, slow), (malay, _) = map(made, ("en", "id", "ms"))
print("spaCy", spacy.__version__)
for name, nlp in (("en", english), ("id", indonesian), ("ms", malay)):
    kept = sum(re.search(r"[^\W\d]-[^\W\d]", word) is not None for word in nlp.tokenizer.rules)
    print(f"{name}: {len(nlp.tokenizer.rules):,} exceptions, {kept:,} of them with a hyphen between letters")
print(f"id takes {slow / quick:.0f} times as long as en")
assert slow > 5 * quick
words = "anak-anak", "buku-buku", "wartawan-wartawan", "mahasiswa-mahasiswa", "anak-anaknya"
found = {word: [token.text for token in indonesian(word)] for word in words}
print(found)
assert [len(tokens) for tokens in found.values()] == [1, 1, 3, 3, 3]
assert len(malay("anak-anak")) == 1 and len(malay("buku-buku")) == 3
END
