"""Basic Universal Dependencies of English c-trees, by rules.

The idea is that of de Marneffe, MacCartney and Manning (2006), "Generating Typed Dependency Parses from
Phrase Structure Parses", and of Schuster and Manning (2016), "Enhanced English Universal Dependencies":
content words are heads; labels, tags, functions and a few words determine relations. The rules themselves are
d2c's own, in tables: `data/heads/universal.txt` says which child is the head, `data/universal.txt` which
relations the others have to it.

    (S (NP (PRP She)) (VP (VBZ is) (ADJP (JJ glad))) (. .))
    She nsubj glad, is cop glad, glad root, . punct glad

Children are attached to each other, node by node from the bottom up; so every d-tree has one root and no
cycle. Linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from d2c.trees.conventions import functions_of, remove_empty, strip_function
from d2c.trees.ctree import CTree
from d2c.trees.heads import load_head_rules
from d2c.trees.universal.dependencies import FINITE, Dependencies
from d2c.trees.universal.marks import attach_marks
from d2c.trees.universal.rules import universal_rules
from d2c.trees.universal.tree import UniversalTree, universal_tokens
from d2c.trees.universal.words import NOMINAL, join_fixed, join_names, join_words

_VERBS = FINITE | {"VB", "VBG", "VBN"}
_AUXILIARIES = "be", "have", "do", "get"
_WITH_VERBS = frozenset(["VP", "S", "SQ", "SINV", "SBARQ", "SBAR", "FRAG", "PRN", "X"])
_FRONTED = {"SBAR": "WH", "SBARQ": "WH", "SINV": "ADVP"}  # fronted children that may be predicates of copulas
_COORDINATORS = frozenset(("CC", "CONJP"))
_KINDS = (  # labels that are coordinated with each other
    "NN NNS NNP NNPS NP NX NML NAC PRP QP CD WHNP $ EX DT",
    "VB VBD VBZ VBP VBG VBN MD VP AUX COP",
    "S SBAR SINV SQ SBARQ FRAG",
    "JJ JJR JJS ADJP",
    "RB RBR RBS ADVP WHADVP WRB",
    "IN TO PP WHPP",
    "PRP$",
)
_KIND = {label: kind for kind, labels in enumerate(_KINDS) for label in labels.split()}


def to_universal(ctree: CTree, text: str = "") -> UniversalTree:
    """Return the basic UD tree of a c-tree with the labels of the Penn Treebank, whose function tags help.

    text: of the sentence, used if no comment of the tokens gives it

    Raises ValueError for a tree of traces alone.
    """
    words = remove_empty(ctree)
    if words is None:
        raise ValueError("a tree without words has no dependencies")
    arcs = _Conversion(words).convert()
    relations = tuple(arcs.relations)
    heads = tuple([head + 1 for head in arcs.heads])
    return UniversalTree(universal_tokens(words.tokens, text, relations), heads, labels=relations)


class _Conversion:
    """A sentence while it is converted.

    names:     [n + K] tags and categories; WHNP for a relative pronoun whose label is NP
    functions: [n + K] function tags
    at:        [n + K] the content word of each node done so far, -1 for punctuation alone
    there:     the nodes of clauses with the expletive `there`, whose verb is no copula
    """

    def __init__(self, ctree: CTree) -> None:
        self.ctree, self.n = ctree, len(ctree.tokens)
        self.arcs = Dependencies(ctree.tokens, universal_rules())
        self.head_rules = load_head_rules("universal")
        self.names = [*self.arcs.tags, *map(strip_function, ctree.labels)]
        self.functions = [*[()] * self.n, *map(functions_of, ctree.labels)]
        self.at = [-1 if word in self.arcs.marks else word for word in range(self.n)]
        only = [*self.arcs.tags]  # [n + K] the tag of the only word; "" for several words
        for node, kids in enumerate(ctree.children, self.n):
            only.append(only[kids[0]] if len(kids) == 1 else "")
            if self.names[node] == "NP" and only[node] in ("WDT", "WP"):
                self.names[node] = "WHNP"
        self.there = set[int]()
        for node in range(ctree.root, self.n - 1, -1):
            kids = ctree.children[node - self.n]
            if node in self.there or any(only[kid] == "EX" for kid in kids):
                self.there.update([node, *(kid for kid in kids if self.names[kid] == "VP")])

    def convert(self) -> Dependencies:
        """Attach all words, and return the arcs."""
        for node, kids in enumerate(self.ctree.children, self.n):
            if any(self.at[kid] >= 0 for kid in kids):
                joined = join_words(self.arcs, self.names, kids) if len(kids) > 1 else kids
                if len(joined) > 1 and self.names[node] in NOMINAL:
                    joined = join_names(self.arcs, self.names, joined)
                self.at.append(self._attach(node, self._coordinate(node, joined)))
            else:
                self.at.append(-1)
        join_fixed(self.arcs)
        attach_marks(self.arcs)
        return self.arcs

    def _attach(self, node: int, kids: Sequence[int]) -> int:
        """Attach children of a node to the head among them, the nearest first; return its content word."""
        parent = self.names[node]
        names, place = self._head(node, kids)
        head = self._content(parent, kids[place], names[place])
        for i in chain(range(place - 1, -1, -1), range(place + 1, len(kids))):
            word = self._content(parent, kids[i], names[i], head)
            traits = "before" if i < place else "after", f"^{names[place]}", *self.functions[kids[i]]
            self.arcs.attach(word, head, self.arcs.relation(parent, names[i], word, head, *traits))
            if names[i].startswith("WH"):
                self.arcs.traits[head].add(f"+{names[i]}")
            self._revise(word, head)
        kind = _FRONTED.get(parent, "-")
        first = next((i for i, name in enumerate(names) if name.startswith(kind)), place)
        if first == place or self._is_adverb(kids[first]):
            return head
        return self._predicate(head, self.at[kids[first]])

    def _head(self, node: int, kids: Sequence[int]) -> tuple[list[str], int]:
        """Return the names of some children of a node, with AUX, COP and PRD for auxiliaries, copulas and
        their predicates, and the place of the head."""
        parent, names = self.names[node], [self.names[kid] for kid in kids]
        phrase = len(names) - names[::-1].index("VP") if "VP" in names else 0  # the place after the last
        for i, kid in enumerate(kids if parent in _WITH_VERBS else ()):
            if kid < self.n and names[i] in _VERBS:
                if i + 1 < phrase and (names[i] == "MD" or self.arcs.is_any(kid, *_AUXILIARIES)):
                    names[i] = "AUX"
                elif "be" in self.arcs.traits[kid] and node not in self.there:
                    self._name_copula(parent, kids, names, i)
                    break
        return names, self.head_rules.head_child(parent, tuple(names))

    def _name_copula(self, parent: str, kids: Sequence[int], names: list[str], copula: int) -> None:
        """Mark a verb as COP and its predicate as PRD, if a predicate follows the verb."""
        later = range(copula + 1, len(kids))
        places = [i for i in later if "TMP" not in self.functions[kids[i]] and not self._is_adverb(kids[i])]
        if parent in ("SQ", "SINV") and [names[i] for i in places[:1]] == ["NP"]:
            places = places[1:]  # the first is the subject
        marked = [i for i in places if "PRD" in self.functions[kids[i]]]
        found = self.head_rules.by_rule("PRD", tuple([names[i] for i in places]))
        if marked or found:
            names[copula], names[marked[0] if marked else places[found[1] if found else 0]] = "COP", "PRD"

    def _is_adverb(self, kid: int) -> bool:
        """Return whether a child is an adverb that cannot be a predicate; `here` can be one."""
        word = self.at[kid]
        adverb = self.names[kid] in ("ADVP", "RB")
        return adverb and (self.arcs.forms[word].endswith("ly") or self.arcs.is_any(word, "adverb", "not"))

    def _content(self, parent: str, kid: int, name: str, governor: int = -1) -> int:
        """Return the content word of a child. In a clause that is no modifier, `what` or `how` becomes the
        content word, and the rest its relative clause: what she saw."""
        clause = self.at[kid]
        if self.names[kid] != "SBAR" or name != "PRD" and parent not in ("VP", "PP", "S"):
            return clause
        dependents = self.arcs.dependents[clause]
        found = [one for one in dependents if one < clause and self.arcs.tags[one] in ("WP", "WRB")]
        adverbial = parent != "PP" and name != "PRD"
        if not found or adverbial and self.arcs.is_any(found[-1], "when", "where"):
            return clause
        if adverbial and governor >= 0 and "asking" in self.arcs.traits[governor]:
            return clause
        self.arcs.detach(found[-1])
        self.arcs.attach(
            clause, found[-1], "acl:relcl" if self.arcs.tags[found[-1]] == "WP" else "advcl:relcl"
        )
        self.at[kid] = found[-1]
        return found[-1]

    def _revise(self, word: int, head: int) -> None:
        """Change other relations as a new arc requires: subjects of small clauses become objects, the first
        of two objects becomes indirect, and `it` becomes an expletive beside a clause that is the subject."""
        arcs = self.arcs
        match arcs.relations[word]:
            case "xcomp":
                subjects = [one for one in arcs.dependents[word] if arcs.relations[one].startswith("nsubj")]
                for subject in subjects[:1]:
                    arcs.detach(subject)
                    arcs.attach(subject, head, arcs.relation("VP", "NP", subject, head, "raised"))
            case "obj" if "+iobj" not in arcs.traits[head]:
                earlier = [one for one in arcs.dependents[head][:-1] if arcs.relations[one] == "obj"]
                for one in earlier[:1]:
                    arcs.relations[one] = "iobj"
                    arcs.traits[head].add("+iobj")
            case "nsubj" if "it" in arcs.traits[word] and "+cop" in arcs.traits[head]:
                for one in arcs.dependents[head]:
                    clause = one > head and arcs.relations[one] in ("xcomp", "ccomp", "advcl")
                    if clause and arcs.is_any(one, "+to", "+that"):
                        arcs.relations[word], arcs.relations[one] = "expl", "csubj"

    def _predicate(self, verb: int, wh: int) -> int:
        """Return the head of a clause: a copula whose predicate precedes it gives this all its dependents."""
        arcs = self.arcs
        if (
            "be" not in arcs.traits[verb]
            or arcs.is_any(verb, "+expl", "+obj", "+cop")
            or arcs.relations[wh] == "nsubj"
        ):
            return verb
        arcs.detach(wh)
        moved, arcs.dependents[verb] = arcs.dependents[verb], []
        for one in moved:
            arcs.attach(one, wh, arcs.relations[one])
        arcs.attach(verb, wh, "cop")
        return wh

    def _coordinate(self, node: int, kids: Sequence[int]) -> list[int]:
        """Attach all conjuncts but the first to it; return the children left, without punctuation."""
        words = [kid for kid in kids if self.at[kid] >= 0]
        plain = [i for i, kid in enumerate(words) if self.names[kid] not in _COORDINATORS]
        if not plain or plain[-1] - plain[0] == len(plain) - 1:
            return words
        parts = self._parts(kids[: kids.index(words[plain[-1]]) + 1])
        shared, ended = self._cut(node, parts), words[plain[-1] + 1 :]
        kind = self._kind(node, parts[-1])
        conjuncts, waiting = list[list[int]](), list[int]()
        for number, part in enumerate(parts):
            waiting = waiting + part
            if number >= len(parts) - 2 or self._kind(node, part) == kind:
                conjuncts.append(waiting)
                waiting = []
        first = conjuncts[0]
        head = self.at[first[self._head(node, first)[1]]]
        for conjunct in conjuncts[1:]:
            self.arcs.attach(self._attach(node, conjunct), head, "conj")
        return [*first, *shared, *ended]

    def _parts(self, kids: Sequence[int]) -> list[list[int]]:
        """Return the parts of some children, without punctuation: each begins with a conjunction or, before
        the last conjunction, after a comma."""
        parts = list[list[int]]([[]])
        last = [kid for kid in kids if self.names[kid] in _COORDINATORS][-1]
        splits = True
        for kid in kids:
            joins = self.names[kid] in _COORDINATORS
            splits = splits and kid != last
            comma = splits and self.names[kid] in (",", ":")
            if (joins or comma) and any(self.names[one] not in _COORDINATORS for one in parts[-1]):
                parts.append([])
            if self.at[kid] >= 0:
                parts[-1].append(kid)
        return [part for part in parts if part]

    def _cut(self, node: int, parts: list[list[int]]) -> list[int]:
        """Take from the last part what belongs to all parts: what follows its head, if that is a phrase; or,
        where the part before is of another kind, what follows the first child of that kind: red and blue
        `cars`."""
        last, kind = parts[-1], self._kind(node, parts[-2])
        place = self._head(node, last)[1]
        if self._kind(node, last) != kind:
            place = next((i for i, kid in enumerate(last) if _KIND.get(self.names[kid]) == kind), len(last))
        elif last[place] < self.n:
            return []
        parts[-1] = last[: place + 1]
        return last[place + 1 :]

    def _kind(self, node: int, kids: Sequence[int]) -> int | None:
        """Return the kind of some children by their head: what they can be coordinated with."""
        return _KIND.get(self.names[kids[self._head(node, kids)[1]]])
