"""A Stanza processor that finds constituents; importing this module makes it known to Stanza as `d2c`.

    import d2c.plugins.stanza
    nlp = stanza.Pipeline("en", processors="tokenize,pos,lemma,d2c", d2c_model=NAME_OR_DIRECTORY)

Each sentence gets `sentence.constituency`, as Stanza's own tree, wrapper included, over its words. Tags are
XPOS. `d2c_dparser="pipeline"` converts the parse of Stanza's `depparse` instead of making one. Leaves of
Stanza's trees are in the order of the words, so parts of constituents with gaps are raised.
"""

from __future__ import annotations

from typing import Any

from stanza.models.common.doc import Document
from stanza.models.common.doc import Sentence as StanzaSentence
from stanza.pipeline._constants import CONSTITUENCY, DEPPARSE, POS, TOKENIZE
from stanza.pipeline.processor import Processor, register_processor

from d2c.models.names import find
from d2c.parsing.sentence import Sentence
from d2c.plugins.pipeline_model import PipelineModel
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.objects import to_stanza


@register_processor("d2c")
class D2CProcessor(Processor):
    """The Stanza processor `d2c`. Words without XPOS get the tags of the model's tagger.

    Needs `tokenize`; `pos`, unless the model has a tagger or texts are `pretagged`; `depparse` to convert.
    Raises ModelError where the model cannot be loaded, and where words have no tags and nothing finds them.
    """

    PROVIDES_DEFAULT = {CONSTITUENCY}

    def process(self, doc: Document) -> Any:  # a Document; Stanza's own method has an empty body
        """Parse the sentences of one document."""
        return self.bulk_process([doc])[0]

    def bulk_process(self, docs: list[Document]) -> list[Document]:
        """Parse the sentences of several documents at once."""
        sentences = [sentence for doc in docs for sentence in doc.sentences if sentence.words]
        ctrees = self._model.parse([_sentence(sentence) for sentence in sentences])
        for sentence, ctree in zip(sentences, ctrees, strict=True):
            for word, tag in zip(sentence.words, ctree.tokens.tags, strict=True):
                word.xpos = word.xpos or tag
            sentence.constituency = to_stanza(ctree)
        return docs

    def mark_inactive(self) -> None:
        """Do nothing. Stanza calls this for a processor whose requirements are not met."""

    def _set_up_requires(self) -> None:
        config: dict[str, Any] = self.config
        directory = find(config.get("model"))
        config["model_path"] = str(directory)  # what Stanza shows
        allowed = config.get("allow_pipeline") or f"stanza:{config.get('lang')}"  # this pipeline itself
        self._model = PipelineModel(directory, config.get("dparser"), allowed)
        self._model.load()
        self._model.warn_of_language(config.get("lang") or "en")
        tagged = config.get("pretagged") or self._model.tagger is not None
        self._requires = {TOKENIZE} if tagged else {TOKENIZE, POS}
        if self._model.converts and not config.get("pretagged"):
            self._requires.add(DEPPARSE)


def _sentence(sentence: StanzaSentence) -> Sentence:
    rows = ((word.text, word.xpos or "", word.head, word.deprel) for word in sentence.words)
    forms, tags, heads, labels = zip(*rows, strict=True)
    tokens = Tokens(forms, tags)
    return Sentence(tokens, dtree=None if None in heads else DTree(tokens, heads, labels=labels))
