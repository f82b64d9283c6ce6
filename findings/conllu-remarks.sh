#!/usr/bin/env bash
# conllu 6.0.0: comments that are no pairs of a name and a value are lost, and of two with one name the first.
#
# Expected: parse(text)[0].serialize() gives back the comments of a sentence, also those without `=`: CoNLL-U has comments
# of any text, `# newpar` is one without `=`, and the library keeps it, with the value None.
# Seen: `newpar` and `newdoc` are the only ones that are kept without `=`. A remark of an annotator is left out, with no
# warning, and so is all but the last comment of a name, since metadata is a dict; in MISC, where UD's treebanks have a
# name twice here and there, it is the same. What has `=` in it counts as a pair, whatever it says.
# Read the lines that begin with # apart where they are to be written again, and MISC as it stands.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "conllu==6.0.0" 2>/dev/null
"$place/env/bin/python" - <<'END'
from importlib.metadata import version

import conllu

COMMENTS = ["# newpar", "# text = Hello", "# checked twice", "# alternative = noun", "# alternative = verb"]
TOKEN = ["1", "Hello", "hello", "INTJ", "UH", "_", "0", "root", "_", "Entity=(e1|Entity=e2)|SpaceAfter=No"]
[sentence] = conllu.parse("\n".join([*COMMENTS, "\t".join(TOKEN), "", ""]))
*comments, token = sentence.serialize().strip().split("\n")
print("conllu", version("conllu"), comments, token.split("\t")[-1])
assert sentence.metadata == {"newpar": None, "text": "Hello", "alternative": "verb"}
assert comments == ["# newpar", "# text = Hello", "# alternative = verb"]
assert token.split("\t") == [*TOKEN[:-1], "Entity=e2)|SpaceAfter=No"]
END
