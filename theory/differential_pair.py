"""A MOSFET differential pair as the soft gate: derivation, constants with units, and its conditions.

Threshold-gating paper, "Highlights", second item: the gate is to be made by a differential pair in
front of a crossbar. In weak inversion a transistor in saturation carries (bulk-referred, Enz,
Krummenacher and Vittoz 1995, weak inversion limit)

    I = I_S exp((V_G - V_T)/(n U_T) - V_S/U_T),      U_T = k T/q,

with gate, threshold and source voltages V_G, V_T, V_S in volts, slope factor n >= 1, specific
current I_S in amperes. In a pair with common source and tail current I_b the source voltage
cancels from the ratio of the currents:

    I_1/(I_1 + I_2) = sigmoid((V_1 - V_2 - V_os)/(n U_T)),
    V_os = (V_T1 - V_T2) - n U_T log(I_S1/I_S2).

So the sharpness is tau = 1/(n U_T) per volt: 25.8 per volt at 300 K and n = 1.5, falling as 1/T;
the threshold is V_2 + V_os. Conditions:

- weak inversion: both currents far below the specific current;
- saturation: the drain-source voltages above about 4 U_T. Otherwise each current has the factor
  1 - exp(-V_DS/U_T), and the share is shifted by it: see :func:`share_with_drains`;
- equal slope factors. With n_1 != n_2 the share is a sigmoid of V_1/n_1 - V_2/n_2: sharper for
  one input than for the other;
- in strong inversion currents are quadratic, and the share is 0 or 1 beyond a finite input
  difference: see :func:`square_law_share`. That is no sigmoid.

Expressions use names without indices: V1, V2 (V), n, UT (V), Ib (A), IS1, IS2 (A), VT1, VT2 (V),
VS (V).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.folding import exact
from gateproof.theory.formula import parse_expr, substitute
from gateproof.theory.formula.nodes import App, Expr, Num

#: Exact since 2019 (BIPM, SI brochure, 9th edition): J/K and C.
BOLTZMANN = Fraction(1380649, 10**29)
CHARGE = Fraction(1602176634, 10**28)


def drain_current(side: int, *, saturated: bool = True) -> Expr:
    """Current of transistor 1 or 2 in amperes, in V1 (or V2), VT1, IS1, n, UT, VS.

    With ``saturated`` False the factor of the drain-source voltage VDS1 stands behind it.
    """
    if side not in (1, 2):
        raise ValueError("the pair has sides 1 and 2")
    text = f"IS{side}*exp((V{side} - VT{side})/(n*UT) - VS/UT)"
    return parse_expr(text if saturated else f"{text}*(1 - exp(-VDS{side}/UT))")


def share(*, saturated: bool = True) -> Expr:
    """I_1/(I_1 + I_2) from the two exponential laws."""
    values = {f"I{s}": drain_current(s, saturated=saturated) for s in (1, 2)}
    return substitute(parse_expr("I1/(I1 + I2)"), values)


def gate() -> Expr:
    """The share as a gate: sigmoid((V1 - V2 - Vos)/(n UT)), with Vos written out."""
    return substitute(parse_expr("sigmoid((V1 - V2 - Vos)/(n*UT))"), {"Vos": offset()})


def offset() -> Expr:
    """V_os in volts: threshold mismatch less n UT log(IS1/IS2)."""
    return parse_expr("VT1 - VT2 - n*UT*log(IS1/IS2)")


def share_with_drains() -> Expr:
    """The share where drains are not saturated, as a gate with a shifted threshold (volts).

    The drain factors act like a mismatch of the specific currents.
    """
    shift = "n*UT*log((1 - exp(-VDS1/UT))/(1 - exp(-VDS2/UT)))"
    return substitute(parse_expr(f"sigmoid((V1 - V2 - Vos + {shift})/(n*UT))"), {"Vos": offset()})


def share_with_slopes() -> Expr:
    """The share for slope factors n1 and n2: a sigmoid of V1/n1 - V2/n2 and constants, over UT.

    Equal again for n1 = n2; else a common shift of both inputs moves it.
    """
    return parse_expr("sigmoid(((V1 - VT1)/n1 - (V2 - VT2)/n2)/UT + log(IS1/IS2))")


def source_voltage() -> Expr:
    """The common source's voltage at tail current Ib, in volts, saturated: nothing else is free."""
    first = "IS1*exp((V1 - VT1)/(n*UT))"
    second = "IS2*exp((V2 - VT2)/(n*UT))"
    return parse_expr(f"UT*log(({first} + {second})/Ib)")


def square_law_share() -> Expr:
    """I_1/I_b in strong inversion for equal transistors, in x = (V1 - V2)/V_ov; |x| <= sqrt(2).

    V_ov is the overdrive of both at balance. Derived from I = beta/2 (V_GS - V_T)**2; beyond
    |x| = sqrt(2) one transistor carries all of the tail current.
    """
    return parse_expr("1/2 + x*sqrt(4 - x**2)/4")


@dataclass(frozen=True)
class Pair:
    """A weak-inversion pair in exact numbers.

    ``temperature`` K, ``slope_factor`` without unit (n >= 1), ``tail`` A, ``vt_mismatch`` =
    V_T1 - V_T2 in V, ``current_ratio`` = I_S1/I_S2 without unit. Raises ValueError outside,
    TypeError for floats.
    """

    temperature: Fraction
    slope_factor: Fraction
    tail: Fraction
    vt_mismatch: Fraction = Fraction(0)
    current_ratio: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        for name in ("temperature", "slope_factor", "tail", "vt_mismatch", "current_ratio"):
            object.__setattr__(self, name, exact(getattr(self, name)))
        if min(self.temperature, self.tail, self.current_ratio) <= 0 or self.slope_factor < 1:
            raise ValueError("temperature, tail current and current ratio are positive, n is at least 1")

    @property
    def thermal_voltage(self) -> Fraction:
        """U_T = k T/q in volts, exactly."""
        return BOLTZMANN * self.temperature / CHARGE

    @property
    def sharpness(self) -> Fraction:
        """tau = 1/(n U_T) per volt, exactly."""
        return 1 / (self.slope_factor * self.thermal_voltage)

    @property
    def sharpness_drift(self) -> Fraction:
        """(d tau/dT)/tau = -1/T per kelvin: -0.33 % at 300 K. Input signals must scale with T."""
        return -1 / self.temperature

    @property
    def transconductance(self) -> Fraction:
        """d I_1/d V_1 at balance, I_b tau/4, in siemens: the largest slope of the gate."""
        return self.tail * self.sharpness / 4

    def threshold(self, reference: int | Fraction = 0) -> Expr:
        """The input voltage of equal currents, V_2 + V_os, closed, in volts."""
        values: dict[str, Expr] = {
            "V2": Num(exact(reference)),
            "dv": Num(self.vt_mismatch),
            "nUT": Num(self.slope_factor * self.thermal_voltage),
            "ratio": Num(self.current_ratio),
        }
        if self.current_ratio == 1:
            return substitute(parse_expr("V2 + dv"), values)
        return substitute(parse_expr("V2 + dv - nUT*log(ratio)"), values)


def saturation_shortfall(multiples: int | Fraction) -> Expr:
    """exp(-V_DS/U_T) for V_DS in multiples of U_T: the share of the current lacking, 1.8 % at 4."""
    return App("exp", (Num(-exact(multiples)),))
