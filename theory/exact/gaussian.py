"""Means over normal variables in closed form.

With z ~ N(m, q), q > 0, and a kernel c z^k exp(-A z^2 + B z) ...:

    exp(-A z^2 + B z) turns N(m, q) into K N(m', q'), D = 1 + 2 A q > 0, q' = q/D, m' = (m + B q)/D,
    K = exp((m B + B^2 q/2 - A m^2)/D)/sqrt(D)
    E[z g(z)] = m E[g(z)] + q E[g'(z)]  (Stein), which takes powers of z away
    E erf(a z + b) = erf((a m + b)/sqrt(1 + 2 a^2 q))
    E erf(a z) erf(b z) = (2/pi) asin(2 a b q/sqrt((1 + 2 a^2 q)(1 + 2 b^2 q)))  for m = 0
    E cos(w z + p) = exp(-w^2 q/2) cos(w m + p)
    E over an interval: M_k = m M_(k-1) + (k-1) q M_(k-2) - q [z^(k-1) density], M_0 by erf.

What is odd about the mean has mean 0, without a formula for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, factorial

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.growing import dominated
from gateproof.theory.exact.kernels import (
    ONE,
    PI,
    ZERO,
    Kernel,
    exponential,
    kernels,
    minus,
    over,
    plus,
    polynomial_in,
    raised,
    root,
    times,
)
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.splitting import Span, spans
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Gauss, Var, num
from gateproof.theory.formula.printer import to_text

TWO = num(2)
HALF = num(Fraction(1, 2))


class _NoForm(Exception):
    """No closed form is known here."""


@dataclass(frozen=True)
class Normal:
    """The law N(mean, q) with q > 0 under the assumptions."""

    q: Expr
    mean: Expr
    given: Assumptions


@bounded
def gauss_value(node: Gauss, assumptions: Assumptions) -> tuple[Expr, Derivation] | None:
    """A closed form of the mean with its derivation, or None.

    The variance must be provably positive, or provably 0; with a variance that is only known to be
    >= 0 polynomials alone are covered. The integrand must be defined on all of R.
    """
    if node.var in assumptions.domains:
        return None
    for part in (node.q, node.mean):
        if prove_defined(part, assumptions) is None:
            return None
    if prove_relation(node.q, "==", ZERO, assumptions) is not None:
        value = substitute(node.body, {node.var: node.mean})
        if prove_defined(value, assumptions) is None:
            return None
        return value, Derivation((f"with variance 0: {to_text(node)} = {to_text(value)}",))
    if not defined_on_reals(node.body, (node.var,), assumptions):
        return None
    try:
        value, step = _mean(node, assumptions)
    except _NoForm:
        return None
    value = tidy(value, assumptions)
    if prove_defined(value, assumptions) is None:
        return None
    return value, Derivation((f"{to_text(node)} = {to_text(value)} {step}",))


def defined_on_reals(body: Expr, names: tuple[str, ...], assumptions: Assumptions) -> bool:
    """Whether the integrand has a value everywhere, under names that are not used outside."""
    if any(n in assumptions.domains for n in names):
        return False
    inner = Assumptions({**assumptions.domains, **{n: Domain() for n in names}}, assumptions.facts)
    return prove_defined(body, inner) is not None


def tidy(value: Expr, assumptions: Assumptions) -> Expr:
    """The normal form written back where that is no longer."""
    found = in_workspace(assumptions, lambda ws: write(ws, ws.form(value)))
    return value if found is None or found.size > value.size else found


def _mean(node: Gauss, given: Assumptions) -> tuple[Expr, str]:
    law = Normal(node.q, node.mean, given)
    positive = prove_relation(node.q, ">", ZERO, given) is not None
    p = polynomial_in(node.body, node.var)
    if p is not None and (positive or prove_relation(node.q, ">=", ZERO, given) is not None):
        return plus(*(times(c, moment(law, k)) for k, c in p.items())), "by moments"
    if not positive:
        raise _NoForm
    symmetric = _by_symmetry(node, given)
    if symmetric is not None:
        return symmetric
    whole = kernels(node.body, node.var)
    if whole is not None:
        return plus(*(_kernel(law, t) for t in whole)), "by Stein's identity and tilting"
    parts = spans(node.body, node.var, Span(None, None, node.body), given)
    if parts is None or len(parts) < 2:
        raise _NoForm
    return plus(*(_on_span(law, s, node.var) for s in parts)), "piece by piece between its kinks"


def _by_symmetry(node: Gauss, given: Assumptions) -> tuple[Expr, str] | None:
    """The value for f(m + z) + f(m - z) constant in z, and f of moderate growth."""
    var = Var(node.var)
    if not dominated(node.body, node.var):
        return None
    up = substitute(node.body, {node.var: plus(node.mean, var)})
    down = substitute(node.body, {node.var: plus(node.mean, minus(var))})
    at = substitute(node.body, {node.var: node.mean})
    inner = Assumptions({**given.domains, node.var: Domain()}, given.facts)
    if prove_relation(plus(up, down), "==", times(TWO, at), inner) is None:
        return None
    return at, f"since the integrand minus its value at {to_text(node.mean)} is odd about it"


def moment(law: Normal, k: int) -> Expr:
    """E z^k, a polynomial in q and the mean."""
    terms = []
    for j in range(0, k + 1, 2):
        pairs = factorial(j) // (2 ** (j // 2) * factorial(j // 2))
        terms.append(times(num(comb(k, j) * pairs), raised(law.q, j // 2), raised(law.mean, k - j)))
    return plus(*terms)


def _tilted(law: Normal, t: Kernel) -> tuple[Normal, Expr]:
    """The law that the exponential turns this one into, and its weight."""
    if t.quad == ZERO and t.lin == ZERO:
        return law, ONE
    m, q = law.mean, law.q
    d = plus(ONE, times(TWO, t.quad, q))
    if prove_relation(d, ">", ZERO, law.given) is None:
        raise _NoForm
    exponent = plus(times(m, t.lin), times(HALF, raised(t.lin, 2), q), minus(times(t.quad, raised(m, 2))))
    weight = over(exponential(over(exponent, d)), root(d))
    return Normal(over(q, d), over(plus(m, times(t.lin, q)), d), law.given), weight


def _kernel(law: Normal, t: Kernel) -> Expr:
    """E of a kernel over R."""
    tilted, weight = _tilted(law, t)
    bare = replace(t, quad=ZERO, lin=ZERO, c=ONE)
    return times(t.c, weight, _bare(tilted, bare))


def _bare(law: Normal, t: Kernel) -> Expr:
    """E of z^k times error functions or a cosine."""
    if not t.erfs and t.wave is None:
        return moment(law, t.k)
    if t.k == 0:
        return _wave(law, *t.wave) if t.wave is not None and not t.erfs else _erfs(law, t)
    # Stein with g = z^(k-1) times the rest.
    rest = replace(t, k=t.k - 1)
    terms = [] if law.mean == ZERO else [times(law.mean, _bare(law, rest))]
    terms += [times(law.q, _kernel(law, d)) for d in _slope(rest)]
    return plus(*terms)


def _slope(t: Kernel) -> list[Kernel]:
    """The derivative of z^k times error functions or a cosine."""
    found: list[Kernel] = []
    if t.k:
        found.append(replace(t, k=t.k - 1, c=num(t.k)))
    if t.wave is not None:
        w, p = t.wave
        found.append(replace(t, c=w, wave=(w, plus(p, times(HALF, PI)))))
    for i, (a, b) in enumerate(t.erfs):
        left = (*t.erfs[:i], *t.erfs[i + 1 :])
        factor = times(TWO, a, over(exponential(minus(raised(b, 2))), root(PI)))
        found.append(replace(t, c=factor, erfs=left, quad=raised(a, 2), lin=times(num(-2), a, b)))
    return found


def _wave(law: Normal, w: Expr, p: Expr) -> Expr:
    damp = exponential(times(num(Fraction(-1, 2)), raised(w, 2), law.q))
    return times(damp, App("cos", (plus(times(w, law.mean), p),)))


def _erfs(law: Normal, t: Kernel) -> Expr:
    if t.wave is not None:
        raise _NoForm
    spread = [plus(ONE, times(TWO, raised(a, 2), law.q)) for a, _ in t.erfs]
    if len(t.erfs) == 1:
        ((a, b),) = t.erfs
        return App("erf", (over(plus(times(a, law.mean), b), root(spread[0])),))
    if law.mean != ZERO or any(b != ZERO for _, b in t.erfs):
        raise _NoForm
    if len(t.erfs) % 2:
        return ZERO
    if len(t.erfs) != 2:
        raise _NoForm
    (a, _), (b, _) = t.erfs
    below = spread[0] if a == b else root(times(*spread))
    angle = App("asin", (over(times(TWO, a, b, law.q), below),))
    return over(times(TWO, angle), PI)


def _on_span(law: Normal, span: Span, var: str) -> Expr:
    """E of the function over one interval between its kinks."""
    found = kernels(span.expr, var)
    if found is None:
        raise _NoForm
    terms = []
    for t in found:
        if t.erfs or t.wave is not None:
            raise _NoForm
        tilted, weight = _tilted(law, t)
        terms.append(times(t.c, weight, _partial(tilted, t.k, span)))
    return plus(*terms)


def _partial(law: Normal, k: int, span: Span) -> Expr:
    """E of z^k over an interval."""
    m, q = law.mean, law.q

    def share(end: Expr | None, side: int) -> Expr:
        if end is None:
            return num(side)
        return App("erf", (over(plus(end, minus(m)), root(times(TWO, q))),))

    def edge(power: int) -> Expr:
        terms = []
        for end, sign in ((span.hi, 1), (span.lo, -1)):
            if end is not None:
                off = plus(end, minus(m))
                density = over(
                    exponential(over(minus(raised(off, 2)), times(TWO, q))), root(times(TWO, PI, q))
                )
                terms.append(times(num(sign), raised(end, power), density))
        return plus(*terms)

    low = times(HALF, plus(share(span.hi, 1), minus(share(span.lo, -1))))
    values = [low]
    for j in range(1, k + 1):
        terms = [times(m, values[j - 1]), minus(times(q, edge(j - 1)))]
        if j > 1:
            terms.append(times(num(j - 1), q, values[j - 2]))
        values.append(plus(*terms))
    return values[k]
