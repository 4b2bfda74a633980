"""From a nonlinearity to the gate that computes it: the exact one where there is one, or why there is none.

A *form* is plain data, (name, numbers...), so that it is copied, stored and compiled as data is. Whether a
function is a finite gate is decided by ``theory.finite_gate`` from its formula alone, with a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from gateproof.kernels import functional
from gateproof.kernels.convert import pieces, two_branches
from gateproof.kernels.convert.kinds import KINDS, Kind
from gateproof.kernels.convert.pieces import LEFT, Pieces, differentiated
from gateproof.kernels.convert.softmax_branches import mish
from gateproof.kernels.convert.two_branches import TwoBranches
from gateproof.kernels.formula_kernel import FormulaKernel, compile_kernel
from gateproof.kernels.traced import exported
from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.exact import Exact, NotFinite, everywhere
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.target_text import of_text
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

Form = tuple[Any, ...]
#: How the reason begins where numbers are no floating ones.
INTEGERS = "integer, kept"


@dataclass(frozen=True)
class Treatment:
    """What becomes of a nonlinearity.

    ``how`` is 'exact' (a gate of logistic or hard gates, proved equal), 'link' (a gate opened by another
    distribution function, equal), 'fit' (a gate within a stated error), 'trainable', or 'kept'. ``words``
    describes the gate, or says why there is none. ``error`` is that on the set ``error_on``.
    """

    how: str
    words: str
    form: Form | None
    formula: str | None = None
    gate: dict[str, Any] | None = None
    error: tuple[str, str] | None = None
    error_on: str = "R"
    certificate: Mapping[str, Any] | None = None


def _pieces(theta: Any, slope: Any, intercept: Any, sides: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    return Pieces(theta, slope, intercept, sides)


def _gate(tau: Any, theta: Any, slope: Any, intercept: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: functional.threshold_gate(x, tau, theta, slope, intercept)


#: Kernels made so far: made while a form is found, so that torch.compile meets them ready.
_KERNELS: dict[str, FormulaKernel] = {}


def formula_form(text: str) -> Form:
    """The form that computes a formula of x by itself."""
    _KERNELS[text] = compile_kernel(text)
    return ("formula", text)


#: Formulas with a form of few operations for compilers.
_FUSED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"mish(x)": mish}


def _formula(text: str) -> Callable[[torch.Tensor], torch.Tensor]:
    if torch.compiler.is_compiling() and text in _FUSED:
        return _FUSED[text]
    return _KERNELS[text] if text in _KERNELS else compile_kernel(text)


#: How each form is run; a further one is a line here.
RUNS: dict[str, Callable[..., Callable[[torch.Tensor], torch.Tensor]]] = {
    "pieces": _pieces,
    "two_branches": TwoBranches,
    "gate": _gate,
    "formula": _formula,
}


def run(form: Form, x: torch.Tensor) -> torch.Tensor:
    """The form at x, of x's shape and type."""
    if form[0] in BARE and _bare(x):
        # Calling an operation of this package costs more than its arithmetic on a small tensor.
        with torch._C.DisableTorchFunction():
            return BARE[form[0]](x, *form[1:])
    return RUNS[form[0]](*form[1:])(x)


def _bare(x: torch.Tensor) -> bool:
    """Whether nothing looks on: no derivative, transform, compiler, tracer, nor mode of the dispatcher."""
    return (
        not torch.compiler.is_compiling()
        and type(x) is torch.Tensor
        and x.is_cpu
        and not torch._C._len_torch_dispatch_stack()
        and not differentiated(x)
        and not exported()
    )


def _bare_two_branches(
    x: torch.Tensor, tau: float, theta: float, slope: Any, intercept: Any, link: str = "logistic"
) -> torch.Tensor:
    return two_branches._inside(x, link, (tau, theta, *slope, *intercept))


#: What the operations of some forms do on a CPU.
BARE: dict[str, Callable[..., torch.Tensor]] = {"pieces": pieces._value, "two_branches": _bare_two_branches}


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator, unused-ignore]
def exact_form(name: str, numbers: tuple[Any, ...]) -> Form | None:
    """The exact form of a kind as a constant, so that torch.compile does not look into how it was found."""
    return exact(name, numbers).form


@lru_cache(maxsize=1024)
def exact(name: str, numbers: tuple[Any, ...]) -> Treatment:
    """The exact gate of a kind, or why it has none."""
    return treated(KINDS[name](*numbers))


def treated(kind: Kind) -> Treatment:
    """The same for a function with its numbers filled in."""
    if kind.link is not None:
        return _link(kind)
    try:
        found = everywhere(of_text(kind.formula))
    except RefusedTarget as refused:
        return Treatment("kept", f"no gate is this function: {refused}", None, kind.formula)
    own = found["difference"]
    if isinstance(own, Exact):
        return finite(own.gate, kind)
    if isinstance(own, NotFinite) and own.near is not None and kind.sides:
        # A gate but for the values at its jumps, which the sides state.
        return finite(own.near, kind)
    for algebra, other in found.items():
        if isinstance(other, Exact):
            words = f"exact gate of {other.gate.branches} {algebra} branches: {other.gate.text}"
            words += f"; {kind.beyond}" if kind.beyond else ""
            return Treatment("exact", words, formula_form(kind.formula), kind.formula, numbers_of(other.gate))
    why = own.reason if isinstance(own, NotFinite) else "whether it is a finite gate is not decided"
    return Treatment("kept", f"no gate is this function: {why}", None, kind.formula)


def _link(kind: Kind) -> Treatment:
    name, tau, theta, slope, intercept = kind.link  # type: ignore[misc]
    gate = {
        "algebra": "difference", "link": name, "k": 2, "tau": [repr(tau)], "theta": [repr(theta)],
        "slope": list(map(repr, slope)), "intercept": list(map(repr, intercept)),
    }  # fmt: skip
    words = f"gate of 2 branches opened by the {name} distribution function"
    return Treatment("link", words, ("two_branches", tau, theta, slope, intercept, name), kind.formula, gate)


def _number(e: Expr) -> float:
    return float(formula(to_text(e)).numpy())


def numbers_of(gate: Gate, link: str = "logistic") -> dict[str, Any]:
    """A gate's numbers as exact text, for a report."""
    return {
        "algebra": gate.algebra,
        "link": link,
        "k": gate.branches,
        "tau": [to_text(e) for e in gate.tau],
        "theta": [to_text(e) for e in gate.theta],
        "slope": [to_text(e) for e in gate.slope],
        "intercept": [to_text(e) for e in gate.intercept],
    }


def finite(gate: Gate, kind: Kind) -> Treatment:
    """A finite gate of the difference algebra that is the kind, as what becomes of it."""
    words = f"exact gate: {gate.text}"
    if kind.form is not None:
        return Treatment("exact", words, kind.form, kind.formula, numbers_of(gate))
    if all(gate.hard):
        theta, slope, intercept = plain(gate)
        if not theta and (slope, intercept) == ((1.0,), (0.0,)):
            return Treatment("kept", "with these numbers it is x itself", None, kind.formula)
        sides = kind.sides or (LEFT,) * len(theta)
        if len(sides) != len(theta):
            raise ValueError(f"{kind.name}: {len(theta)} kinks, {len(sides)} sides stated")
        return Treatment(
            "exact", words, ("pieces", theta, slope, intercept, sides), kind.formula, numbers_of(gate)
        )
    return Treatment("exact", words, soft_form(gate), kind.formula, numbers_of(gate))


def plain(gate: Gate) -> tuple[tuple[float, ...], ...]:
    """Thresholds, slopes and intercepts in floats."""
    return tuple(tuple(map(_number, part)) for part in (gate.theta, gate.slope, gate.intercept))


def soft_form(gate: Gate) -> Form:
    """The form of a soft gate of the difference algebra."""
    theta, slope, intercept = plain(gate)
    tau = tuple(map(_number, gate.tau))
    if gate.branches == 2:
        return ("two_branches", tau[0], theta[0], slope, intercept, "logistic")
    return ("gate", tau[0] if len(set(tau)) == 1 else tau, theta, slope, intercept)
