#!/usr/bin/env bash
# spaCy 3.8.18: after memory zones the vocabulary counts words that it does not have, one word once for each zone.
#
# Expected: len(nlp.vocab) is "the current number of lexemes stored", as the API reference says, and the words of a
# memory zone are gone after it. So after any number of zones the length is what it was, and equals the number of
# lexemes that iterating yields.
# Seen: `_clear_transient_orths` removes the words but does not reduce the length: after one word in a thousand successive
# zones, it is 1,000 more than before, while iterating yields as many as before and the word is not among them. Anyone who
# watches len(nlp.vocab) to see whether zones keep memory flat is told that they do not.
# len(nlp.vocab.strings) and the memory of the process are as expected. d2c parses in zones and looks at neither.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
import spacy
from spacy.tokens import Doc

nlp = spacy.blank("en")


def sizes():
    return len(nlp.vocab), sum(1 for _ in nlp.vocab), len(nlp.vocab.strings)


before = sizes()
for _ in range(1000):
    with nlp.memory_zone():
        Doc(nlp.vocab, ["unheardof"])
after = sizes()
print("spaCy", spacy.__version__)
for name, *found in zip(("len(vocab)", "lexemes in it", "len(strings)"), before, after):
    print(f"{name}: {found[0]} before, {found[1]} after")
assert "unheardof" not in nlp.vocab and after[1:] == before[1:]
assert after[0] == before[0] + 1000
END
