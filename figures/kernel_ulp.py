"""The errors of float32 activations on a CPU, ours and PyTorch's, over the input."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

import gateproof
from gateproof.proofs_check.figures.style import MAP

SIZE = (7.4, 3.8)
NAMES = ("sigmoid", "silu", "gelu", "tanh", "softplus", "mish", "elu", "memglu")
#: Edges of the columns: the size of the input, for negative ones from the left.
SIZES = 2.0 ** np.arange(-12, 8)
SAMPLES = 2000
SEED = 0
#: PyTorch takes other vector code on another CPU, and its last digits are others there.
PER_CPU = True


def _inputs() -> list[Any]:
    """Float32 numbers in each column, uniform in it."""
    rng = np.random.default_rng(SEED)
    right = [rng.uniform(a, b, SAMPLES).astype(np.float32) for a, b in itertools.pairwise(SIZES)]
    return [-x for x in reversed(right)] + right


def _ulp(found: Any, exact: Any) -> float:
    """The largest error in units in the last place of the exact value, as a float32 that is not subnormal."""
    size = np.maximum(np.abs(exact), float(np.finfo(np.float32).tiny))
    unit = 2.0 ** (np.floor(np.log2(size)) - 23)
    return float(np.max(np.abs(found.astype(np.float64) - exact) / unit))


def numbers() -> dict[str, Any]:
    import torch
    from torch.nn import functional

    theirs = {
        "sigmoid": torch.sigmoid,
        "silu": functional.silu,
        "gelu": functional.gelu,
        "tanh": torch.tanh,
        "softplus": functional.softplus,
        "mish": functional.mish,
        "elu": functional.elu,
        "memglu": lambda x: torch.tanh(x) / torch.cosh(x),
    }
    columns = _inputs()
    rows = {}
    for name in NAMES:
        exact = gateproof.formula(f"{name}(x)").numpy
        ours = gateproof.compile_kernel(f"{name}(x)")
        for whose, op in (
            ("gateproof", ours),
            ("tanh/cosh" if name == "memglu" else "PyTorch", theirs[name]),
        ):
            found = []
            for x in columns:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    y = op(torch.from_numpy(x)).numpy()
                found.append(_ulp(y, exact(x.astype(np.float64))))
            rows[f"{name}, {whose}"] = np.array(found)
    return {"rows": rows}


def draw(figure: Any, found: dict[str, Any]) -> None:
    from matplotlib.colors import LogNorm

    axes = figure.add_subplot()
    names, values = list(found["rows"]), np.array(list(found["rows"].values()))
    half = len(SIZES) - 1
    image = axes.imshow(np.clip(values, 0.25, 1e4), aspect="auto", cmap=MAP, norm=LogNorm(0.25, 1e4))
    axes.grid(visible=False)
    axes.set_yticks(range(len(names)), names)
    shown = [k for k in range(half + 1) if np.log2(SIZES[k]) % 3 == 0]
    places = [half - 0.5 - k for k in reversed(shown)] + [half - 0.5 + k for k in shown]
    labels = [f"$-2^{{{np.log2(SIZES[k]):g}}}$" for k in reversed(shown)]
    labels += [f"$2^{{{np.log2(SIZES[k]):g}}}$" for k in shown]
    # The least sizes of both signs meet in the middle.
    del places[len(shown)], labels[len(shown)]
    labels[len(shown) - 1] = f"$\\pm 2^{{{np.log2(SIZES[0]):g}}}$"
    axes.set_xticks(places, labels)
    axes.set_xlabel("input x")
    for k in range(2, len(names), 2):
        axes.axhline(k - 0.5, color="white", lw=1)
    bar = figure.colorbar(image, ax=axes, label="largest error, ulp")
    bar.set_ticks(
        [0.25, 0.5, 1, 10, 100, 1000, 10000], labels=["≤ 1/4", "1/2", "1", "10", "100", "1000", "≥ 10000"]
    )


def caption(found: dict[str, Any]) -> str:
    ours, theirs = (
        max(float(v.max()) for k, v in found["rows"].items() if k.endswith(who))
        for who in ("gateproof", ("PyTorch", "cosh"))
    )
    return f"""
    The largest error among {SAMPLES} random float32 inputs of each column (seed {SEED}), in units in the
    last place of the exact value, which is worked out in float64; below the normal range the unit is that
    of the least normal number. Rows: operations made by `gateproof.compile_kernel` from the formula, and
    PyTorch's own (for memglu, which it lacks, tanh(x)/cosh(x)), both on this CPU; the largest errors are
    {ours:.3g} and {theirs:.3g} ulp. What a GPU or another CPU gives may differ.

    docs/kernels-accuracy.md says what `gateproof kernels check` measures, and more strictly.
    """
