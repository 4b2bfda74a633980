"""A formula for y >= M as a polynomial in y plus small quantities, with the Coq steps that say so.

With x = y or x = -y, every sigmoid, tanh, softplus, sech and falling exponential of an argument u that grows
is rewritten by an exact identity in a quantity s with 0 <= s <= exp(-v), v = u, -u or twice that:

    sigmoid u = 1 - s    tanh u = 1 - 2 s    softplus u = v + s    sech u = 2 s    exp u = s

``max``, ``min`` and ``abs`` become the branch that is taken, where a polynomial decides it.
What else would be needed raises Beyond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gateproof.proofs_check.coq import polynomial as p
from gateproof.proofs_check.coq.estimate import rough
from gateproof.proofs_check.coq.polynomial import Poly
from gateproof.proofs_check.coq.text import number, term
from gateproof.theory.formula.nodes import App, Expr, Num, Var

_CHOICES = ("max", "min", "abs")
_MOST = 60  # monomials of one formula


class Beyond(Exception):
    """A tail that these identities do not reach."""


@dataclass(frozen=True)
class Small:
    """A quantity with 0 <= quantity <= exp(-v) and v = y * quotient, rate <= quotient."""

    quantity: str
    lemma: str
    v: str
    quotient: str
    rate: Fraction


class Expansion:
    """The expansion at x = side * y for y >= cut; ``smalls`` and ``steps`` fill as it is taken."""

    def __init__(self, name: str, side: int, cut: Fraction) -> None:
        self.names = {name: "y" if side > 0 else "(- y)"}
        self.side, self.cut = side, cut
        self.smalls: list[Small] = []
        self.steps: list[str] = []
        self.rough: dict[str, float] = {}

    def of(self, node: Expr) -> Poly:
        """The polynomial of a core formula. Raises Beyond."""
        if isinstance(node, Num):
            return p.constant(node.value)
        if isinstance(node, Var):
            return {(1, (), ()): Fraction(self.side)}
        if not isinstance(node, App):
            return self._constant(node)
        if node.head == "add":
            total: Poly = {}
            for arg in node.args:
                total = p.add(total, self.of(arg))
            return total
        if node.head == "neg":
            return p.scale(self.of(node.args[0]), -1)
        if node.head == "mul":
            return self._product([self.of(arg) for arg in node.args])
        if node.head == "div":
            return self._quotient(node)
        if not any(isinstance(part, Var) for part in node.walk()):
            return self._constant(node)
        if node.head == "pow":
            power = node.args[1]
            if not (isinstance(power, Num) and power.value.denominator == 1 and 0 <= power.value <= 12):
                raise Beyond("a power of x that is no polynomial")
            return self._product([self.of(node.args[0])] * int(power.value))
        return self._function(node)

    def _product(self, parts: list[Poly]) -> Poly:
        total = p.constant(1)
        for part in parts:
            total = p.mul(total, part)
            if len(total) > _MOST:
                raise Beyond("more terms than are written out")
        return total

    def _quotient(self, node: App) -> Poly:
        above, below = node.args
        if any(isinstance(part, Var) for part in below.walk()):
            raise Beyond("a divisor that depends on x")
        divisor = p.rational(self.of(below))
        if divisor is None:
            return p.mul(self.of(above), self._constant(App("div", (Num(Fraction(1)), below))))
        if divisor == 0:
            raise Beyond("a divisor 0")
        return p.scale(self.of(above), 1 / divisor)

    def _constant(self, node: Expr) -> Poly:
        text = term(node, {})
        try:
            self.rough[text] = rough(node)
        except ValueError as error:
            raise Beyond(str(error)) from None
        return p.atom(text)

    def _function(self, node: App) -> Poly:
        head = node.head
        if any(isinstance(part, App) and part.head in _CHOICES for arg in node.args for part in arg.walk()):
            raise Beyond(f"{head} of a choice between branches")
        if head in _CHOICES:
            return self._choice(node)
        argument = self.of(node.args[0])
        if head not in ("sigmoid", "tanh", "softplus", "sech", "exp"):
            raise Beyond(f"{head} of what depends on x")
        if any(smalls for _, _, smalls in argument):
            raise Beyond(f"{head} of what is no polynomial")
        growing = p.scale(argument, 2 if head == "tanh" else 1)
        way, v = ("up", growing) if self._slope(growing) > 0 else ("down", p.scale(growing, -1))
        if self._slope(v) <= 0:
            raise Beyond(f"an argument of {head} whose growth is not seen")
        if head == "exp" and way == "up":
            raise Beyond("an exponential that grows")
        place = self._small(head, v)
        u = term(node.args[0], self.names)
        step = f"rewrite ({head}_{way} {u} ({self.write(v)})) by (field; side)."
        if step not in self.steps:
            self.steps.append(step)
        s = p.small(place)
        if head == "sigmoid":
            return s if way == "down" else p.add(p.constant(1), p.scale(s, -1))
        if head == "tanh":
            sign = 1 if way == "up" else -1
            return p.add(p.constant(sign), p.scale(s, -2 * sign))
        if head == "softplus":
            return s if way == "down" else p.add(v, s)
        return p.scale(s, 2) if head == "sech" else s

    def _choice(self, node: App) -> Poly:
        """``max``, ``min`` or ``abs`` of polynomials whose difference keeps its sign."""
        parts = [self.of(arg) for arg in node.args]
        if len(parts) > 2:
            raise Beyond(f"{node.head} of more than two")
        off = p.add(parts[0], p.scale(parts[1], -1)) if len(parts) == 2 else parts[0]
        if any(smalls for _, _, smalls in off):
            raise Beyond(f"{node.head} of what is no polynomial")
        way, v = ("up", off) if self._slope(off) > 0 else ("down", p.scale(off, -1))
        if self._slope(v) <= 0:
            raise Beyond(f"the branch of {node.head} is not seen")
        quotient = self.write({(k - 1, c, s): q for (k, c, s), q in v.items()})
        written = " ".join(term(arg, self.names) for arg in node.args)
        step = f"rewrite ({node.head}_{way} {written} y ({quotient})) by first [ lra | bound | field; side ]."
        if step not in self.steps:
            self.steps.append(step)
        if node.head == "abs":
            return v
        return parts[0] if (way == "up") == (node.head == "max") else parts[1]

    def _small(self, head: str, v: Poly) -> int:
        text = self.write(v)
        kind = "sigmoid" if head == "tanh" else head
        quantity = f"(sech ({text}) / 2)" if head == "sech" else f"({kind} (- ({text})))"
        for place, known in enumerate(self.smalls):
            if known.quantity == quantity:
                return place
        exact = p.rational({(k - 1, c, s): q for (k, c, s), q in v.items()})
        slope = self._slope(v)
        rate = exact if exact is not None else Fraction(math.floor(slope * 0.999 * 1024), 1024)
        if rate <= 0:
            raise Beyond("an argument that grows too slowly")
        quotient = {(k - 1, c, s): q for (k, c, s), q in v.items()}
        self.smalls.append(Small(quantity, f"{kind}_small", text, self.write(quotient), rate))
        return len(self.smalls) - 1

    def _slope(self, v: Poly) -> float:
        """About the least value of v/y for y >= cut; -inf where none is seen."""
        total = 0.0
        for (k, constants, _), factor in v.items():
            value = float(factor) * math.prod(self.rough[c] for c in constants)
            if value < 0 and k >= 2:
                return -math.inf
            total += value * float(self.cut) ** (k - 1) if value < 0 or k >= 1 else 0.0
        return total

    def write(self, poly: Poly) -> str:
        """A polynomial without small quantities as a Coq term; y^-1 is written as / y."""
        parts = []
        for (k, constants, _), factor in sorted(poly.items()):
            power = [] if k == 0 else ["/ y"] if k == -1 else ["y"] if k == 1 else [f"y ^ {k}"]
            parts.append(" * ".join([number(factor), *constants, *power]))
        return " + ".join(parts) or "0"
