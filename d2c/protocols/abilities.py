"""What routes and d-parsers declare of themselves, each as one value: what they provide beyond their verbs,
and what they require of each other.

Code that needs an ability asks for it here, never for a name or a class. What does not go together is refused
in one place, `d2c.routes.compatibility`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RouteAbilities:
    """What a route provides beyond c-trees, and which d-trees it can do with.

    confidences:  `confidences_all` knows some
    k_best:       `decode_k_best` has more than the best c-tree
    k_best_arcs:  it has these among packed arcs, of which `decode` knows nothing
    packed_arcs:  it looks among all packed arcs of a d-tree. Where those of `fit` have any, it learns over
                  these, `arcs_` as all else; otherwise see `fit_arcs`
    oracle:       there is an `oracle`
    own_labels:   decoding reads other labels than the d-parser's; `relabel` gives d-trees those
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
        """Return whether it requires the labels that it encodes of the d-parser."""
        return not (self.own_labels or self.conventions)


@dataclass(frozen=True, kw_only=True)
class TaggerAbilities:
    """What a tagger, as it is set, requires.

    gpu: it is made for a GPU, and there is none here
    """

    gpu: bool = False


@dataclass(frozen=True, kw_only=True)
class DParserAbilities(TaggerAbilities):
    """What a d-parser, as it is set, provides beyond d-trees, and what it requires.

    packed_arcs: it says how probable other heads are, by `parse_packed`
    tags:        it gives words tags of its own as it parses them, and by `tag`
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
