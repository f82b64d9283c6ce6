#!/usr/bin/env bash
# spacy-udpipe 1.0.0 on spaCy 3.8.18: ready-made sentences and words are refused, and documents have another text.
#
# Expected: nlp(text) takes a string, a list of sentences, or a list of lists of words, as its README says ("unprocessed",
# "presegmented", "pretokenized"); it asks for spaCy >=3.0,<4. And doc.text is the text, as in spaCy, whose tokenizers
# never change it, so that token.idx finds the word there.
# Seen: both kinds of lists raise ValueError (E1041): spaCy checks the type before it calls the tokenizer, whose place
# UDPipe takes. And whatever blanks a string has, its document has one between words and none before the first: after two
# blanks or a line break every idx, and every span found in the text by characters, is too far left. There is no warning.
# What to do: nlp.tokenizer(words) takes the lists and is all there is to this pipeline, which has no components. For
# places in the text, look up the words one after the other, each from the end of the one before.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "spacy==3.8.18" "spacy-udpipe==1.0.0" "ufal.udpipe==1.4.0.1" 2>/dev/null
cd "$place"
"$place/env/bin/python" - <<'END'
from importlib.metadata import version

import spacy_udpipe
from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

# A model of UDPipe, trained on one sentence: how well it parses is not the point.
ROWS = ["1 They they PRON PRP _ 2 nsubj _ _", "2 slept sleep VERB VBD _ 0 root _ SpaceAfter=No", "3 . . PUNCT . _ 2 punct _ _"]
treebank = InputFormat.newConlluInputFormat()
treebank.setText("\n".join(row.replace(" ", "\t") for row in ROWS) + "\n\n")
sentence, sentences, error = Sentence(), Sentences(), ProcessingError()
assert treebank.nextSentence(sentence, error)
for _ in range(20):
    sentences.append(sentence)
options = "epochs=5;run=1", "iterations=2", "iterations=2;hidden_layer=10;transition_system=projective"
with open("small.udpipe", "wb") as file:
    file.write(Trainer.train("morphodita_parsito", sentences, Sentences(), *options, error))

nlp = spacy_udpipe.load_from_path("en", "small.udpipe")
print("spacy-udpipe", version("spacy-udpipe"), "spacy", version("spacy"))
for given in (["They slept.", "They slept."], [["They", "slept", "."], ["They", "slept", "."]]):
    try:
        nlp(given)
        raise SystemExit("the list is taken")
    except ValueError as refused:
        print(str(refused)[:58])
    assert [token.text for token in nlp.tokenizer(given)] == ["They", "slept", "."] * 2

for text in ("They slept .", "They  slept .", "  They slept .", "They slept .\n\nThey slept ."):
    doc = nlp(text)
    wrong = [token.text for token in doc if not text.startswith(token.text, token.idx)]
    print(repr(text), "doc.text", repr(doc.text), "not found at idx:", wrong)
    assert (doc.text != text) == bool(wrong) == (text != "They slept .")
END
