"""Generated trees of rare constructions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from d2c.trees.formats.brackets import format_bracket, parse_bracket
from models.everyday import LISTS, read_everyday
from treebanks.generated import generated_trees

TEMPLATES = """# Words that fill <PLACES>.
WHO: (NP (PRP he)) | (NP <WHAT>)
WHAT: (NN tea) | (NN milk) | (NN rice) | (NN fish)
# headings without a number say nothing
# gapping 3
(S (S <WHO> (VP (VBD had) (NP <WHAT>))) (CC and) (S <WHO> (NP <WHAT>)))
# others 1
(FRAG <WHAT>)
"""


def test_places_are_filled_and_no_tree_is_there_twice(tmp_path: Path) -> None:
    file = tmp_path / "templates.txt"
    file.write_text(TEMPLATES)
    trees = [*generated_trees(1, file)]
    assert len({*trees}) == 4 and trees == [*generated_trees(1, file)] != [*generated_trees(2, file)]
    for tree in trees:
        forms = parse_bracket(tree).tokens.forms
        assert format_bracket(parse_bracket(tree)) == tree and "<" not in tree
        assert forms[0][0].isupper() and max(Counter(form.lower() for form in forms).values()) == 1
    file.write_text(TEMPLATES.replace("others 1", "others 5"))
    with pytest.raises(ValueError, match="fewer than 5"):
        [*generated_trees(1, file)]


def test_no_sentence_of_a_list_is_generated() -> None:
    generated = {letters(" ".join(parse_bracket(tree).tokens.forms)) for tree in generated_trees(1)}
    assert len(generated) > 1000
    assert not generated & {letters(one.text) for name in LISTS for one in read_everyday(name)}


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()
