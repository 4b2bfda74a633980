"""Normal forms: quotients of polynomials over Q in names, exponentials and opaque functions.

A workspace turns core expressions into :class:`Frac`. Every rewriting is an identity
wherever the expression has a value, so equality of normal forms is equality of values
there; it never shows that there is a value (see :mod:`gateproof.theory.exact.defined`).
Treating dependent generators as independent loses proofs, never soundness.
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact import functions, opaque, polys, special_forms
from gateproof.theory.exact.atoms import Atom, Frac, NeedSign, NewStep
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.conditions import holds
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.polys import ONE, ZERO, Poly, UndefinedValue
from gateproof.theory.exact.sign import SignTable
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, Where
from gateproof.theory.special import is_head

#: Conversions and operations of one workspace.
MAX_WORK = 20_000
_ONE_FRAC = Frac(ONE, ONE)


class Workspace:
    """Generators, what is known of their signs, and the conversion to normal form."""

    def __init__(self, assumptions: Assumptions, steps: dict[str, Fraction] | None = None) -> None:
        self.assumptions = assumptions
        self.steps = {} if steps is None else steps
        self.atoms: list[Atom] = []
        self._index: dict[str, int] = {}
        self._forms: dict[Expr, Frac] = {}
        self._work = 0
        self.signs = SignTable(self)
        self.signs.load()

    # --- generators ----------------------------------------------------------

    def atom(
        self,
        kind: str,
        arg: Frac | None = None,
        *,
        name: str = "",
        square: Poly | None = None,
    ) -> Poly:
        """The generator of an opaque function of a normalised argument."""
        label = f"{kind}:{name}:{arg.key() if arg else ''}"
        if label not in self._index:
            self._add(label, Atom(kind, len(self.atoms), arg, square=square, name=name))
        return polys.GENS[self._index[label]]

    def exponential(self, basis: Frac, times: Fraction) -> Frac:
        """exp(times * basis) as a power of a generator."""
        label = f"exp::{basis.key()}"
        text = self.label_of(basis)
        if label not in self._index:
            step = self.steps.get(text, abs(times))
            self.steps[text] = step
            self._add(label, Atom("exp", len(self.atoms), basis, step=step))
        atom = self.atoms[self._index[label]]
        k = times / atom.step
        if k.denominator != 1:
            raise NewStep(text, _common_step(atom.step, times))
        generator = polys.GENS[atom.index]
        if k >= 0:
            return Frac(polys.power(generator, int(k)), ONE)
        return Frac(ONE, polys.power(generator, -int(k)))

    def label_of(self, basis: Frac) -> str:
        """A name of an exponent that does not depend on the order of generators."""
        from gateproof.theory.exact.writeback import write
        from gateproof.theory.formula.printer import to_text

        return to_text(write(self, basis))

    def _add(self, label: str, atom: Atom) -> None:
        if len(self.atoms) >= polys.GENERATORS:
            raise Unsupported("too many different functions")
        self._index[label] = len(self.atoms)
        self.atoms.append(atom)

    # --- arithmetic ----------------------------------------------------------

    def reduce(self, p: Poly) -> Poly:
        """Squares of roots and sines replaced."""
        for atom in reversed(self.atoms):
            if atom.square is not None and polys.degree(p, atom.index) >= 2:
                parts = polys.coefficients_in(p, atom.index)
                p = ZERO
                for k, part in parts.items():
                    whole = polys.times(part, polys.power(atom.square, k // 2))
                    p = p + (polys.times(whole, polys.GENS[atom.index]) if k % 2 else whole)
        return p

    def frac(self, num: Poly, den: Poly) -> Frac:
        """The reduced quotient."""
        self._work += 1
        if self._work > MAX_WORK:
            raise Unsupported("too many rewriting steps")
        num, den = self.reduce(num), self.reduce(den)
        if den.is_zero():
            raise UndefinedValue
        if num.is_zero():
            return Frac(ZERO, ONE)
        for i in polys.used(den):
            num, den = functions.without_root(self, num, den, i)
        if num.is_zero():
            return Frac(ZERO, ONE)
        common = polys.common_factor(num, den)
        if not common.is_one():
            num, den = num / common, den / common
        lead = den.leading_coefficient()
        return Frac(num / lead, den / lead)

    def add(self, a: Frac, b: Frac) -> Frac:
        """a + b."""
        if a.den == b.den:
            return self.frac(a.num + b.num, a.den)
        num = polys.times(a.num, b.den) + polys.times(b.num, a.den)
        return self.frac(num, polys.times(a.den, b.den))

    def sub(self, a: Frac, b: Frac) -> Frac:
        """a - b."""
        return self.add(a, Frac(-b.num, b.den))

    def mul(self, a: Frac, b: Frac) -> Frac:
        """a * b."""
        return self.frac(polys.times(a.num, b.num), polys.times(a.den, b.den))

    def div(self, a: Frac, b: Frac) -> Frac:
        """a / b."""
        if b.is_zero:
            raise UndefinedValue
        return self.frac(polys.times(a.num, b.den), polys.times(a.den, b.num))

    def power(self, a: Frac, n: int) -> Frac:
        """a ** n."""
        if n < 0:
            return self.div(_ONE_FRAC, self.power(a, -n))
        return self.frac(polys.power(a.num, n), polys.power(a.den, n))

    def number(self, value: Fraction | int) -> Frac:
        """A rational number."""
        return Frac(polys.constant(Fraction(value)), ONE)

    # --- conversion ----------------------------------------------------------

    def form(self, node: Expr) -> Frac:
        """The normal form; raises NeedSign, NewStep, Unsupported or UndefinedValue."""
        found = self._forms.get(node)
        if found is None:
            found = self._convert(node)
            self._forms[node] = found
        return found

    def _convert(self, node: Expr) -> Frac:
        if isinstance(node, Num):
            return self.number(node.value)
        if isinstance(node, Var):
            return Frac(self.atom("name", name=node.name), ONE)
        if isinstance(node, Const):
            if node.name == "pi":
                return Frac(self.atom("pi"), ONE)
            if node.name == "e":
                return functions.exp(self, _ONE_FRAC)
            raise Unsupported("infinity")
        if isinstance(node, Where):
            return self.form(node.then if holds(self, node.cond) else node.other)
        if isinstance(node, App):
            return self._apply(node)
        raise Unsupported(type(node).__name__)

    def _apply(self, node: App) -> Frac:
        head, args = node.head, node.args
        if head == "pow":
            return functions.pow_(self, self.form(args[0]), self.form(args[1]))
        if head in ("max", "min"):
            best = self.form(args[0])
            for other in args[1:]:
                value = self.form(other)
                left = self.settle(self.sub(best, value), strict=False) >= 0
                best = best if left == (head == "max") else value
            return best
        if head == "add":
            total = self.form(args[0])
            for a in args[1:]:
                total = self.add(total, self.form(a))
            return total
        if head == "mul":
            product = self.form(args[0])
            for a in args[1:]:
                product = self.mul(product, self.form(a))
            return product
        if head == "div":
            return self.div(self.form(args[0]), self.form(args[1]))
        u = self.form(args[0])
        if head == "neg":
            return Frac(-u.num, u.den)
        if head == "abs":
            return u if self.settle(u, strict=False) >= 0 else Frac(-u.num, u.den)
        if head == "sign":
            return self.number(self.settle(u, strict=True))
        rule = opaque.RULES.get(head)
        if rule is not None:
            return rule(self, u)
        if is_head(head):
            return special_forms.form(self, head, u)
        raise Unsupported(head)

    def settle(self, u: Frac, *, strict: bool) -> int:
        """The sign of a value; with ``strict`` False 0 may count as either sign.

        Raises NeedSign where it is not known.
        """
        possible = self.signs.of_frac(u)
        if len(possible) == 1:
            return next(iter(possible))
        if not strict and possible == {0, 1}:
            return 1
        if not strict and possible == {-1, 0}:
            return -1
        raise NeedSign(self.signs.question(u))


def _common_step(a: Fraction, b: Fraction) -> Fraction:
    """The largest rational of which both are integer multiples."""
    from math import gcd

    bottom = a.denominator * b.denominator
    return Fraction(gcd(a.numerator * b.denominator, abs(b.numerator) * a.denominator), bottom)
