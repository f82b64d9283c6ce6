#!/usr/bin/env bash
# stanza 1.15.0: empty nodes of CoNLL-U are left out when it is read, but the arcs that lead to them stay.
#
# Expected: CoNLL.conll2doc and CoNLL.write_doc2conll give back the words, empty nodes and columns of a valid file:
# Stanza's Document has empty words, which are written.
# Seen: by default (ignore_gapping=True) the file's empty nodes are skipped without a warning. DEPS of the other words
# still names them as heads, so the output is not valid CoNLL-U: a graph with heads that do not exist. In the
# enhanced trees of UD these nodes are the verbs that a second clause leaves out.
# What to do: read with ignore_gapping=False, which keeps all of them.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "stanza==1.15.0" "numpy==2.4.6" 2>/dev/null
"$place/env/bin/python" - <<'END'
import stanza
from stanza.utils.conll import CoNLL

ROWS = """
1 She she PRON PRP _ 2 nsubj 2:nsubj _
2 likes like VERB VBZ _ 0 root 0:root _
3 tea tea NOUN NN _ 2 obj 2:obj _
4 and and CCONJ CC _ 5 cc 5.1:cc _
5 he he PRON PRP _ 2 conj 5.1:nsubj _
5.1 likes like VERB VBZ _ _ _ 2:conj CopyOf=2
6 coffee coffee NOUN NN _ 5 orphan 5.1:obj _
""".split("\n")[1:-1]
TEXT = "# text = She likes tea and he coffee\n" + "\n".join(row.replace(" ", "\t") for row in ROWS) + "\n\n"


def written(**options):
    """Return the rows that come back."""
    lines = "{:C}".format(CoNLL.conll2doc(input_str=TEXT, **options)).splitlines()
    return [line.replace("\t", " ") for line in lines if line[:1].isdigit()]


print("stanza", stanza.__version__)
print("\n".join(written()))
assert written() == [row for row in ROWS if not row.startswith("5.1 ")]
assert sum(" 5.1:" in row for row in written()) == 3
assert written(ignore_gapping=False) == ROWS
END
