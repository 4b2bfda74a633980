"""MemGLU's gate and the memristor that it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np

import gateproof
from gateproof.proofs_check.figures.style import BLACK, BLUE, GREEN, GREY, ORANGE, RED
from gateproof.theory import memristor
from gateproof.theory.formula import to_text

SIZE = (7.4, 5.4)
#: A device that is strongly modulated, so that the loop is open to the eye: A, Ohm, Ohm, 1/(A s), 1/s.
DEVICE = {"A": 1.0, "R0": 1.0, "b": 0.6, "k": 1.0, "om": 1.0}


def numbers() -> dict[str, Any]:
    x, s = np.linspace(-5, 5, 401), np.linspace(-1, 1, 321)
    far = np.linspace(0.01, 12, 121)
    peak = gateproof.certify("max(memglu(x), x in R)")
    at = gateproof.certify("argmax(memglu(x), x in R)")
    up, down = (to_text(memristor.branch_voltage(rising)) for rising in (True, False))
    return {
        "x": x,
        "memglu": gateproof.formula("memglu(x)").numpy(x),
        "silu": gateproof.formula("silu(x)").numpy(x),
        "derivative": gateproof.formula("memglu(x)").gradient("x").numpy(x),
        "peak": float(peak["value"]["hi"]),
        "at": float(at["points"][-1]["hi"]),
        "far": far,
        "tail": gateproof.formula("memglu(x)").numpy(far),
        "bound": gateproof.formula("2*exp(-x)").numpy(far),
        "s": s,
        "rising": gateproof.formula(up).numpy(s=s, **DEVICE),
        "falling": gateproof.formula(down).numpy(s=s, **DEVICE),
        "separation": gateproof.formula(to_text(memristor.separation())).numpy(s),
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    (gate, tail), (loop, branch) = figure.subplots(2, 2)
    x = found["x"]
    gate.plot(x, found["memglu"], color=BLUE, label="tanh(x) sech(x)")
    gate.plot(x, found["derivative"], color=GREEN, ls="-.", label="its derivative")
    gate.plot(x, found["silu"], color=RED, ls="--", label="SiLU")
    gate.plot([found["at"]], [found["peak"]], "o", color=BLACK, ms=4)
    gate.annotate(
        f"peak {found['peak']:.3g} at {found['at']:.4f}",
        (found["at"], found["peak"]),
        (1.4, 0.85),
        arrowprops={"arrowstyle": "-", "lw": 0.6},
        fontsize=8,
    )
    gate.set(xlim=(-5, 5), ylim=(-0.75, 1.9), xlabel="x", title="gates")
    gate.legend(loc="upper left")
    tail.plot(found["far"], found["tail"], color=BLUE, label="tanh(x) sech(x)")
    tail.plot(found["far"], found["bound"], color=GREY, ls=":", label=r"$2e^{-x}$")
    tail.set(yscale="log", xlim=(0, 12), ylim=(1e-5, 3), xlabel="x", title="closed tail")
    tail.legend(loc="upper right")
    loop.plot(found["s"], found["rising"], color=ORANGE, label="current rising")
    loop.plot(found["s"], found["falling"], color=BLUE, ls="--", label="current falling")
    loop.set(
        xlabel="current over its amplitude, s", ylabel="voltage, V", title="loop of the device, pinched at 0"
    )
    loop.legend(loc="upper left")
    branch.plot(found["s"], found["separation"], color=BLUE)
    branch.set(xlabel="s", ylabel=r"$s\,\sqrt{1-s^2}$", title="half the separation of the branches over Γ")
    for axes in (loop, branch):
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    branch.plot([0.5**0.5], [0.5], "o", color=BLACK, ms=4)
    branch.annotate(
        "tanh of the peak",
        (0.5**0.5, 0.5),
        (-0.95, 0.4),
        fontsize=8,
        arrowprops={"arrowstyle": "-", "lw": 0.6},
    )


def caption(found: dict[str, Any]) -> str:
    d = DEVICE
    return f"""
    Top left: the gate of MemGLU beside SiLU, without unit; its greatest value {found["peak"]:g} lies at
    arsinh 1 = {found["at"]:.6f}, certified. Top right: beyond the peak it closes like 2e^(−x). Bottom
    left: voltage over current of a memristor under A sin(ωt), with A = {d["A"]:g} A, R0 = {d["R0"]:g} Ω,
    b = {d["b"]:g} Ω, k = {d["k"]:g} /(A s) and ω = {d["om"]:g} /s. Bottom right: half the difference of
    the voltages of the two branches, divided by Γ = b k A²/ω; with s = tanh(x) it is the gate.

    MemGLU paper, the derivation of the gate; formulas of `theory/memristor.py`, proved as claims mem.*
    (`gateproof check 'mem.*'`).
    """
