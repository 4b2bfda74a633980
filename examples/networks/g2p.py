"""The spelling-to-phonemes network of g2p-en: a GRU encoder and a GRU decoder, rebuilt from its arrays."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np
import torch
from harness.network import Call, Network, package
from harness.sources import words
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

WORDS = 128
LETTERS = "abcdefghijklmnopqrstuvwxyz"  # number 3 and following; 0 pads, 2 ends a word
START, END, STEPS = 2, 3, 20  # of phonemes; the package stops after 20


class Phonemes(nn.Module):
    """Letters in, the likeliest phoneme step by step; `nn.GRU` on packed words, then `nn.GRUCell`."""

    def __init__(self, letters: int, phonemes: int, width: int, hidden: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.phonemes = nn.Embedding(phonemes, width)
        self.encoder = nn.GRU(width, hidden, batch_first=True)
        self.decoder = nn.GRUCell(width, hidden)
        self.head = nn.Linear(hidden, phonemes)

    def forward(self, word: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
        """Logits (batch, steps, phonemes) for padded words (batch, longest) of given lengths (batch)."""
        packed = pack_padded_sequence(self.letters(word), length, batch_first=True, enforce_sorted=False)
        state = self.encoder(packed)[1][0]
        last = torch.full_like(length, START)
        logits = []
        for _ in range(STEPS):
            state = self.decoder(self.phonemes(last), state)
            logits.append(self.head(state))
            last = logits[-1].argmax(1)
        return torch.stack(logits, dim=1)


def _arrays() -> dict[str, torch.Tensor]:
    with np.load(package("g2p_en", "g2p-en") / "checkpoint20.npz") as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


def build() -> nn.Module:
    """The module with the arrays of checkpoint20.npz."""
    w = _arrays()
    model = Phonemes(len(w["enc_emb"]), len(w["dec_emb"]), w["enc_emb"].shape[1], w["enc_w_hh"].shape[1])
    names = {
        "letters.weight": "enc_emb",
        "phonemes.weight": "dec_emb",
        "head.weight": "fc_w",
        "head.bias": "fc_b",
    }
    for part, prefix, suffix in (("encoder", "enc", "_l0"), ("decoder", "dec", "")):
        for kind in ("w_ih", "w_hh", "b_ih", "b_hh"):
            long = kind.replace("w_", "weight_").replace("b_", "bias_")
            names[f"{part}.{long}{suffix}"] = f"{prefix}_{kind}"
    model.load_state_dict({ours: w[theirs] for ours, theirs in names.items()})
    return model.eval()


def calls() -> list[Call]:
    """Words of the text, 32 a batch."""
    texts = words(WORDS)
    return [_call(texts[i : i + 32]) for i in range(0, len(texts), 32)]


def _call(batch: Sequence[str]) -> Call:
    rows = [torch.tensor([3 + LETTERS.index(c) for c in word] + [2]) for word in batch]
    lengths = torch.tensor([len(row) for row in rows])
    return Call((nn.utils.rnn.pad_sequence(rows, batch_first=True), lengths), about=list(batch))


def _spoken(logits: Sequence[torch.Tensor]) -> list[tuple[int, ...]]:
    """Phonemes of each word, up to the end or to the package's 20."""
    rows = torch.cat([part.argmax(2) for part in logits]).tolist()
    return [tuple(row[: row.index(END)] if END in row else row) for row in rows]


def reference(calls: Sequence[Call]) -> list[torch.Tensor]:
    """The package's own NumPy prediction as logits that are 1 at its phonemes and 0 elsewhere.

    Its file wants taggers and dictionaries that are no part of the network; they are stand-ins here.
    """
    folder = package("g2p_en", "g2p-en")
    needs = ("nltk", "nltk.corpus", "nltk.tokenize", "inflect", "distance")
    package_module = ModuleType("g2p_en")
    package_module.__path__ = [str(folder)]
    with patch.dict(sys.modules, {name: MagicMock() for name in needs} | {"g2p_en": package_module}):
        theirs = importlib.import_module("g2p_en.g2p").G2p()
    out = []
    for call in calls:
        logits = torch.zeros(len(call.about), STEPS, len(theirs.phonemes))
        for row, word in zip(logits, call.about, strict=True):
            spoken = [theirs.p2idx[p] for p in theirs.predict(word)]
            for step, phoneme in enumerate((spoken + [END] * STEPS)[:STEPS]):
                row[step, phoneme] = 1
        out.append(logits)
    return out


def metric(
    before: Sequence[torch.Tensor], after: Sequence[torch.Tensor], _calls: Sequence[Call]
) -> dict[str, Any]:
    """How many words are spoken the same."""
    a, b = _spoken(before), _spoken(after)
    return {
        "words": len(a),
        "phonemes": sum(map(len, a)),
        "same phonemes": f"{sum(x == y for x, y in zip(a, b, strict=True))} of {len(a)}",
    }


NETWORK = Network("GRU encoder and decoder, 0.8 M", build, calls, metric, reference=reference)
