#!/usr/bin/env bash
# treetools 1.0.2: discobrackets are written with words numbered from 1, but read as if numbered from 0.
#
# Expected: it reads what it writes; the reader's docstring, too, numbers n words from 1 to n.
# Seen: every word is replaced by the next one, and the last by the number 0; the rest of the tree is right. There is no
# error or warning while reading. If numbered from 0, the same line is read correctly.
# What to do: subtract 1 from all numbers before reading, or keep trees as export.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "treetools==1.0.2" 2>/dev/null
{
    echo "#BOS 1"
    printf '%s\t%s\t--\t--\t%s\n' What WP 501 did AUX 500 Ann NE 500 read VB 501 '?' '$.' 0 '#500' S 0 '#501' VP 500
    echo "#EOS 1"
} >"$place/export"
"$place/env/bin/python" - "$place" <<'END'
import re
import sys
from importlib.metadata import version
from pathlib import Path

from treetools import treeinput, treeoutput, trees

PLACE = Path(sys.argv[1])


def words(path):
    [tree] = treeinput.discobrackets(str(path), "utf-8", quiet=True)
    return [leaf.data["word"] for leaf in trees.terminals(tree)]


print("treetools", version("treetools"))
[tree] = treeinput.export(str(PLACE / "export"), "utf-8", quiet=True)
with open(PLACE / "one", "w") as stream:
    treeoutput.discobrackets(tree, stream)
written = (PLACE / "one").read_text()
(PLACE / "zero").write_text(re.sub(r" (\d)\)", lambda found: f" {int(found[1]) - 1})", written))
print(written, words(PLACE / "one"), words(PLACE / "zero"))
assert written == "(VROOT(S(VP(WP 1)(VB 4))(AUX 2)(NE 3))($. 5))\tWhat did Ann read ?\n"
assert words(PLACE / "one") == ["did", "Ann", "read", "?", 0]
assert words(PLACE / "zero") == ["What", "did", "Ann", "read", "?"]
END
