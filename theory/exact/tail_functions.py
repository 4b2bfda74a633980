"""What functions make of expansions at infinity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from gateproof.theory.exact import enclose
from gateproof.theory.exact.transseries import (
    Form,
    Grow,
    Key,
    NoTail,
    Rest,
    Trans,
    add,
    as_grow,
    between,
    inverse,
    leading,
    make,
    mul,
    neg,
    number,
    sign_of,
    size,
    sup_of,
)

ZERO = Fraction(0)
CONSTANT = (ZERO, 0)
#: Constants beyond it are not put into exp.
LARGEST = 200


def split(f: Trans) -> tuple[Fraction, list[Rest], Fraction] | None:
    """(c, d, D) with f = c + delta, |delta| <= the rest d <= D; None if f is not bounded."""
    c = f.terms.get(CONSTANT, ZERO)
    others = {key: v for key, v in f.terms.items() if key != CONSTANT}
    delta = size(Trans(f.start, others, f.rest))
    top = sup_of(delta, f.start)
    return None if top is None or any(key > CONSTANT for key in others) else (c, delta, top)


def constant(f: Form, pair: tuple[Fraction, Fraction], delta: list[Rest], lipschitz: Fraction) -> Trans:
    """A value between two rationals, off by at most lipschitz * delta."""
    base = between(pair, f.start)
    return make(f.start, base.terms, [*base.rest, *(Rest(c * lipschitz, k, a) for c, k, a in delta)])


def falling(f: Form) -> list[Rest]:
    """exp(-f) as a rest, for f that tends to +oo."""
    grow = as_grow(f)
    if grow is None or grow.sign < 0:
        raise NoTail("the sign of an argument is not decided far out")
    start = f.start
    if isinstance(f, Trans) and max(f.terms)[0] == 0:
        line = {k: c for (b, k), c in f.terms.items() if b == 0 and k >= 0}
        small = [Rest(abs(c), k, -b) for (b, k), c in f.terms.items() if b < 0 or k < 0]
        for c, k, a in f.rest:
            if a == 0 and k > 0:
                line[k] = line.get(k, ZERO) - c
            else:
                small.append(Rest(c, k, a))
        off = sup_of(small, start)
        if off is not None:
            found = _falling_polynomial(line, off, start)
            if found is not None:
                return [found]
    # x**k exp(b x) >= start**(k-1) x, or >= b x for start >= 1.
    if start < 1 or grow.k < 0 or (grow.k == 0 and grow.b <= 0):
        raise NoTail("an argument that grows too slowly")
    rate = grow.c * start ** (grow.k - 1) if grow.k >= 1 else grow.c * grow.b
    return [Rest(Fraction(1), 0, enclose.round_down(rate, 64))]


def _falling_polynomial(line: dict[int, Fraction], off: Fraction, start: Fraction) -> Rest | None:
    degree = max(line)
    if degree == 1:
        slope = enclose.round_down(line[1])
        if slope <= 0:
            return None
        return Rest(enclose.exp(enclose.round_up(off - line.get(0, ZERO), 64))[1], 0, slope)
    # P(x)/x rises from start on where x P' - P has no negative coefficient about start.
    rising = shifted({k: (k - 1) * c for k, c in line.items()}, start)
    if any(c < 0 for c in rising):
        return None
    rate = enclose.round_down(sum((c * start ** (k - 1) for k, c in line.items()), ZERO), 64)
    return Rest(enclose.exp(enclose.round_up(off, 64))[1], 0, rate) if rate > 0 else None


def shifted(line: dict[int, Fraction], start: Fraction) -> list[Fraction]:
    """Coefficients of P(start + t) in t."""
    coefficients = [ZERO]
    for k in range(max(line), -1, -1):
        raised = [ZERO, *coefficients]
        for j, c in enumerate(coefficients):
            raised[j] += c * start
        raised[0] += line.get(k, ZERO)
        coefficients = raised
    return coefficients


def exp(f: Form) -> Form:
    """Exponential."""
    grow = as_grow(f)
    if isinstance(f, Trans):
        slope = f.terms.get((ZERO, 1), ZERO)
        rest_terms = {key: c for key, c in f.terms.items() if key != (ZERO, 1)}
        found = split(Trans(f.start, rest_terms, f.rest))
        if found is not None:
            c, delta, top = found
            # |exp(delta) - 1| <= exp(D) |delta|
            near = constant(f, (Fraction(1), Fraction(1)), delta, enclose.exp(enclose.round_up(top, 64))[1])
            if c:
                near = _trans(mul(near, between(enclose.exp(c), f.start)))
            return mul(Trans(f.start, {(slope, 0): Fraction(1)}), near)
    if grow is None:
        raise NoTail("exp of an argument without a decided limit")
    if grow.sign < 0:
        return make(f.start, {}, falling(neg(f)))
    (part,) = falling(f)
    return Grow(f.start, 1, enclose.round_down(1 / part.c, 64), 0, part.a)


def _trans(f: Form) -> Trans:
    if isinstance(f, Grow):
        raise NoTail("a part that grows too fast")
    return f


def one(f: Form) -> Trans:
    """The constant 1."""
    return number(Fraction(1), f.start)


def sigmoid(f: Form) -> Form:
    """1/(1 + exp(-f)), by the exponential that falls."""
    grow = as_grow(f)
    if grow is not None and grow.sign < 0:
        e = exp(f)
        return mul(e, inverse(add(one(f), e)))
    return inverse(add(one(f), exp(neg(f))))


def tanh(f: Form) -> Form:
    """(1 - E)/(1 + E), E = exp(-2f)."""
    grow = as_grow(f)
    if grow is not None and grow.sign < 0:
        return neg(tanh(neg(f)))
    near = _near_zero(f)
    if near is not None:
        return make(f.start, {}, near)
    e = exp(neg(add(f, f)))
    return mul(add(one(f), neg(e)), inverse(add(one(f), e)))


def sech(f: Form) -> Form:
    """2 E/(1 + E**2), E = exp(-|f|)."""
    e = exp(neg(absolute(f)) if as_grow(f) is not None else neg(f))
    return mul(add(e, e), inverse(add(one(f), mul(e, e))))


def softplus(f: Form) -> Form:
    """f + log(1 + exp(-f)) or log(1 + exp(f)); E - E**2/2 <= log(1 + E) <= E."""
    grow = as_grow(f)
    if grow is None:
        found = split(_trans(f))
        if found is None or abs(found[0]) > LARGEST:
            raise NoTail("softplus of an argument without a moderate limit")
        low, high = enclose.exp(found[0])
        return constant(f, (enclose.log(1 + low)[0], enclose.log(1 + high)[1]), found[1], Fraction(1))
    e = _trans(exp(neg(f) if grow.sign > 0 else f))
    bound = size(_trans(mul(Trans(f.start, {}, tuple(size(e))), Trans(f.start, {}, tuple(size(e))))))
    grown = make(f.start, e.terms, [*e.rest, *(Rest(c / 2, k, a) for c, k, a in bound)])
    return add(f, grown) if grow.sign > 0 else grown


def erfc(f: Form) -> Form:
    """erfc(u) <= exp(-u**2) for u >= 0; 2 - erfc(-u) on the other side."""
    grow = as_grow(f)
    if grow is not None and grow.sign < 0:
        return add(number(Fraction(2), f.start), neg(erfc(neg(f))))
    if grow is not None:
        return make(f.start, {}, falling(mul(f, f)))
    near = _near_zero(f)
    if near is None:
        raise NoTail("erf of an argument without a limit at 0 or infinity")
    return constant(f, (Fraction(1), Fraction(1)), near, Fraction(11284, 10000))


def erf(f: Form) -> Form:
    """1 - erfc(f)."""
    near = _near_zero(f) if as_grow(f) is None else None
    if near is not None:
        return make(f.start, {}, [Rest(c * Fraction(11284, 10000), k, a) for c, k, a in near])
    return add(one(f), neg(erfc(f)))


def atan(f: Form) -> Form:
    """+-pi/2 within 1/|f|; |atan u| <= |u|."""
    grow = as_grow(f)
    if grow is None:
        near = _near_zero(f)
        if near is None:
            raise NoTail("atan of an argument without a limit at 0 or infinity")
        return make(f.start, {}, near)
    lo, hi = enclose.pi()
    half = (lo / 2, hi / 2) if grow.sign > 0 else (-hi / 2, -lo / 2)
    return constant(f, half, size(inverse(grow)), Fraction(1))


def _near_zero(f: Form) -> list[Rest] | None:
    """|f| as a rest, where f is bounded and has no constant part."""
    found = split(f) if isinstance(f, Trans) else None
    return found[1] if found is not None and found[0] == 0 else None


def cosh(f: Form) -> Form:
    """(exp(f) + exp(-f))/2."""
    return mul(number(Fraction(1, 2), f.start), add(exp(f), exp(neg(f))))


def sinh(f: Form) -> Form:
    """(exp(f) - exp(-f))/2."""
    return mul(number(Fraction(1, 2), f.start), add(exp(f), neg(exp(neg(f)))))


def _bounded_wave(at_zero: Fraction) -> Callable[[Form], Form]:
    def wave(f: Form) -> Form:
        near = _near_zero(f)
        if near is not None:
            return constant(f, (at_zero, at_zero), near, Fraction(1))
        return make(f.start, {}, [Rest(Fraction(1), 0, ZERO)])

    return wave


def log(f: Form) -> Form:
    """log(c) within |delta|/(c - D), for a limit c > 0; otherwise by the leading part."""
    found = split(f) if isinstance(f, Trans) else None
    if found is None or found[2] >= found[0]:
        return _log_by_leading(f)
    c, _, top = found
    return add(constant(f, enclose.log(c), [], ZERO), _log_near_one(_off_one(f, CONSTANT, c), top / c))


def _off_one(f: Form, key: Key, c: Fraction) -> Trans:
    """Rho with f = c x**k exp(b x) (1 + rho)."""
    b, k = key
    rho = _trans(mul(f, Trans(f.start, {(-b, -k): 1 / c})))
    return Trans(f.start, {key: d for key, d in rho.terms.items() if key != CONSTANT}, rho.rest)


def _cubed(rho: Trans, factor: Fraction) -> list[Rest]:
    """|rho|**3 times the factor as a rest."""
    whole = Trans(rho.start, {}, tuple(size(rho)))
    cubed = _trans(mul(whole, _trans(mul(whole, whole))))
    return [Rest(d * factor, k, a) for d, k, a in cubed.rest]


def _quadratic(rho: Trans, first: Fraction, second: Fraction, third: Fraction) -> Trans:
    """First rho + second rho**2, within third |rho|**3."""
    one_, two = number(first, rho.start), number(second, rho.start)
    found = _trans(add(mul(one_, rho), mul(two, mul(rho, rho))))
    return make(rho.start, found.terms, [*found.rest, *_cubed(rho, third)])


def _log_near_one(rho: Trans, top: Fraction) -> Trans:
    """log(1 + rho) = rho - rho**2/2 + r, |r| <= |rho|**3/(3 (1-|rho|)**3), |rho| <= top < 1."""
    return _quadratic(rho, Fraction(1), Fraction(-1, 2), 1 / (3 * (1 - top) ** 3))


def _log_by_leading(f: Form) -> Form:
    """Log of c x**k exp(b x) (1 + rho): b x + log(c) + log(1 + rho) for k = 0, else known to grow."""
    lead = leading(f) if isinstance(f, Trans) else ((f.b, f.k), f.sign * f.c, ZERO)
    if lead is None or lead[1] <= 0 or (isinstance(f, Trans) and lead[0] == CONSTANT):
        raise NoTail("log of an argument that is not seen to be positive")
    (b, k), c, ratio = lead
    if isinstance(f, Trans) and (b, k) < CONSTANT:
        return neg(_log_by_leading(inverse(f)))
    if isinstance(f, Trans) and k == 0:
        line = make(f.start, {(ZERO, 1): b}, [])
        near = _log_near_one(_off_one(f, (b, k), c), ratio)
        return add(line, add(constant(f, enclose.log(c), [], ZERO), near))
    least = c * (1 - ratio) * f.start**k * enclose.exp(min(b * f.start, enclose.FAR))[0]
    if k < 0 or b < 0 or least <= 1:
        raise NoTail("log of an argument that is not seen to grow")
    return Grow(f.start, 1, enclose.log(enclose.round_down(least, 64))[0], 0)


def sqrt(f: Form) -> Form:
    """By the leading part; sqrt(c) within |delta|/sqrt(c) where f may touch 0."""
    found = split(f) if isinstance(f, Trans) else None
    if found is not None and found[0] == 0 and found[2] == 0:
        return number(ZERO, f.start)
    if found is None or found[2] != found[0]:
        return _sqrt_by_leading(f)
    c, delta, _ = found
    pair = enclose.sqrt(c)
    return constant(f, pair, delta, 1 / pair[0])


def _sqrt_by_leading(f: Form) -> Form:
    """Sqrt of c x**k exp(b x) (1 + rho).

    sqrt(1 + t) = 1 + t/2 - t**2/8 + r with |r| <= |t|**3/(16 (1-|t|)**3).
    """
    lead = leading(f) if isinstance(f, Trans) else ((f.b, f.k), f.sign * f.c, ZERO)
    if lead is None or lead[1] <= 0:
        raise NoTail("square root of an argument that is not seen to be positive")
    (b, k), c, ratio = lead
    if isinstance(f, Grow) or k % 2:
        if (b, k) <= CONSTANT and isinstance(f, Trans):
            raise NoTail("square root of an odd falling power")
        # x**k >= x**(k - 1) start for odd k.
        least = c * (1 - ratio) * (f.start if k % 2 else 1)
        return Grow(f.start, 1, enclose.sqrt(enclose.round_down(least, 64))[0], (k - k % 2) // 2, b / 2)
    rho = _off_one(f, (b, k), c)
    near = add(one(f), _quadratic(rho, Fraction(1, 2), Fraction(-1, 8), 1 / (16 * (1 - ratio) ** 3)))
    scale = mul(constant(f, enclose.sqrt(c), [], ZERO), Trans(f.start, {(b / 2, k // 2): Fraction(1)}))
    return mul(scale, near)


def asinh(f: Form) -> Form:
    """log(f + sqrt(1 + f**2)); |asinh u| <= |u|."""
    near = _near_zero(f)
    if near is not None:
        return make(f.start, {}, near)
    return log(exp_asinh(f)) if _rises(f) else neg(log(exp_asinh(neg(f))))


def _rises(f: Form) -> bool:
    grow = as_grow(f)
    return grow is None or grow.sign > 0


def exp_asinh(f: Form) -> Form:
    """exp(asinh(f)) = f + sqrt(1 + f**2), inverted where that cancels."""
    if not _rises(f):
        return inverse(exp_asinh(neg(f)))
    return add(f, hypotenuse(f))


def hypotenuse(f: Form) -> Form:
    """sqrt(1 + f**2) = cosh(asinh(f))."""
    return sqrt(add(one(f), mul(f, f)))


#: What these are of an inverse hyperbolic sine.
OF_ASINH: dict[str, Callable[[Form], Form]] = {
    "exp": exp_asinh,
    "sinh": lambda f: f,
    "cosh": hypotenuse,
    "tanh": lambda f: mul(f, inverse(hypotenuse(f))),
    "sech": lambda f: inverse(hypotenuse(f)),
}


def absolute(f: Form) -> Form:
    """|f|, by its sign; or as a rest where no constant part is left."""
    sign = sign_of(f)
    if sign is not None:
        return f if sign >= 0 else neg(f)
    assert isinstance(f, Trans)
    near = _near_zero(f)
    if near is None:
        raise NoTail("the sign of an absolute value is not decided far out")
    return make(f.start, {}, near)


def sign(f: Form) -> Form:
    """-1, 0 or 1."""
    found = sign_of(f)
    if found is None:
        raise NoTail("a sign is not decided far out")
    return number(Fraction(found), f.start)


def maximum(f: Form, g: Form) -> Form:
    """The larger: f + max(g - f, 0) where they differ by a rest alone."""
    difference = add(f, neg(g))
    found = sign_of(difference)
    if found is not None:
        return f if found >= 0 else g
    half = mul(number(Fraction(1, 2), f.start), add(add(f, g), absolute(difference)))
    return half


FUNCTIONS: dict[str, Callable[[Form], Form]] = {
    "neg": neg, "abs": absolute, "sign": sign, "exp": exp, "log": log, "sqrt": sqrt,
    "sigmoid": sigmoid, "tanh": tanh, "sech": sech, "softplus": softplus, "erf": erf,
    "erfc": erfc, "atan": atan, "asinh": asinh, "cosh": cosh, "sinh": sinh, "sin": _bounded_wave(ZERO),
    "cos": _bounded_wave(Fraction(1)),
}  # fmt: skip
