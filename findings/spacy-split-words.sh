#!/usr/bin/env bash
# spaCy 3.8.18: its scorer gives a UAS, LAS and token accuracy of 100 to a parse that has no word of the treebank.
#
# Expected: Scorer counts what is predicted and what is gold, so words that a tokenizer splits too finely cost precision,
# as in the CoNLL 2018 evaluation (udtools), where only words with the same characters are aligned. The reference says
# nothing else under score_deps and score_token_attr, and defines token_acc as "number of correct tokens / number of
# predicted tokens".
# Seen: all parts of a gold word stand for that word, in a set: however many there are, together they count as one
# prediction, and a right one. Below, a sentence is "parsed" with its words split at hyphens, then with every letter as a
# word; all parts depend on the last part of their word's head. spaCy finds UAS, LAS, POS and token_acc 100 both
# times. udtools finds a third of the words and no right head the first time, and nothing the second. Only spaCy's
# token_f shows it. With the same two the other way round, so that gold words are the finer ones, spaCy's UAS is 0.
# What to do: compare parsers with udtools, or give them the treebank's words; read spaCy's UAS only beside token_f.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" "udtools==0.2.9" "udapi==0.5.2" 2>/dev/null
"$place/env/bin/python" - "$place" <<'END'
import sys
from pathlib import Path

import spacy
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from udtools.udeval import evaluate, load_conllu_file

PLACE = Path(sys.argv[1])
VOCAB = spacy.blank("en").vocab
WORDS = ["She", "re-read", "old", "e-mails"]
HEADS = [1, 1, 3, 1]
DEPS = ["nsubj", "root", "amod", "obj"]
TAGS = ["PRON", "VERB", "ADJ", "NOUN"]


def parsed(parts):
    """Return the sentence in these parts of its words, with their words' tags, relations and heads."""
    texts = [part for word in parts for part in word]
    word_of = [word for word, its in enumerate(parts) for _ in its]
    last = {word: part for part, word in enumerate(word_of)}
    return Doc(
        VOCAB,
        texts,
        spaces=[last[word] == part and word < len(WORDS) - 1 for part, word in enumerate(word_of)],
        heads=[last[HEADS[word]] for word in word_of],
        deps=[DEPS[word] for word in word_of],
        pos=[TAGS[word] for word in word_of],
    )


def by_spacy(predicted, gold):
    example = Example(predicted, gold)
    scores = Scorer.score_deps([example], "dep") | Scorer.score_token_attr([example], "pos")
    scores |= Scorer.score_tokenization([example])
    return {
        name: round(100 * scores[name]) for name in ("dep_uas", "dep_las", "pos_acc", "token_acc", "token_f")
    }


def by_udtools(predicted, gold):
    scores = evaluate(*(load_conllu_file(written(doc)) for doc in (gold, predicted)))
    return {name: round(100 * scores[name].f1) for name in ("UAS", "LAS", "UPOS", "Words")}


def written(doc):
    """Write CoNLL-U; of the parts of the root, the last is the root and the others hang from it."""
    path = PLACE / f"{len(doc)}.conllu"
    rows = [
        (token.i + 1, token.text, "_", token.pos_, "_", "_", 0 if token.head == token else token.head.i + 1)
        + ("dep" if token.dep_ == "root" and token.head != token else token.dep_, "_", "_")
        for token in doc
    ]
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows) + "\n")
    return str(path)


whole = parsed([[word] for word in WORDS])
hyphens = parsed([["She"], ["re", "-", "read"], ["old"], ["e", "-", "mails"]])
letters = parsed(WORDS)
print("spaCy", spacy.__version__)
seen = []
cases = (("at hyphens", hyphens, whole), ("letters", letters, whole), ("reversed", whole, hyphens))
for name, predicted, gold in cases:
    seen.append((by_spacy(predicted, gold), by_udtools(predicted, gold)))
    print(f"{name} ({len(predicted)} words for {len(gold)}):", *seen[-1])
right = {"dep_uas": 100, "dep_las": 100, "pos_acc": 100, "token_acc": 100}
assert seen[0][0] == right | {"token_f": 33} and seen[1][0] == right | {"token_f": 0}
assert seen[0][1]["Words"] == 33 and seen[0][1]["UAS"] == 0 and set(seen[1][1].values()) == {0}
assert seen[2][0]["dep_uas"] == 0
END
