"""Stable forms, found once for all backends: what overflows or cancels becomes a function that does not.

Each rule is an identity of real functions; ``identities.py`` has instances of each, which the tests prove.
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.backends.algebra import (
    ONE,
    Factors,
    Terms,
    as_product,
    as_sum,
    exponent_of,
    minus,
    plus,
    product,
    scaled,
    times,
    total,
)
from gateproof.theory.formula.nodes import App, Expr, num


def fn(head: str, *args: Expr) -> App:
    """A function's node."""
    return App(head, args)


def half(u: Expr) -> Expr:
    """u/2."""
    return scaled_sum(u, Fraction(1, 2))


def scaled_sum(u: Expr, number: Fraction) -> Expr:
    """A number times u, carried into a sum."""
    return total({m: c * number for m, c in as_sum(u).items()})


# --- sums --------------------------------------------------------------------


def simpler_sum(terms: Terms) -> Terms | None:
    """The terms with one pair joined, or None where no rule fits."""
    for term, b in terms.items():
        _, factors = as_product(term)
        for g, power in factors.items():
            if not isinstance(g, App) or len(g.args) != 1 or power not in (1, 2):
                continue
            rest = product(Fraction(1), {k: v for k, v in factors.items() if k != g})
            found = _pair(g, power, rest, terms, b)
            if found is not None:
                partner, number, node = found
                out = {m: c for m, c in terms.items() if m not in (term, partner)}
                for m, c in as_sum(times(rest, node)).items():
                    out[m] = out.get(m, Fraction(0)) + number * c
                return out
    return (
        _mirrored_softplus(terms) or _square(terms) or _mirrored_sigmoids(terms) or common_denominator(terms)
    )


def _square(terms: Terms) -> Terms | None:
    """exp(2u) + 2*exp(u) as (1 + exp(u))**2 - 1, the square as an exponential of softplus."""
    for term, b in terms.items():
        u = exponent_of(term)
        if u is None or u == ONE:
            continue
        double = fn("exp", scaled_sum(u, Fraction(2)))
        a = terms.get(double)
        if a and b == 2 * a:
            rest = {m: c for m, c in terms.items() if m not in (term, double)}
            square = fn("exp", scaled(fn("softplus", u), Fraction(2)))
            return {**rest, square: a, ONE: rest.get(ONE, Fraction(0)) - a}
    return None


def _mirrored_sigmoids(terms: Terms) -> Terms | None:
    """a*r*sigmoid(u) - a*r*sigmoid(-u) as a*r*tanh(u/2)."""
    for term, a in terms.items():
        _, factors = as_product(term)
        for g, power in factors.items():
            if not (isinstance(g, App) and g.head == "sigmoid" and power.denominator == 1 and power >= 1):
                continue
            u, mirror = g.args[0], fn("sigmoid", minus(g.args[0]))
            rest = product(Fraction(1), {**factors, g: power - 1} if power > 1 else _without(factors, g))
            other = times(rest, mirror)
            if terms.get(other) == -a:
                out = {m: c for m, c in terms.items() if m not in (term, other)}
                for m, c in as_sum(times(rest, fn("tanh", half(u)))).items():
                    out[m] = out.get(m, Fraction(0)) + a * c
                return out
    return None


def _mirrored_softplus(terms: Terms) -> Terms | None:
    """a*softplus(u) - a*u as a*softplus(-u)."""
    for term, a in terms.items():
        if isinstance(term, App) and term.head == "softplus" and a:
            line = as_sum(term.args[0])
            if all(terms.get(m) == -a * c for m, c in line.items()):
                rest = {m: c for m, c in terms.items() if m != term and m not in line}
                mirror = fn("softplus", minus(term.args[0]))
                return {**rest, mirror: rest.get(mirror, Fraction(0)) + a}
    return None


def _pair(
    g: App, power: Fraction, rest: Expr, terms: Terms, b: Fraction
) -> tuple[Expr, Fraction, Expr] | None:
    """(partner, number, node) with a*partner + b*rest*g**power = number*rest*node."""
    u = g.args[0]
    if g.head == "exp" and power == 1:
        mirror = times(rest, fn("exp", minus(u)))
        if terms.get(mirror) == b:
            return mirror, 2 * b, fn("cosh", u)
        if terms.get(mirror) == -b:
            return mirror, 2 * b, fn("sinh", u)
        return None
    a = terms.get(rest)
    if not a:
        return None
    table: dict[tuple[str, int, Fraction], tuple[Fraction, Expr]] = {
        ("tanh", 1, Fraction(1)): (2 * a, fn("sigmoid", scaled_sum(u, Fraction(2)))),
        ("tanh", 1, Fraction(-1)): (2 * a, fn("sigmoid", scaled_sum(u, Fraction(-2)))),
        ("erf", 1, Fraction(1)): (a, fn("erfc", minus(u))),
        ("erf", 1, Fraction(-1)): (a, fn("erfc", u)),
        ("erfc", 1, Fraction(-1)): (a, fn("erf", u)),
        ("erfc", 1, Fraction(-1, 2)): (a / 2, fn("erfc", minus(u))),
        ("sigmoid", 1, Fraction(-1)): (a, fn("sigmoid", minus(u))),
        ("sigmoid", 1, Fraction(-2)): (-a, fn("tanh", half(u))),
        ("tanh", 2, Fraction(-1)): (a, App("pow", (fn("sech", u), num(2)))),
        ("sech", 2, Fraction(-1)): (a, App("pow", (fn("tanh", u), num(2)))),
        ("cosh", 1, Fraction(-1)): (-2 * a, App("pow", (fn("sinh", half(u)), num(2)))),
    }
    found = table.get((g.head, int(power), b / a))
    return None if found is None else (rest, *found)


def common_denominator(terms: Terms) -> Terms | None:
    """a*r*b**-k + c*s*b**-(k+1) as (a*r*b + c*s)*b**-(k+1), where that cancels something."""
    for first, a in terms.items():
        _, factors = as_product(first)
        for b, power in factors.items():
            if power >= 0 or power.denominator != 1 or not isinstance(b, App):
                continue
            # For a square root, two powers further is its argument.
            inside, step = (b.args[0], 2) if b.head == "sqrt" else (b, 1)
            if not (isinstance(inside, App) and inside.head == "add"):
                continue
            r = product(Fraction(1), {k: v for k, v in factors.items() if k != b})
            for second, c in terms.items():
                _, others = as_product(second)
                if others.get(b) != power - step:
                    continue
                s = product(Fraction(1), {k: v for k, v in others.items() if k != b})
                top = plus(*(scaled(times(r, m), a * d) for m, d in as_sum(inside).items()), scaled(s, c))
                if len(as_sum(top)) > len(as_sum(inside)):
                    continue
                out = {m: d for m, d in terms.items() if m not in (first, second)}
                for m, d in as_sum(times(top, App("pow", (b, num(power - step))))).items():
                    out[m] = out.get(m, Fraction(0)) + d
                return out
    return None


# --- products ----------------------------------------------------------------


def simpler_product(number: Fraction, factors: Factors) -> tuple[Fraction, Factors, list[Expr]] | None:
    """A product with one rule applied: number, factors and further factors; None where no rule fits."""
    for rule in (_exponentials, _sums_of_exponentials, _exp_with_sigmoid, _hyperbolic, _even_abs):
        found = rule(number, factors)
        if found is not None:
            return found
    return None


_Found = tuple[Fraction, Factors, list[Expr]] | None


def _without(factors: Factors, *nodes: Expr) -> Factors:
    return {k: v for k, v in factors.items() if k not in nodes}


def _exponentials(number: Fraction, factors: Factors) -> _Found:
    parts = [(f, u) for f in factors if (u := exponent_of(f)) is not None]
    if len(parts) < 2 and not any(factors[f] != 1 for f, _ in parts):
        return None
    exponent = plus(*(scaled_sum(u, factors[f]) for f, u in parts))
    return number, _without(factors, *(f for f, _ in parts)), [fn("exp", exponent)]


def _sums_of_exponentials(number: Fraction, factors: Factors) -> _Found:
    """Powers of a*(exp(u) + 1) and a*(exp(u) + exp(v)) as logistic functions; exp(u) - 1 over them."""
    for base, power in factors.items():
        if not (isinstance(base, App) and base.head == "add") or power.denominator != 1:
            continue
        terms = as_sum(base)
        if len(terms) != 2:
            continue
        for e in factors:
            w = exponent_of(e)
            if w is not None and power == factors[e] == 1 and terms == {e: Fraction(1), ONE: Fraction(2)}:
                square = plus(fn("exp", scaled(fn("softplus", w), Fraction(2))), num(-1))
                return number, _without(factors, base, e), [square]
        (m, a), (n, b) = sorted(terms.items(), key=lambda t: t[0] == ONE)
        u, v = exponent_of(m), exponent_of(n) if n != ONE else num(0)
        if u is None or v is None:
            continue
        gap = plus(u, minus(v))
        rest = _without(factors, base)
        k = int(power)
        if a == b and k < 0:
            # a*exp(v)*(1 + exp(gap))
            return number * a**k, rest, [
                fn("exp", scaled_sum(v, power)), App("pow", (fn("sigmoid", minus(gap)), whole(-k)))
            ]  # fmt: skip
        if k > 0 and (a == b or a == -b):
            for sign in (1, -1):
                gate = fn("sigmoid", scaled_sum(gap, Fraction(sign)))
                j = int(min(power, rest.get(gate, Fraction(0))))
                if j < 1:
                    continue
                left = dict(rest)
                left[gate] -= j
                left[base] = power - j
                more: list[Expr] = [fn("exp", scaled_sum(v if sign < 0 else u, Fraction(j)))]
                if a == -b:
                    more.append(App("pow", (fn("tanh", half(gap)), whole(j))))
                return number * a**j, {f: p for f, p in left.items() if p}, more
    return None


def whole(value: int | Fraction) -> Expr:
    """A whole number's node."""
    return num(value)


def _exp_with_sigmoid(number: Fraction, factors: Factors) -> _Found:
    """exp(k*u)*sigmoid(-u)**m takes min(k, m) logistic functions to their other side."""
    for e in factors:
        w = exponent_of(e)
        if w is None or factors[e] != 1:
            continue
        for gate, m in factors.items():
            if not (isinstance(gate, App) and gate.head == "sigmoid" and m >= 1):
                continue
            for k in (1, 2, 3, 4):
                if plus(w, scaled_sum(gate.args[0], Fraction(k))) == num(0):
                    t = Fraction(min(k, int(m)))
                    rest = _without(factors, e, gate)
                    if m != t:
                        rest[gate] = m - t
                    other = fn("sigmoid", minus(gate.args[0]))
                    rest[other] = rest.get(other, Fraction(0)) + t
                    more = [fn("exp", scaled_sum(w, (k - t) / k))] if k != t else []
                    return number, rest, list(more)
    return None


def _hyperbolic(number: Fraction, factors: Factors) -> _Found:
    for g, power in factors.items():
        if not isinstance(g, App) or power.denominator != 1:
            continue
        u = g.args[0]
        if g.head == "cosh" and power < 0:
            rest = _without(factors, g)
            rest[fn("sech", u)] = rest.get(fn("sech", u), Fraction(0)) - power
            return number, rest, []
        if g.head == "sech" and power < 0:
            rest = _without(factors, g)
            rest[fn("cosh", u)] = rest.get(fn("cosh", u), Fraction(0)) - power
            return number, rest, []
        coth = fn("sinh", u)
        if g.head == "cosh" and power >= 1 and factors.get(coth, Fraction(0)) <= -1:
            t = Fraction(min(int(power), int(-factors[coth])))
            rest = {**_without(factors, g, coth), coth: factors[coth] + t}
            if power != t:
                rest[g] = power - t
            return number, {k: v for k, v in rest.items() if v}, [App("pow", (fn("tanh", u), whole(-t)))]
        for other, becomes in _PRODUCTS.get(g.head, {}).items():
            partner = fn(other, u)
            t = min(power, factors.get(partner, Fraction(0)))
            if t >= 1 and t.denominator == 1:
                rest = _without(factors, g, partner)
                for node, left in ((g, power - t), (partner, factors[partner] - t)):
                    if left:
                        rest[node] = left
                more = [App("pow", (fn(becomes, u), whole(int(t))))] if becomes else []
                return number, rest, list(more)
    return None


#: f(u)*g(u) = h(u); nothing for 1.
_PRODUCTS: dict[str, dict[str, str]] = {
    "sinh": {"sech": "tanh"},
    "tanh": {"cosh": "sinh"},
    "cosh": {"sech": ""},
}


def _even_abs(number: Fraction, factors: Factors) -> _Found:
    for g, power in factors.items():
        if isinstance(g, App) and g.head == "abs" and power.denominator == 1 and power % 2 == 0:
            return number, _without(factors, g), [App("pow", (g.args[0], num(power)))]
    return None
