"""Exponentials of arguments that were rounded, put right by the rounding errors themselves.

exp(v) magnifies a relative error of v by |v|: for z = tau*(x - theta) rounded to float32, exp(-|z|) is off by
up to |z|/2 units in the last place. Sums and products of floating-point numbers have errors that are numbers
of the same kind (Knuth, TAOCP 2, 4.2.2; Dekker, Numer. Math. 18 (1971) 224); here they follow the argument,
and exp(v + w) = exp(v)*(1 + w) up to w**2/2, which is below 2**-34. Arguments that are exact, such as -|x|,
cost nothing; those made with other functions than softplus are left as they are. acosh near 1 and square
roots near 0 magnify likewise what a sum lacks when it has cancelled: there it is added to the argument.
"""

from __future__ import annotations

from dataclasses import replace
from math import frexp, inf, isfinite, log, nan
from typing import Any

import numpy as np

from gateproof.kernels.graph import Builder, Graph, Node, Ref

#: exp is 0 or infinite past it, and its argument's error may be no number.
_END = 1000.0
#: Errors of an exponent that need no care, in units of 2**-24.
_CLOSE = 1.5
#: Sums of this size have not cancelled, and 1 is below a unit of their squares.
_BIG = 2.0**27
#: _END divided by it can still be split by a product.
_TINY = 1e-30


def compensated(graph: Graph, *, unfused: bool = False) -> Graph:
    """The graph, for single precision, with its exponentials corrected.

    ``unfused`` is for compilers that fuse no product with a sum, and that go through memory for a bit mask.
    """
    builder = Builder(graph.inputs)
    errors = _Errors(graph, builder, unfused=unfused)
    for node in graph.nodes:
        args = tuple(errors.places[a] if isinstance(a, int) else a for a in node.args)
        made = builder.add(node.head, *args)
        low = errors.of(node.args[0]) if node.head in ("exp", "expm1", "acosh", "sqrt") else None
        if node.head == "acosh":
            made = _from_one(builder, args[0], low)
        elif node.head == "sqrt":
            made = _rooted(builder, made, args[0], low, errors.is_sum(node.args[0]))
        elif low is not None:
            made = _corrected(builder, node.head, made, args[0], low, node.args[0], errors)
        errors.places.append(made)
    found = builder.finished([errors.places[r] if isinstance(r, int) else r for r in graph.results])
    return replace(found, plain=graph)


def _corrected(builder: Builder, head: str, made: Ref, v: Ref, low: Ref, old: Ref, errors: _Errors) -> Ref:
    # expm1 keeps the relative error of its argument: products need no care, sums that cancel do.
    if low == 0.0 or (head == "expm1" and not errors.is_sum(old)):
        return made
    add: Any = builder.add
    inside = add("lt", add("abs", v), _END)
    kept = add("where", inside, low, 0.0)
    slope = made if head == "exp" else add("add", made, 1.0)
    found: Ref = add("add", made, add("mul", slope, kept))
    return found


def _from_one(builder: Builder, v: Ref, low: Ref | None) -> Ref:
    """acosh(v + low) = log1p(t + sqrt(t (t + 2))) by t = v - 1 + low, whose error it at most halves."""
    add: Any = builder.add
    big = add("gt", v, _BIG)
    near = add("sub", v, 1.0)
    t = near if low in (None, 0.0) else add("add", near, low)
    t = add("where", big, 1.0, t)
    value = add("log1p", add("add", t, add("sqrt", add("mul", t, add("add", t, 2.0)))))
    # Left of 1 there is no value; both factors under the root may be negative there.
    inside = add("where", add("ge", t, 0.0), value, nan)
    far = add("add", add("log", add("where", big, v, 1.0)), log(2.0))
    found: Ref = add("where", big, far, inside)
    return found


def _rooted(builder: Builder, made: Ref, v: Ref, low: Ref | None, is_sum: bool) -> Ref:
    """sqrt(v + low) of a sum, which may have cancelled."""
    if low is None or low == 0.0 or not is_sum:
        return made
    add: Any = builder.add
    kept = add("where", add("lt", add("abs", v), _BIG), low, 0.0)
    found: Ref = add("sqrt", add("add", v, kept))
    return found


def _gains(graph: Graph) -> dict[int, float]:
    """How many times larger than at a place an error is in the exponent that it comes into; none: 0."""
    found: dict[int, float] = {}

    def more(ref: Ref, gain: float) -> None:
        if isinstance(ref, int):
            found[ref] = max(found.get(ref, 0.0), gain)

    for place in reversed(range(graph.inputs, graph.inputs + len(graph.nodes))):
        node = graph.nodes[place - graph.inputs]
        gain = found.get(place, 0.0)
        if node.head in ("exp", "expm1"):
            more(node.args[0], 1.0)
        elif gain and node.head == "mul":
            for one, other in (node.args, node.args[::-1]):
                more(one, gain * abs(other) if isinstance(other, float) else inf)
        elif gain:
            same = node.head in ("add", "sub", "neg", "abs", "where")
            for a in node.args:
                more(a, gain if same else inf)
    return found


class _Errors:
    """What values lack: the exact sum or product minus the rounded one, to first order."""

    def __init__(self, graph: Graph, builder: Builder, *, unfused: bool) -> None:
        self.graph, self.builder, self.unfused = graph, builder, unfused
        self.places: list[Ref] = list(range(graph.inputs))
        self.known: dict[int, Ref | None] = {}
        self.gains = _gains(graph)

    def is_sum(self, ref: Ref) -> bool:
        """Whether a value is a sum, but for its sign."""
        while isinstance(ref, int) and ref >= self.graph.inputs:
            node = self.graph.nodes[ref - self.graph.inputs]
            if node.head not in ("neg", "abs"):
                return node.head in ("add", "sub")
            ref = node.args[0]
        return False

    def of(self, ref: Ref) -> Ref | None:
        """The error at a place of the old graph, 0.0 for none; None where it is not followed."""
        if isinstance(ref, float):
            return ref - float(np.float32(ref)) if isfinite(ref) else 0.0
        if ref < self.graph.inputs:
            return 0.0
        if ref not in self.known:
            self.known[ref] = self._of_node(ref)
        return self.known[ref]

    def _of_node(self, place: int) -> Ref | None:
        node = self.graph.nodes[place - self.graph.inputs]
        head, args = node.head, node.args
        if head == "log1p":
            # The small part of a softplus: what the sum of both loses matters more than its own error.
            return 0.0
        if head not in ("add", "sub", "mul", "div", "neg", "abs", "where"):
            return None
        lows = [self.of(a) for a in (args[1:] if head == "where" else args)]
        if any(low is None for low in lows):
            return None
        add, here = self.builder.add, [self.places[a] if isinstance(a, int) else a for a in args]
        value = self.places[place]
        if head == "where":
            return lows[0] if lows == [0.0, 0.0] else add("where", here[0], *lows)  # type: ignore[arg-type]
        if head == "neg":
            inner = self._at(args[0])
            if self.unfused and lows[0] != 0.0 and inner is not None and inner.head == "abs":
                # By the comparison that a gate makes anyway.
                low: Any = self.of(inner.args[0])
                right = add("ge", self._here(inner.args[0]), 0.0)
                return add("where", right, self._negative(low), low)
            return self._negative(lows[0])
        if head == "abs":
            if lows[0] == 0.0:
                return 0.0
            return add("where", add("lt", here[0], 0.0), self._negative(lows[0]), lows[0])  # type: ignore[arg-type]
        a, b = here
        if head == "mul":
            return self._sum(self._product(a, b, value), self._times(a, lows[1]), self._times(b, lows[0]))
        if head == "div":
            return self._quotient(a, b, value, lows)
        lost = self._lost(head, a, b, value, self.gains.get(place, inf))
        last = self._negative(lows[1]) if head == "sub" else lows[1]
        return self._sum(lost, lows[0], last)

    def _at(self, ref: Ref) -> Node | None:
        if not isinstance(ref, int) or ref < self.graph.inputs:
            return None
        return self.graph.nodes[ref - self.graph.inputs]

    def _here(self, ref: Ref) -> Ref:
        return self.places[ref] if isinstance(ref, int) else ref

    # --- in the new graph -----------------------------------------------------

    def _negative(self, ref: Ref | None) -> Ref:
        return 0.0 if ref == 0.0 else self.builder.add("neg", ref)  # type: ignore[arg-type]

    def _times(self, factor: Ref, low: Ref | None) -> Ref:
        return 0.0 if low == 0.0 else self.builder.add("mul", factor, low)  # type: ignore[arg-type]

    def _sum(self, *terms: Ref | None) -> Ref:
        found: Ref = 0.0
        for term in terms:
            if term is not None and term != 0.0:
                found = term if found == 0.0 else self.builder.add("add", found, term)
        return found

    def _lost(self, head: str, a: Ref, b: Ref, s: Ref, gain: float) -> Ref:
        """(a + b) - s or (a - b) - s for the rounded s.

        Beside a number c two operations do (Dekker): exact where the other summand is the larger one or the
        sum is exact, else off by at most 2**-24 |c|, of which ``gain`` times come into an exponent.
        """
        if any(isinstance(c, float) and c == 0.0 for c in (a, b)):
            return 0.0
        add = self.builder.add
        if head == "add" and isinstance(a, float):
            a, b = b, a
        if isinstance(b, float) and gain * abs(b) <= _CLOSE:
            return add(head, add("sub", a, s), b)
        v = add("sub", s, a)
        first = add("sub", a, add("sub", s, v))
        return add("add", first, add("sub", b, v)) if head == "add" else add("sub", first, add("add", b, v))

    def _quotient(self, a: Ref, b: Ref, q: Ref, lows: list[Ref | None]) -> Ref:
        """a/b - q for the rounded q: its remainder a - q*b is a number, and is divided again."""
        add = self.builder.add
        p = add("mul", q, b)
        rest = add("sub", add("sub", a, p), self._product(q, b, p))
        rest = self._sum(rest, lows[0], self._negative(self._times(q, lows[1])))
        return add("div", rest, b)

    def _product(self, a: Ref, b: Ref, p: Ref) -> Ref:
        """a*b - p for the rounded p."""
        if any(isinstance(c, float) and abs(frexp(c)[0]) in (0.5, 0.0) for c in (a, b)):
            return 0.0
        add = self.builder.add
        (ah, al), (bh, bl) = self._halves(a, b), self._halves(b, a)
        found = add("sub", add("mul", ah, bh), p)
        for x, y in ((ah, bl), (al, bh), (al, bl)):
            # Place 0 is no number.
            if any(isinstance(c, float) and c == 0.0 for c in (x, y)):
                continue
            found = add("add", found, add("mul", x, y))
        return found

    def _halves(self, a: Ref, other: Ref) -> tuple[Ref, Ref]:
        """Two numbers of half the bits each, whose products are exact."""
        if isinstance(a, float):
            whole = np.float32(a)
            high = (whole.view(np.int32) & np.int32(-4096)).view(np.float32)
            return float(high), float(whole - high)
        add = self.builder.add
        if self.unfused and isinstance(other, float) and abs(other) > _TINY:
            # Dekker's own way: it overflows past 2**115, where the product is beyond all exponents.
            spread = add("mul", a, 4097.0)
            high_ = add("sub", spread, add("sub", spread, a))
        else:
            high_ = add("high", a)
        return high_, add("sub", a, high_)
