"""Softmax as a two-branch threshold gate whose threshold is a log-sum-exp of the other logits.

Threshold-gating paper, "Method", item 3: softmax(z)_i = sigmoid(z_i - LSE(z without i)), the
constant family with branches 0 and 1 (left to right) and sharpness 1. The log-odds z_i - LSE of
the others decide everything: probability i is their sigmoid.

A logit is an expression, or None for a masked one (-oo). LSE of nothing is -oo, so that the only
unmasked logit has log-odds +oo and probability 1; a masked logit has log-odds -oo and probability
0. A row that is masked throughout has no probabilities: both sides of the identity are undefined,
and every function here raises ValueError. Logits are finite: with a logit +oo softmax has no
value, and none can be written.

The two-argument LSE is max(a, b) + softplus(-|a - b|): a hard gate, and the integral of a soft
one. :func:`lse_by_gates` chains it, so that no exponential is formed but inside a gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gateproof.theory.exact.derivative import add, neg
from gateproof.theory.folding import Numbers, vector
from gateproof.theory.formula.nodes import App, Const, Expr, Integral, Rel, Tg, Var, Where, num

Logits = Sequence[Expr | None]
_INF: Expr = Const("oo")
MINUS_INF: Expr = App("neg", (_INF,))


def _checked(logits: Logits, i: int) -> list[Expr]:
    """The unmasked logits other than i (counted from 0)."""
    if not 0 <= i < len(logits):
        raise ValueError(f"no logit {i} of {len(logits)}")
    if all(z is None for z in logits):
        raise ValueError("every logit is masked: there are no probabilities")
    return [z for k, z in enumerate(logits) if k != i and z is not None]


def lse(parts: Sequence[Expr]) -> Expr:
    """log sum exp, as one expression; -oo for no parts, the part itself for one."""
    if len(parts) < 2:
        return parts[0] if parts else MINUS_INF
    return App("log", (App("add", tuple(App("exp", (z,)) for z in parts)),))


def threshold(logits: Logits, i: int) -> Expr:
    """LSE of the unmasked logits other than i; -oo where there are none."""
    return lse(_checked(logits, i))


def log_odds(logits: Logits, i: int) -> Expr:
    """z_i - LSE of the others: +oo for the only unmasked logit, -oo for a masked one."""
    others = _checked(logits, i)
    z = logits[i]
    if z is None:
        return MINUS_INF
    return add(z, neg(lse(others))) if others else _INF


def probability(logits: Logits, i: int) -> Expr:
    """sigmoid(log-odds): 1 for the only unmasked logit, 0 for a masked one."""
    odds = log_odds(logits, i)
    if odds == _INF:
        return num(1)
    return num(0) if odds == MINUS_INF else App("sigmoid", (odds,))


def as_gate(logits: Logits, i: int) -> Tg:
    """Probability i as a gate of z_i with the threshold of the others.

    Raises ValueError where the probability is 0 or 1 by masks: a gate's threshold is finite.
    """
    others = _checked(logits, i)
    z = logits[i]
    if z is None or not others:
        raise ValueError("masked, or alone: the gate is constant and has no finite threshold")
    return Tg(z, (num(1),), (lse(others),), (num(0), num(0)), (num(0), num(1)))


def direct(logits: Logits, i: int) -> Expr:
    """The textbook quotient exp(z_i) / sum exp(z_k) over the unmasked logits."""
    others = _checked(logits, i)
    z = logits[i]
    if z is None:
        return num(0)
    top = App("exp", (z,))
    return App("div", (top, add(top, *(App("exp", (o,)) for o in others))))


def hard(logits: Numbers, i: int) -> Fraction:
    """The limit of probability i as all logits are scaled up: 1/m for one of m equal largest, else 0.

    This is softmax's hard gate. Ties share: no order among equal logits decides.
    """
    values = vector(logits)
    if not 0 <= i < len(values):
        raise ValueError(f"no logit {i} of {len(values)}")
    top = max(values)
    return Fraction(1, values.count(top)) if values[i] == top else Fraction(0)


def odds(weights: Numbers, i: int) -> Fraction | None:
    """exp(log-odds) for logits log(w_k), exactly: w_i over the sum of the others.

    A weight 0 is a masked logit; None is +oo. Raises ValueError for negative weights or none
    positive.
    """
    values = vector(weights)
    if not 0 <= i < len(values) or any(w < 0 for w in values) or not any(values):
        raise ValueError("weights are not negative and not all 0")
    rest = sum(values) - values[i]
    return values[i] / rest if rest else None


def maximum(a: Expr, b: Expr) -> Expr:
    """max(a, b) as a hard two-branch gate of a with threshold b."""
    return Where(Rel((">",), (a, b)), a, b)


def softplus_integral(u: Expr, name: str = "s") -> Integral:
    """softplus(u) as the integral of the soft gate from -oo to u.

    An integrator that starts at 0 gives softplus(u) - log 2 instead.
    """
    return Integral(App("sigmoid", (Var(name),)), name, MINUS_INF, u)


def lse_pair(a: Expr, b: Expr, *, integral: bool = False) -> Expr:
    """max(a, b) + softplus(-|a - b|) by gates; ``integral`` writes softplus as the integral."""
    gap = App("neg", (App("abs", (add(a, neg(b)),)),))
    soft: Expr = softplus_integral(gap) if integral else App("softplus", (gap,))
    return add(maximum(a, b), soft)


def lse_by_gates(parts: Sequence[Expr]) -> Expr:
    """LSE as a chain of pairs. Raises ValueError for no parts: -oo is no output of a gate."""
    if not parts:
        raise ValueError("LSE of nothing is -oo")
    total = parts[0]
    for z in parts[1:]:
        total = lse_pair(total, z)
    return total


def pairs_needed(n: int) -> int:
    """Two-argument LSEs for all n thresholds of a row, from running LSEs of both ends: 3(n-2).

    n-2 prefixes, n-2 suffixes and n-2 joins of the two; none for n < 3. Forming each threshold
    by itself takes n(n-2).
    """
    return 3 * max(n - 2, 0)


def thresholds_by_gates(parts: Sequence[Expr]) -> tuple[Expr, ...]:
    """All n thresholds of a row from :func:`pairs_needed` pairs; n >= 2."""
    n = len(parts)
    if n < 2:
        raise ValueError("a single logit has no threshold")
    before, after = [parts[0]], [parts[-1]]
    for k in range(1, n - 1):
        before.append(lse_pair(before[-1], parts[k]))
        after.append(lse_pair(after[-1], parts[n - 1 - k]))
    inner = tuple(lse_pair(before[k - 1], after[n - 2 - k]) for k in range(1, n - 1))
    return (after[-1], *inner, before[-1])
