#!/usr/bin/env bash
# spaCy 3.8.18: when a token is split, its parts take tags, labels, morphology and entities of the words that follow.
#
# Expected: "attributes are inherited from the original token" where none are given (docstring of retokenizer.split).
# Seen: only the first part inherits. The second part has the attributes of the next word, the third those of the one
# after, and beyond the end of the Doc none: n't of "They don't often go" is an adverb labelled advmod because "often" is.
# A part without a label counts as its own head, whatever head was given: in "I live in NewYork", the reference's own
# example, split without attrs, York is a root, and "in" has no object.
# Of the attributes below, none is inherited by parts after the first; those given in `attrs` are as given. There is no
# error or warning. This affects anyone who splits contractions or compounds of a parsed Doc.
# What to do: give TAG, POS, DEP, MORPH and ENT_TYPE for each part in `attrs`. Heads and labels are right then.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "click==8.5.1" 2>/dev/null
"$place/env/bin/python" - <<'END'
import spacy
from spacy.tokens import Doc

VOCAB = spacy.blank("en").vocab
WORDS = 5


def parsed():
    """Return a Doc whose words are all attached to the first, with attributes of their own."""
    own = range(WORDS)
    doc = Doc(
        VOCAB,
        [f"{word}abc" for word in own],
        heads=[0] * WORDS,
        deps=[f"dep{word}" for word in own],
        tags=[f"TAG{word}" for word in own],
        morphs=[f"Number={word}" for word in own],
        ents=[f"B-E{word}" for word in own],
    )
    return doc


def split(doc, index, parts, **attrs):
    """Split a word; its first part is attached to the first word, others to their first part."""
    heads = [(doc[0], 0), *[(doc[index], 0)] * (len(parts) - 1)]
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[index], parts, heads=heads, attrs=attrs)


def attributes(token):
    return token.tag_[3:], token.dep_[3:], str(token.morph)[7:], token.ent_type_[1:]


print("spaCy", spacy.__version__)
doc = Doc(VOCAB, ["I", "live", "in", "NewYork"], heads=[1, 1, 1, 2], deps=["nsubj", "ROOT", "prep", "pobj"])
with doc.retokenize() as retokenizer:  # the example of the reference
    retokenizer.split(doc[3], ["New", "York"], heads=[(doc[3], 1), doc[2]])
print("I live in NewYork:", *(f"{token.text}<-{token.head.text}/{token.dep_ or '-'}" for token in doc))
assert [token.head.text for token in doc] == ["live", "live", "live", "York", "York"] and doc[4].dep_ == ""

for cuts in (["1", "abc"], ["1", "ab", "c"]):
    for index in range(1, WORDS):
        doc = parsed()
        parts = [str(index), *cuts[1:]]
        split(doc, index, parts)
        got = [attributes(token) for token in doc[index : index + len(parts)]]
        seen = [str(one) if one < WORDS else "" for one in range(index, index + len(parts))]
        print(f"word {index} of {WORDS - 1} in {len(parts)} parts:", *(one[0] or "-" for one in got))
        assert got == [(one,) * 4 for one in seen]
        rootless = [token.head.i == token.i for token in doc[index + 1 : index + len(parts)]]
        assert rootless == [one == "" for one in seen[1:]]

        doc = parsed()
        split(doc, index, parts, DEP=[f"dep{index}"] * len(parts), TAG=[f"TAG{index}"] * len(parts))
        assert all(attributes(token)[:2] == (str(index),) * 2 for token in doc[index : index + len(parts)])
        assert [token.head.i for token in doc[index + 1 : index + len(parts)]] == [index] * (len(parts) - 1)
END
