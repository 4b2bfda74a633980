"""Powers with an integer name in the exponent, written by a name for each base**n.

For a base free of n and whole a, b: base**(a n + b) = P**a base**b with P = base**n. For a, b >= 0
this holds for every real base, 0**0 being 1; elsewhere the base must not be 0. A rational base is
split into its sign and primes, so that 4**n is the square of 2**n.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from gateproof.theory.exact import functions
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Rel, Stmt, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value, linear
from gateproof.theory.formula.scopes import free_names

MAX_EXPONENT = 40


class NotWritten(Exception):
    """A power whose exponent or base is not of the form treated here."""


def linear_in(node: Expr, name: str) -> tuple[int, int] | None:
    """(a, b) where the node is a*name + b with whole a and b, else None."""
    if free_names(node) - {name}:
        return None
    written = _numbers_written(node)
    found = linear(written, name) if isinstance(written, Expr) else None
    if found is None or found[0].denominator != 1 or found[1].denominator != 1:
        return None
    return int(found[0]), int(found[1])


def _numbers_written(node: Node) -> Node:
    """Closed rational parts, powers among them, as numbers."""
    value = constant_value(node) if isinstance(node, App) else None
    return rebuild(node, _numbers_written) if value is None else Num(value)


@dataclass
class Powers:
    """The names given to powers of one integer name, n >= ``start``, and what is known of them."""

    name: str
    start: int
    assumptions: Assumptions
    taken: set[str]
    names: dict[Expr, str] = field(default_factory=dict)
    _not_zero: dict[Expr, bool] = field(default_factory=dict)

    def write(self, node: Node) -> Node:
        """The node with every power of the kind rewritten. Raises NotWritten."""
        if isinstance(node, App) and node.head == "pow" and self.name in free_names(node.args[1]):
            base, exponent = (self.write(a) for a in node.args)
            assert isinstance(base, Expr)
            assert isinstance(exponent, Expr)
            return self._power(base, exponent)
        done = rebuild(node, self.write)
        assert isinstance(done, Node)
        return done

    def expr(self, node: Expr) -> Expr:
        """The same for an expression."""
        done = self.write(node)
        assert isinstance(done, Expr)
        return done

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        line = linear_in(exponent, self.name)
        if line is None or self.name in free_names(base) or max(map(abs, line)) > MAX_EXPONENT:
            raise NotWritten
        a, b = line
        if min(a, b, self.start) < 0 and not self._nonzero(base):
            raise NotWritten
        value = constant_value(base)
        if value is None and prove_defined(base, self.assumptions) is None:
            raise NotWritten
        factors = [_whole_power(App("pow", (base, num(b))), b, base)]
        for part, e in _parts(value) if value is not None else [(base, 1)]:
            factors.append(_whole_power(None, a * e, self._named(part)))
        kept = [f for f in factors if f != num(1)]
        if not kept:
            return num(1)
        return kept[0] if len(kept) == 1 else App("mul", tuple(kept))

    def _nonzero(self, base: Expr) -> bool:
        if base not in self._not_zero:
            self._not_zero[base] = prove_relation(base, "!=", num(0), self.assumptions) is not None
        return self._not_zero[base]

    def _named(self, base: Expr) -> Expr:
        if base not in self.names:
            # The name stands for a real number, so the power must have a value.
            if prove_defined(base, self.assumptions) is None:
                raise NotWritten
            label = f"{self.name}_power"
            while label in self.taken:
                label += "_"
            self.taken.add(label)
            self.names[base] = label
        return Var(self.names[base])

    def cases(self) -> list[tuple[dict[str, Expr], dict[str, Domain], tuple[Stmt, ...]]]:
        """Each way to read the names: values of (-1)**n, domains of the others, further facts.

        All cases together cover every n >= start.
        """
        values: list[tuple[str, tuple[Expr, ...]]] = []
        domains: dict[str, Domain] = {}
        facts: list[Stmt] = []
        for base, label in self.names.items():
            if base == num(-1):
                values.append((label, (num(1), num(-1))))
                continue
            domain, extra = self._range(base, Var(label))
            domains[label] = domain
            facts += extra
        found = []
        for chosen in product(*(options for _, options in values)):
            put = {label: value for (label, _), value in zip(values, chosen, strict=True)}
            found.append((put, domains, tuple(facts)))
        return found

    def _range(self, base: Expr, power: Expr) -> tuple[Domain, list[Stmt]]:
        given, zero, one = self.assumptions, num(0), num(1)
        positive = prove_relation(base, ">", zero, given) is not None
        if not positive and (self.start < 0 or prove_relation(base, ">=", zero, given) is None):
            return Domain(without=(zero,) if self._nonzero(base) else ()), []
        first = App("pow", (base, num(self.start)))
        facts: list[Stmt] = []
        if prove_relation(base, ">=", one, given) is not None:
            facts.append(Rel((">=",), (power, first)))
        elif prove_relation(base, "<=", one, given) is not None:
            facts.append(Rel(("<=",), (power, first)))
        return Domain(lo=zero, lo_closed=not positive), facts


def _whole_power(written: Expr | None, e: int, base: Expr) -> Expr:
    if e == 0:
        return num(1)
    return base if e == 1 else written or App("pow", (base, num(e)))


def _parts(value: Fraction) -> list[tuple[Expr, int]]:
    """A rational as sign and primes with exponents; 0 is left whole."""
    if value == 0:
        return [(num(0), 1)]
    found: list[tuple[Expr, int]] = [(num(-1), 1)] if value < 0 else []
    found += [(num(p), e) for p, e in functions.primes(abs(value.numerator))]
    found += [(num(p), -e) for p, e in functions.primes(value.denominator)]
    return found
