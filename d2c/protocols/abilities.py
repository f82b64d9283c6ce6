"""What routes and d-parsers declare of themselves, each as one value: what they provide beyond the methods
that all have, and what they require of each other.

Code that needs an ability asks for it here, never for a name or a class. What does not go together is refused
in one place, `d2c.routes.compatibility`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RouteAbilities:
    """What a route provides beyond c-trees, and which d-trees it can use.

    confidences:  `confidences_all` knows some
    k_best:       `decode_k_best` gives more than the best c-tree
    k_best_arcs:  `decode_k_best` searches packed arcs, which `decode` ignores
    packed_arcs:  it searches all packed arcs of a d-tree. If d-trees of `fit` have any, it learns all from
                  them, `arcs_` included; otherwise see `fit_arcs`
    oracle:       there is an `oracle`
    own_labels:   decoding reads other labels than the d-parser's; `relabel` gives d-trees these labels
    conventions:  it learns from d-trees of any convention, not only from those that it encodes, and so has
                  `fit_grammar`
    """

    confidences: bool = False
    k_best: bool = False
    k_best_arcs: bool = False
    packed_arcs: bool = False
    oracle: bool = False
    own_labels: bool = False
    conventions: bool = False

    @property
    def needs_labels(self) -> bool:
        """Return whether the d-parser must give the labels that the route encodes."""
        return not (self.own_labels or self.conventions)


@dataclass(frozen=True, kw_only=True)
class TaggerAbilities:
    """What a tagger, with its settings, requires.

    gpu: it is made for a GPU, but is to run on a CPU
    """

    gpu: bool = False


@dataclass(frozen=True, kw_only=True)
class DParserAbilities(TaggerAbilities):
    """What a d-parser, with its settings, provides beyond d-trees, and what it requires.

    packed_arcs: it says how probable other heads are, by `parse_packed`
    tags:        it predicts the tags of words as it parses them, and by `tag`
    text:        it cuts text by its `rules`, and tags words by `tag`
    foreign:     it was trained elsewhere, on d-trees of another convention (UD, ClearNLP): `train` teaches it
                 nothing, and it requires a route that learns conventions, from `parse_training`
    given:       it parses nothing: it requires that d-trees come with the input
    in_order:    it has its d-trees in order, and requires all sentences in one stream
    """

    packed_arcs: bool = False
    tags: bool = False
    text: bool = False
    foreign: bool = False
    given: bool = False
    in_order: bool = False
