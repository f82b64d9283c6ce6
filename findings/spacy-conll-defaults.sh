#!/usr/bin/env bash
# spacy-conll 4.0.1 on spaCy 3.8.18: the component cannot be added with its own defaults, as its README adds it.
#
# Expected: nlp.add_pipe("conll_formatter") works, since spacy-conll asks for "spacy >=3.0.1", and spaCy's releases of one
# minor version are compatible.
# Seen: it works on spaCy 3.8.7 (confection 0.1.5), but on 3.8.18 (confection 1.3.4) it raises ConfigValidationError: three
# parameters of the factory are annotated as dicts and are None by default. Older spaCy's checks, by pydantic 1, accepted
# None as a default of any type; now a default is checked like a given value. The same happens with every factory
# written in this way, shown below with one of three lines: `def f(nlp, name, words: dict = None)` is refused.
# What to do: pass empty dicts for the three parameters, which mean the same; in your own factories, write Optional.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cat >"$place/try.py" <<'END'
import sys
from typing import Dict, Optional

import spacy
import spacy_conll
from spacy.tokens import Doc

FORMATTER = dict.fromkeys(("conversion_maps", "ext_names", "field_names"))


@spacy.Language.factory("none_by_default")
def none_by_default(nlp, name, words: Dict[str, str] = None):
    return lambda doc: doc


@spacy.Language.factory("optional")
def optional(nlp, name, words: Optional[Dict[str, str]] = None):
    return lambda doc: doc


def adds(factory, **config):
    """Return whether a component can be added."""
    try:
        spacy.blank("en").add_pipe(factory, config=config)
    except ValueError as error:  # ConfigValidationError is one
        assert type(error).__name__ == "ConfigValidationError"
        return False
    return True


nlp = spacy.blank("en")
nlp.add_pipe("conll_formatter", config={name: {} for name in FORMATTER})
doc = Doc(nlp.vocab, ["They", "slept"], heads=[1, 1], deps=["nsubj", "ROOT"], tags=["PRP", "VBD"])
lines = nlp.get_pipe("conll_formatter")(doc)._.conll_str.splitlines()
print("spaCy", spacy.__version__, "with empty dicts:", lines[0].replace("\t", " "))
assert lines[0].split("\t")[6:8] == ["2", "nsubj"] and lines[1].split("\t")[6:8] == ["0", "ROOT"]

found = [adds("conll_formatter"), adds("none_by_default"), adds("optional")]
print("added with defaults: conll_formatter, a dict that is None, an optional dict:", *found)
assert found == ([True] * 3 if sys.argv[1] == "old" else [False, False, True])
END
for kind in "old spacy==3.8.7 confection==0.1.5 click==8.1.8" "new spacy==3.8.18 confection==1.3.4 click==8.5.1"; do
    set -- $kind
    python3 -m venv "$place/$1"
    "$place/$1/bin/pip" install -q "$2" "$3" "$4" "spacy-conll==4.0.1" 2>/dev/null
    "$place/$1/bin/python" "$place/try.py" "$1"
done
