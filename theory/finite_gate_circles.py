"""Partial fractions over Q in u = exp(rate x): which circles of poles are those of sigmoids.

A sigmoid of sharpness m rate has its poles at the m roots of u**m = -w, all with one residue. Its Fourier
coefficients on the circle |u| = w**(1/m) are 0 but at multiples of m, so those of a sum of several determine
the smallest m first, then the next: the sharpnesses are multiples of the rate, and the sum is unique.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import cast

import flint

from gateproof.theory.exact import polys
from gateproof.theory.exact.budget import spend
from gateproof.theory.exact.kernels import ZERO, minus, over, plus, raised, times
from gateproof.theory.finite_gate_form import Coefficients, Form, Reason
from gateproof.theory.finite_gate_sum import GateSum, Step, closed
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.printer import to_text

Q = flint.fmpq_poly
#: Degrees of an irreducible factor whose roots are looked at one by one.
MAX_LOOKED_AT = 8
_ABOUT = 256


def rational_steps(form: Form) -> GateSum | Reason | None:
    """The sum of lines and sigmoids of a form with rational coefficients whose ends do not grow."""
    below = polynomial(form.below)
    above = {k: polynomial(c) for k, c in form.above.items()}
    starts = {k: Num(polys.fraction(n[0] / below[0])) for k, n in above.items()}
    apart: list[Step] = []
    pairs: dict[tuple[int, Fraction], None] = {}
    complete = True
    for q, e in below.factor()[1]:
        if e > 1:
            return Reason(double_text(e, f"{_written(q)} = 0 for u = {_base(form)}"), every=False)
        m = _power(q)
        if m is not None:
            mine, whole = _with_divisors(*m)
            pairs.update(dict.fromkeys(mine))
            complete = complete and whole
            continue
        if _crosses_the_line(q):
            return Reason(f"it has a pole at a real x, where {_written(q)} = 0 for u = {_base(form)}")
        split = _two_real(form, q, below, above)
        if split is None:
            return _not_on_a_ray(form, q)
        steps, above, below = split
        apart += steps
    found = _solve(above, below, list(pairs))
    if found is None:
        where = f"{_written(below)} = 0 for u = {_base(form)}"
        text = f"the residues at its poles, where {where}, are not those of sigmoids"
        return Reason(text, every=False) if complete else None
    steps = [
        _step(form, m, Num(w), {k: Num(c[i + 1]) for k, c in found.items()}) for i, (m, w) in enumerate(pairs)
    ]
    # At u = 0 all sigmoids are 0.
    return GateSum(starts.get(1, ZERO), starts.get(0, ZERO), (*apart, *steps))


def double_text(order: int, where: str) -> str:
    """The reason that a pole of higher order gives."""
    return (
        f"it has poles of order {order} in the complex plane ({where}); those of a difference gate are simple"
    )


def polynomial(coefficients: Coefficients) -> Q:
    """A polynomial with rational coefficients, in flint's form."""
    values = [Fraction(0)] * (max(coefficients) + 1)
    for k, c in coefficients.items():
        values[k] = polys.constant_of(c)
    return Q([flint.fmpq(v.numerator, v.denominator) for v in values])


def _written(q: Q) -> str:
    u = Var("u")
    parts = [times(Num(polys.fraction(c)), raised(u, k)) for k, c in enumerate(q.coeffs()) if c != 0]
    return to_text(plus(*reversed(parts)))


def _base(form: Form) -> str:
    assert form.rate is not None
    return to_text(App("exp", (times(form.rate, Var("x")),)))


def _power(q: Q) -> tuple[int, Fraction] | None:
    """The least m with u**m = -w modulo q for a rational w > 0."""
    x, power = Q([0, 1]), Q([1])
    for m in range(1, 12 * int(q.degree()) + 1):
        spend(1 + int(q.degree()) // 8)
        power = (power * x) % q
        if power.degree() == 0:
            w = -polys.fraction(power[0])
            if w > 0:
                return m, w
            # u**m is a positive number there: the powers repeat, and none is negative.
            return None
    return None


def _with_divisors(m: int, w: Fraction) -> tuple[list[tuple[int, Fraction]], bool]:
    """(m, w) and (m/k, w**(1/k)) for odd k: poles among its own; whether all are rational."""
    found, whole = [], True
    for k in range(1, m + 1, 2):
        if m % k == 0:
            root = _root(w, k)
            whole = whole and root is not None
            found += [] if root is None else [(m // k, root)]
    return found, whole


def _root(w: Fraction, k: int) -> Fraction | None:
    parts = [_integer_root(n, k) for n in (w.numerator, w.denominator)]
    return None if None in parts else Fraction(parts[0] or 0, parts[1] or 1)


def _integer_root(n: int, k: int) -> int | None:
    lo, hi = 0, 1 << (n.bit_length() // k + 1)
    while lo < hi:
        mid = (lo + hi) // 2
        lo, hi = (mid + 1, hi) if mid**k < n else (lo, mid)
    return lo if lo**k == n else None


def _crosses_the_line(q: Q) -> bool:
    return any(r.imag == 0 and r.real > 0 for r, _ in _roots(q))


def _roots(q: Q) -> list[tuple[flint.acb, int]]:
    with flint.ctx.workprec(_ABOUT):
        return cast(list[tuple[flint.acb, int]], q.numer().complex_roots())


def _two_real(form: Form, q: Q, below: Q, above: dict[int, Q]) -> tuple[list[Step], dict[int, Q], Q] | None:
    """A factor a v**2 + b v + c in v = u**m with roots -w < 0: its sigmoids, and what is left."""
    powers = [k for k, c in enumerate(q.coeffs()) if c != 0]
    m = gcd(*powers)
    if powers != [0, m, 2 * m]:
        return None
    a, b, c = (polys.fraction(q[k]) for k in (2 * m, m, 0))
    b, c = b / a, c / a
    if not (b * b > 4 * c and b > 0 and c > 0):
        return None
    others = below / q
    root = App("sqrt", (Num(b * b - 4 * c),))
    weights = [closed(times(Num(Fraction(1, 2)), plus(Num(b), t))) for t in (root, minus(root))]
    lines: dict[int, list[Expr]] = {}
    left: dict[int, Q] = {}
    for power, n in above.items():
        proper = (n * _inverse(others, q)) % q
        if any(proper[k] for k in range(2 * m) if k % m):
            return None
        alpha, beta = (polys.fraction(proper[k]) / a for k in (m, 0))
        gap = plus(weights[0], minus(weights[1]))
        # alpha v + beta = -c_1 w_1 (v + w_2) - c_2 w_2 (v + w_1), and w_1 w_2 = c.
        first = over(plus(Num(-alpha), times(Num(beta / c), weights[1])), gap)
        second = plus(Num(-beta / c), minus(first))
        lines[power] = [closed(first), closed(second)]
        left[power] = (n - proper * others) / q
    steps = [_step(form, m, w, {k: v[i] for k, v in lines.items()}) for i, w in enumerate(weights)]
    return steps, left, others


def _inverse(p: Q, q: Q) -> Q:
    g, s, _ = p.xgcd(q)
    return s / g[0]


def _not_on_a_ray(form: Form, q: Q) -> Reason | None:
    """A pole at an angle that no root of a negative number has: none of pi p/n with p odd.

    For conjugate roots r of an irreducible q of degree d, r/conj(r) has degree at most d (d - 1); as a root
    of unity it has an order n with phi(n) <= d (d - 1), so n <= 2 d**2 (d - 1)**2.
    """
    d = int(q.degree())
    if d > MAX_LOOKED_AT:
        return None
    limit = 2 * (d * (d - 1)) ** 2
    with flint.ctx.workprec(_ABOUT):
        for r, _ in _roots(q):
            if not r.imag > 0:
                continue
            spend(limit // 20)
            turn = r.arg() / flint.arb.pi()
            if not any(_odd(turn * n, n) for n in range(1, limit + 1)):
                where = f"{_written(q)} = 0 for u = {_base(form)}"
                text = f"it has a pole ({where}) where no power of u is negative; at a sigmoid's one is"
                return Reason(text, every=False)
    return None


def _odd(turn: flint.arb, n: int) -> bool:
    """Whether turn may be an odd integer without a common factor with n."""
    p = turn.unique_fmpz()
    if p is None:
        return bool(turn.contains_integer())
    return int(p) % 2 == 1 and gcd(int(p), n) == 1


def _solve(
    above: dict[int, Q], below: Q, pairs: list[tuple[int, Fraction]]
) -> dict[int, list[Fraction]] | None:
    """[C, c_1, ..] with above/below = C + sum c u**m/(u**m + w), for each power of x, or None."""
    common = below
    for m, w in pairs:
        term = _binomial(m, w)
        common = common * (term / common.gcd(term))
    columns = [common]
    for m, w in pairs:
        columns.append(Q([0] * m + [1]) * (common / _binomial(m, w)))
    size = int(common.degree()) + 1
    spend(size * len(columns))
    found = {}
    for power, n in above.items():
        right = n * (common / below)
        if right.degree() >= size:
            return None
        rows = [[c[k] for c in columns] + [right[k]] for k in range(size)]
        solution = _unique(rows)
        if solution is None:
            return None
        found[power] = solution
    return found


def _binomial(m: int, w: Fraction) -> Q:
    return Q([flint.fmpq(w.numerator, w.denominator)] + [0] * (m - 1) + [1])


def _unique(rows: list[list[flint.fmpq]]) -> list[Fraction] | None:
    """The solution of an overdetermined system; sigmoids are independent, so there is at most one."""
    width = len(rows[0]) - 1
    reduced, rank = flint.fmpq_mat(rows).rref()
    if rank < width or (rank > width and reduced[width, width] != 0):
        return None
    return [polys.fraction(reduced[i, width]) for i in range(width)]


def _step(form: Form, m: int, w: Expr, lines: dict[int, Expr]) -> Step:
    assert form.rate is not None
    tau = closed(times(num(m), form.rate))
    theta = closed(over(App("log", (w,)), tau))
    return Step(tau, theta, lines.get(1, ZERO), lines.get(0, ZERO))
