"""The memristor model behind MemGLU: its derivation step by step, and its closed forms.

MemGLU paper, appendix A: v = R(w) i, dw/dt = mobility * i, R(w) = R0 + beta_w (w - w0), driven by
i = A sin(om t). The paper writes kappa for the mobility (kept for the activation complexity here)
and beta for beta_w, I for the amplitude A, omega for om.

Units: current A, voltage V, resistance Ohm, om rad/s; the state w has a unit of its own, [w], so
that the mobility is [w]/(A s) and beta_w is Ohm/[w]. Only the product beta_w * mobility, in
Ohm/(A s), and hence Gamma = beta_w mobility A**2/om in volts, can be measured.

:data:`STEPS` is the derivation as statements of the claim language, each with a near miss that
must fail; the claims of topic ``mem_derivation`` are these texts.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import Expr


@dataclass(frozen=True)
class Step:
    """One step: what it says, over which values, what holds there, and near misses that do not.

    A near miss without a scope of its own has the step's.
    """

    name: str
    says: str
    scope: str
    holds: str
    fails: tuple[str, ...]

    @property
    def formal(self) -> str:
        """The statement."""
        return f"for {self.scope}: {self.holds}"

    @property
    def near_misses(self) -> tuple[str, ...]:
        """The near misses as statements."""
        return tuple(f if f.startswith("for ") else f"for {self.scope}: {f}" for f in self.fails)


_DRIVE = "k in R, A in R, om > 0"
_DEVICE = f"R0 in R, b in R, {_DRIVE}"
_DEVIATION = "(s + (k*A/om)*(1 - cos(om*t))) - w0"
_ROOT = "sqrt(1 - sin(p)**2)"
_UP = "(R0 - (b*k*A/om)*cos(p))*(A*sin(p))"
_DOWN = "(R0 - (b*k*A/om)*cos(pi - p))*(A*sin(pi - p))"

STEPS: tuple[Step, ...] = (
    Step(
        "state, with its constant of integration",
        "Every constant C gives a solution of the state equation.",
        f"t in R, C in R, {_DRIVE}",
        "diff(C - (k*A/om)*cos(om*t), t) == k*A*sin(om*t)",
        (
            "diff(C + (k*A/om)*cos(om*t), t) == k*A*sin(om*t)",
            "diff(C - k*A*om*cos(om*t), t) == k*A*sin(om*t)",
        ),
    ),
    Step(
        "the constant from the initial state s",
        "A device that starts in state s has C = s + k A/om.",
        f"s in R, C in R, {_DRIVE}, C - (k*A/om)*cos(om*0) == s",
        "C == s + k*A/om",
        ("C == s", "C == s - k*A/om"),
    ),
    Step(
        "the constant absorbed in the reference",
        "Calling C the reference w0 gives the printed deviation; the start is then k A/om below w0.",
        f"s in R, w0 in R, t in R, {_DRIVE}, w0 == s + k*A/om",
        f"{_DEVIATION} == -(k*A/om)*cos(om*t)",
        (
            f"for s in R, w0 in R, t in R, {_DRIVE}, w0 == s: {_DEVIATION} == -(k*A/om)*cos(om*t)",
            f"{_DEVIATION} == (k*A/om)*(1 - cos(om*t))",
        ),
    ),
    Step(
        "what R0 is then",
        "R0 is the resistance in the reference state, above the initial one by b k A/om.",
        _DEVICE,
        "R0 - (R0 + b*(-(k*A/om)*cos(om*0))) == b*k*A/om",
        (
            "R0 - (R0 + b*(-(k*A/om)*cos(om*0))) == 0",
            "R0 - (R0 + b*(-(k*A/om)*cos(om*0))) == -b*k*A/om",
        ),
    ),
    Step(
        "resistance over time",
        "The state put into R(w).",
        f"t in R, w0 in R, {_DEVICE}",
        "R0 + b*((w0 - (k*A/om)*cos(om*t)) - w0) == R0 - (b*k*A/om)*cos(om*t)",
        (
            "R0 + b*((w0 - (k*A/om)*cos(om*t)) - w0) == R0 + (b*k*A/om)*cos(om*t)",
            "R0 + b*(w0 - (k*A/om)*cos(om*t)) == R0 - (b*k*A/om)*cos(om*t)",
        ),
    ),
    Step(
        "voltage over time",
        "Ohm's law; the product of sine and cosine, a second harmonic, carries the loop.",
        f"t in R, {_DEVICE}",
        "(R0 - (b*k*A/om)*cos(om*t))*(A*sin(om*t)) == R0*A*sin(om*t) - (b*k*A**2/om)*sin(om*t)*cos(om*t)",
        (
            "(R0 - (b*k*A/om)*cos(om*t))*(A*sin(om*t)) == R0*A*sin(om*t) - (b*k*A/om)*sin(om*t)*cos(om*t)",
            "(R0 - (b*k*A/om)*cos(om*t))*(A*sin(om*t)) == R0*A*sin(om*t) + (b*k*A**2/om)*sin(om*t)*cos(om*t)",
        ),
    ),
    Step(
        "the cosine while the current rises",
        "For a phase in the right half of the circle the cosine is the positive root.",
        "p in [-pi/2, pi/2]",
        f"cos(p) == {_ROOT}",
        ("cos(p) == sqrt(1 - cos(p)**2)", f"for p in [-pi, pi/2]: cos(p) == {_ROOT}"),
    ),
    Step(
        "the other phase of the same input",
        "The phases p and pi - p have equal sines and opposite cosines.",
        "p in R",
        "sin(pi - p) == sin(p) and cos(pi - p) == -cos(p)",
        (
            "sin(pi - p) == sin(p) and cos(pi - p) == cos(p)",
            "sin(pi + p) == sin(p) and cos(pi + p) == -cos(p)",
        ),
    ),
    Step(
        "voltage while the current rises",
        "Phases with a positive cosine give the plus branch at the input sin(p).",
        f"p in [-pi/2, pi/2], {_DEVICE}",
        f"{_UP} == R0*A*sin(p) - (b*k*A**2/om)*sin(p)*{_ROOT}",
        (
            f"for p in [-1, 1], {_DEVICE}: {_UP} == R0*A*sin(p) + (b*k*A**2/om)*sin(p)*{_ROOT}",
            f"for p in [-1, 1], {_DEVICE}: {_UP} == R0*A*sin(p) - (b*k*A/om)*sin(p)*{_ROOT}",
        ),
    ),
    Step(
        "voltage while the current falls",
        "The other phase of the same input, pi - p, gives the minus branch.",
        f"p in [-pi/2, pi/2], {_DEVICE}",
        f"{_DOWN} == R0*A*sin(p) + (b*k*A**2/om)*sin(p)*{_ROOT}",
        (
            f"for p in [-1, 1], {_DEVICE}: {_DOWN} == R0*A*sin(p) - (b*k*A**2/om)*sin(p)*{_ROOT}",
            f"for p in [-1, 1], {_DEVICE}: {_DOWN} == R0*A*sin(p) + (b*k*A**2/om)*{_ROOT}",
        ),
    ),
    Step(
        "half the difference over Gamma",
        "The common part cancels, and so does Gamma, as long as it is not 0.",
        "s in [-1, 1], r in R, G in R, G != 0",
        "((r*s + G*s*sqrt(1 - s**2)) - (r*s - G*s*sqrt(1 - s**2)))/(2*G) == s*sqrt(1 - s**2)",
        (
            "((r*s - G*s*sqrt(1 - s**2)) - (r*s + G*s*sqrt(1 - s**2)))/(2*G) == s*sqrt(1 - s**2)",
            "((r*s + G*s*sqrt(1 - s**2)) - (r*s - G*s*sqrt(1 - s**2)))/G == s*sqrt(1 - s**2)",
        ),
    ),
    Step(
        "the design mapping",
        "With s = tanh(g) the separation is tanh(g) sech(g). This is a choice: the device has no g.",
        "g in R",
        "tanh(g)*sqrt(1 - tanh(g)**2) == tanh(g)*sech(g)",
        (
            "tanh(g)*sqrt(1 - tanh(g)**2) == tanh(g)*sech(g)**2",
            "tanh(g)*sqrt(1 + tanh(g)**2) == tanh(g)*sech(g)",
        ),
    ),
    Step(
        "another choice of mapping",
        "With s = sin(g) it would be sin(g) cos(g) on half a turn: closed tails come from the mapping.",
        "g in [-pi/2, pi/2]",
        "sin(g)*sqrt(1 - sin(g)**2) == sin(g)*cos(g)",
        (
            "for g in [-pi/2, pi]: sin(g)*sqrt(1 - sin(g)**2) == sin(g)*cos(g)",
            "sin(g)*sqrt(1 - sin(g)**2) == sin(g)",
        ),
    ),
)


def state(initial: bool = True) -> Expr:
    """w(t) in t, k, A, om and the initial state s; with ``initial`` False in the reference w0."""
    text = "s + (k*A/om)*(1 - cos(om*t))" if initial else "w0 - (k*A/om)*cos(om*t)"
    return parse_expr(text)


def gamma() -> Expr:
    """Gamma = b k A**2/om, in volts."""
    return parse_expr("b*k*A**2/om")


def voltage() -> Expr:
    """v(t) in t, R0, b, k, A, om, in volts; R0 belongs to the reference state w0."""
    return parse_expr("R0*A*sin(om*t) - (b*k*A**2/om)*sin(om*t)*cos(om*t)")


def branch_voltage(rising: bool) -> Expr:
    """v over the normalised input s in [-1, 1]: current rising (cosine > 0), or falling."""
    sign = "-" if rising else "+"
    return parse_expr(f"R0*A*s {sign} (b*k*A**2/om)*s*sqrt(1 - s**2)")


def lobe_area() -> Expr:
    """Area of the loop's right lobe in the plane of current and voltage: 2/3 |Gamma| A, in watts.

    The integral of (v_falling - v_rising) di over i from 0 to A. Over the normalised input it is
    2/3 |Gamma|, in volts. The left lobe has the same area, run through the other way round.
    """
    return parse_expr("2*abs(b*k*A**2/om)*abs(A)/3")


def mean_power() -> Expr:
    """Mean of v i over a cycle: R0 A**2/2, in watts; the loop takes up no energy of its own."""
    return parse_expr("R0*A**2/2")


def separation() -> Expr:
    """Normalised branch separation s sqrt(1 - s**2), s in [-1, 1], without unit; Gamma is not 0."""
    return parse_expr("s*sqrt(1 - s**2)")
