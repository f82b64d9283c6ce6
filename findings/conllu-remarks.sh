#!/usr/bin/env bash
# conllu 6.0.0: comments that are not a name with a value are lost, and so is the first of two with the same name.
#
# Expected: parse(text)[0].serialize() gives back all comments of a sentence, including those without `=`. CoNLL-U allows
# comments of any text; `# newpar` has no `=`, and the library keeps it, with the value None.
# Seen: `newpar` and `newdoc` are the only comments without `=` that are kept. An annotator's remark is dropped without a
# warning, and so are all but the last comment of a name, since metadata is a dict. The same happens in MISC, where UD's
# treebanks occasionally have a name twice. Anything with `=` in it counts as a pair, whatever it says.
# What to do: to write comments back, read the lines that begin with # separately, and keep MISC as text.
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
