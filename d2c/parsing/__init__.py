"""From text or CoNLL-U to parsed sentences: input, text, the stream through a model, output."""
