"""A tiny encoder and language models with random weights, for tests."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase

WINDOW = 22  # pieces that it takes at once: it has as many positions, less one


def tiny_encoder(directory: Path, seed: int = 1, kind: str = "bert") -> Path:
    """An encoder of two layers whose pieces are words of the made-up sentences, and characters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    marks = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    words = (
        "the",
        "cat",
        "dog",
        "sees",
        "hears",
        *ascii_lowercase,
        *map("##{}".format, ascii_lowercase),
        ".",
    )
    vocabulary = {piece: i for i, piece in enumerate((*marks, *words))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    ends = [(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), marks, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(directory)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"vocab_size": len(vocabulary), "max_position_embeddings": WINDOW + 1}
    if kind == "distilbert":
        sizes["hidden_dim"] = sizes.pop("intermediate_size")
    if kind in ("albert", "electra"):
        sizes["embedding_size"] = 16
    config = AutoConfig.for_model(kind, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        AutoModel.from_config(config).save_pretrained(directory)
    return directory


def language_models(directory: Path) -> tuple[Path, Path]:
    """The files of tiny models of characters, forward and backward, that have learned nothing."""
    from stanza.models.common.char_model import CharacterLanguageModel, build_charlm_vocab

    text, pair = directory / "text.txt", (directory / "forward.pt", directory / "backward.pt")
    text.write_text("the cat sees the dog .\n")
    vocabulary = {"char": build_charlm_vocab(str(text))}
    sizes = {"char_emb_dim": 4, "char_hidden_dim": 4, "char_num_layers": 1, "char_dropout": 0.0}
    options = sizes | {"char_rec_dropout": 0.0, "char_unit_dropout": 0.0, "lr0": 1.0, "momentum": 0.0}
    options |= {"weight_decay": 0.0, "max_grad_norm": 1.0}
    for path in pair:
        CharacterLanguageModel(options, vocabulary, is_forward_lm=path == pair[0]).save(str(path))
    return pair
