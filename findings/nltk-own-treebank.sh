#!/usr/bin/env bash
# nltk 3.10.4: the treebank readers no longer read a folder of your own.
#
# Expected: BracketParseCorpusReader(folder, files) reads bracketed trees in any folder, as its documentation and the
# NLTK book (chapter 2, loading your own corpus) say, and as NLTK 3.9.4 does, with a warning.
# Seen: since 3.10 the reader raises PermissionError ("Security Violation", "Unauthorized path") unless the folder is
# one of NLTK's data folders: in some of these versions when the reader is made, in others when it reads. So programs
# that have read a treebank for years now fail. Tree.fromstring, given the text, does not check.
# What to do: keep the treebank where NLTK keeps its data, or read the file yourself and pass its text to Tree.fromstring.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -m 1777 "$place/shared" # as /tmp is: a temporary folder that others cannot write to counts as NLTK's
mkdir "$place/bank"
echo "(S (NP (PRP They)) (VP (VBD slept)) (. .))" >"$place/bank/a.mrg"
cat >"$place/try.py" <<'END'
import sys

import nltk
from nltk.corpus.reader import BracketParseCorpusReader

folder, allowed = sys.argv[1:]
try:
    [tree] = BracketParseCorpusReader(folder, r".*\.mrg").parsed_sents()
    found = tree.pformat()
except PermissionError as error:
    found = "refused" if "Unauthorized path" in str(error) else str(error)
with open(f"{folder}/a.mrg") as stream:
    text = nltk.Tree.fromstring(stream.read()).pformat()
print("nltk", nltk.__version__, found)
assert text == "(S (NP (PRP They)) (VP (VBD slept)) (. .))"
assert found == (text if allowed == "yes" else "refused")
END
python3 -m venv "$place/env"
for kind in "3.9.4 yes" "3.10.4 no"; do
    set -- $kind
    "$place/env/bin/pip" install -q "nltk==$1" 2>/dev/null
    TMPDIR="$place/shared" "$place/env/bin/python" "$place/try.py" "$place/bank" "$2"
done
