"""Activation complexity kappa_f = |f'''(theta_f)| (threshold-gating paper, "Complexity").

The paper takes theta_f as "the central inflection". Which point that is differs: for x*g(x)
with a symmetric gate g the third derivative is 0 at 0, where there is no inflection. So every
value here says at which point it was taken. Where f is not three times differentiable there
is no kappa, and none is given: a formula's derivative would say 0 at the kink of relu.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.exact.critical import equal_constants, sign_of
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import Piece
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.facts import kinks_of
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, num
from gateproof.theory.pieces import pieces_of
from gateproof.theory.undefined_parts import defined_parts, undefined_parts
from gateproof.theory.zeros import is_inside, order, tidy

KINK = "a kink: f is not three times differentiable there"
NO_VALUE = "f has no value there"
UNDECIDED = "whether f is smooth there was not decided"


@dataclass(frozen=True)
class ThirdDerivative:
    """The derivatives at a closed point ``theta``; ``refused`` says why there is none.

    ``second`` and ``third`` are closed expressions, ``formula`` is f''' as a formula on
    the piece around theta.
    """

    theta: Expr
    second: Expr | None = None
    third: Expr | None = None
    formula: Expr | None = None
    var: str = "x"
    refused: str | None = None

    @property
    def kappa(self) -> Expr | None:
        """|f'''(theta)| as a closed expression."""
        if self.third is None:
            return None
        side = sign_of(self.third)
        if side is None:
            return App("abs", (self.third,))
        return self.third if side >= 0 else tidy(App("neg", (self.third,)))

    @property
    def is_inflection(self) -> bool | None:
        """Whether f'' is 0 at theta and f''' is not, so that f'' changes its sign; None where not decided."""
        if self.second is None or self.third is None:
            return None
        flat = equal_constants(self.second, num(0))
        if flat is False:
            return False
        if flat is None or equal_constants(self.third, num(0)) is None:
            return None
        if equal_constants(self.third, num(0)) is False:
            return True
        # f'' is 0 on the whole piece; else it is 0 to a higher order, and the sign is open.
        assert self.formula is not None
        line = prove_relation(self.formula, "==", num(0), Assumptions({self.var: Domain()}))
        return None if line is None else False


def third_derivative(expr: Expr, theta: Expr, var: str = "x") -> ThirdDerivative:
    """f'' and f''' of a core expression at a closed point, refused at kinks and holes."""
    missing = undefined_parts(expr, var)
    if missing is None:
        return ThirdDerivative(theta, refused=UNDECIDED)
    places = [(part, is_inside(theta, part)) for part in defined_parts(missing)]
    home = next((part for part, inside in places if inside), None)
    if home is None:
        unsure = any(inside is None for _, inside in places)
        return ThirdDerivative(theta, refused=UNDECIDED if unsure else NO_VALUE)
    refused = kink_near(expr, theta, var, home)
    if refused is not None:
        return ThirdDerivative(theta, refused=refused)
    piece = piece_at(expr, theta, var, home)
    if piece is None:
        return ThirdDerivative(theta, refused=UNDECIDED)
    slopes = derivatives(piece.expr, var, 3)
    if slopes is None:
        return ThirdDerivative(theta, refused=UNDECIDED)
    here = {var: theta}
    second, third = (tidy(substitute(d, here)) for d in slopes[2:])
    return ThirdDerivative(theta, second, third, slopes[3], var)


def kink_near(expr: Expr, theta: Expr, var: str, home: Domain) -> str | None:
    """Why theta has no third derivative: a kink of order below 3 is there; None where it has one."""
    kinks = kinks_of(expr, var, home)
    if kinks is None:
        return UNDECIDED
    for kink in kinks:
        if kink.order >= 3:
            continue
        at = kink.at if isinstance(kink.at, Expr) else Num(kink.at)
        side = order(at, theta)
        if side == 0:
            return KINK
        if side is None:
            return UNDECIDED
    return None


def piece_at(expr: Expr, theta: Expr, var: str, home: Domain) -> Piece | None:
    """A piece with theta inside or, where two meet at it, at its right end."""
    for piece in pieces_of(expr, var, home) or []:
        above = -1 if piece.domain.hi is None else order(theta, piece.domain.hi)
        if above is None:
            return None
        if above <= 0:
            return piece
    return None


def derivatives(expr: Expr, var: str, count: int) -> list[Expr] | None:
    """The smooth expression and its first derivatives."""
    found = [expr]
    for _ in range(count):
        following = derivative(found[-1], var)
        if following is None:
            return None
        found.append(following)
    return found
