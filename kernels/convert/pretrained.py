"""Pretrained networks of ``examples/networks``, converted: how far their outputs move."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from gateproof.kernels.convert.api import convert


def moves(networks: Any, name: str) -> list[float]:
    """For each call the largest difference of an output in float64, relative to the largest output.

    In float64 throughout, also where a network's own code asks for float32. Padded sentences of one call are
    calls of their own.
    """
    wide = import_module("harness.wide").Wide
    network = networks.load(name)
    calls = [one.to(torch.float64) for call in network.calls() for one in _sentences(networks, call)]
    model = network.build().to(torch.float64)
    with wide():
        before = networks.outputs(network, model, calls)
        convert(model)
        after = networks.outputs(network, model, calls)
    return [
        float((b - a).abs().max() / a.abs().max().clamp(min=1e-300))
        for a, b in zip(before, after, strict=True)
    ]


def _sentences(networks: Any, call: Any) -> list[Any]:
    """A call for each row of a call with a mask of padding; others as they are."""
    mask = call.kwargs.get("attention_mask")
    if mask is None:
        return [call]
    found = []
    for i, length in enumerate(mask.sum(1).tolist()):
        row = slice(i, i + 1), slice(0, length)
        found.append(networks.Call((), {k: v[row] for k, v in call.kwargs.items()}, call.about[row]))
    return found


def losses(networks: Any, name: str) -> tuple[list[float], list[float]]:
    """-log p (natural) of each next token of a language model in float32, and the converted one's."""
    network = networks.load(name)
    calls = network.calls()
    model = network.build()
    before = networks.outputs(network, model, calls)
    convert(model)
    after = networks.outputs(network, model, calls)

    def of(logits: list[torch.Tensor]) -> list[float]:
        found: list[float] = []
        for z, call in zip(logits, calls, strict=True):
            following = call.kwargs["input_ids"][0, 1:]
            found += cross_entropy(z[0, :-1].double(), following, reduction="none").tolist()
        return found

    return of(before), of(after)


def embeddings_away(networks: Any, gate: str, sentences: int, fitted: int) -> list[float]:
    """1 - cosine of each sentence's embedding, with GELU and with the gate, in float64."""
    minilm = networks.load("minilm")
    module: Any = import_module("minilm")
    module.SENTENCES = sentences + fitted
    calls = [call.to(torch.float64) for call in minilm.calls()]
    every = (sentences + fitted) // fitted
    seen = calls[::every]
    measured = [call for place, call in enumerate(calls) if place % every]
    model = minilm.build().to(torch.float64)
    before = networks.outputs(minilm, model, measured)
    given = [dict(call.kwargs) for call in seen]
    if gate.startswith("sharpness"):
        sharp = (float(gate.split()[-1]), [0], [0, 1], [0, 0])
        convert(model, mode="fit", gates={"gelu": sharp}, inputs=given)
    else:
        convert(model, mode="fit", branches=int(gate[-1]), inputs=given, calibrate=gate.startswith("fitted"))
    after = networks.outputs(minilm, model, measured)
    a, b = (module._embeddings(rows, measured) for rows in (before, after))
    return [float(v) for v in 1 - (a * b).sum(1)]
