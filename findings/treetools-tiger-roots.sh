#!/usr/bin/env bash
# treetools 1.0.2: sentences of TIGER XML in which several nodes have no parent are skipped.
#
# Expected: nodes without a parent, as punctuation often is, are put below VROOT, as the same reader does with a single
# root and as treetools does in export, where their parent is 0.
# Seen: such a sentence is left out. A line on stderr says so, except with the option quiet; no error is
# raised. Of the PCC's 1,729 sentences 131 are read.
# What to do: add a node VROOT over the nodes without a parent. Then the sentence is read, as checked below.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "treetools==1.0.2" 2>/dev/null
"$place/env/bin/python" - "$place" <<'END'
import sys
from contextlib import redirect_stderr
from importlib.metadata import version
from io import StringIO
from pathlib import Path

from treetools import treeinput, trees

FILE = Path(sys.argv[1]) / "tiger.xml"
TERMINALS = '<t id="s1_1" word="Ann" pos="NE"/><t id="s1_2" word="reads" pos="VB"/><t id="s1_3" word="." pos="$."/>'
S = '<nt id="s1_500" cat="S"><edge idref="s1_1" label="SB"/><edge idref="s1_2" label="HD"/></nt>'
VROOT = '<nt id="s1_501" cat="VROOT"><edge idref="s1_500" label="--"/><edge idref="s1_3" label="--"/></nt>'


def read(nonterminals, root, **options):
    """Return the words of each sentence, and what stderr says."""
    FILE.write_text(
        f'<corpus id="c"><body><s id="s1"><graph root="{root}"><terminals>{TERMINALS}</terminals>'
        f"<nonterminals>{nonterminals}</nonterminals></graph></s></body></corpus>"
    )
    with redirect_stderr(StringIO()) as said:
        found = [
            [leaf.data["word"] for leaf in trees.terminals(tree)]
            for tree in treeinput.tigerxml(str(FILE), "utf-8", **options)
        ]
    return found, said.getvalue()


print("treetools", version("treetools"))
found, said = read(S, "s1_500")
print(found, said.split("\n"))
assert found == [] and "skipping sentence 1: multiple roots: $. S" in said
assert read(S, "s1_500", quiet=True) == ([], "")
assert read(S + VROOT, "s1_501", quiet=True) == ([["Ann", "reads", "."]], "")
END
