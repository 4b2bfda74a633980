"""Derivatives, Taylor polynomials and limits replaced by what they are equal to."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.means import NAMES
from gateproof.numerics.points import at_point, enclosure
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, UndecidedError
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.proofs_check.engine.sums import value_of
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.exact.means import Mean, holds_mean, reduced
from gateproof.theory.exact.piecewise import Piece, cut_points, linear_root, smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.series import taylor
from gateproof.theory.facts import kinks_of
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import (
    App,
    At,
    Diff,
    Expr,
    Limit,
    Node,
    Num,
    Rel,
    Series,
    Stmt,
    Taylor,
    Var,
    Where,
    num,
    rebuild,
)
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.formula.undropped import undropped
from gateproof.theory.pieces import pieces_of
from gateproof.theory.tail_limits import by_tail


@dataclass
class Elimination:
    """What was done on the way: steps, what they rest on, and conditions still owed."""

    space: Space
    steps: list[str] = field(default_factory=list)
    trust: list[str] = field(default_factory=list)
    owed: list[Stmt] = field(default_factory=list)
    #: Those owed conditions where a derivative certainly does not exist if they fail.
    certain: list[Stmt] = field(default_factory=list)

    def expr(self, node: Expr) -> Expr:
        """The expression without calculus nodes.

        Raises IllPosedError where a limit does not exist, UndecidedError where the exact methods
        do not reach, NotYetError by the operator's name.
        """
        found = self._node(node)
        assert isinstance(found, Expr)
        return found

    def _node(self, node: Node) -> Node:
        if isinstance(node, At):
            return self._at(node)
        before = len(self.owed), len(self.certain)
        done = rebuild(node, self._node)
        assert isinstance(done, Node)
        if isinstance(done, Limit | Taylor):
            self._settle(done, *before)
        elif isinstance(done, Mean) and self.owed[before[0] :]:
            raise UndecidedError(f"a derivative in {to_text(node)} may not exist everywhere")
        if isinstance(done, Diff):
            return self._diff(done)
        if isinstance(done, Taylor):
            return self._taylor(done)
        if isinstance(done, Limit):
            return self._limit(done)
        if isinstance(done, Mean):
            return self._mean(done)
        if isinstance(done, Series):
            return self._series(done)
        return done

    def _mean(self, node: Mean) -> Expr:
        found = reduced(node, self.space.assumptions())
        if isinstance(found, NoIntegral):
            raise IllPosedError(found.reason)
        if holds_mean(found[0]):
            raise NotYetError(NAMES[type(node).__name__])
        self.steps.extend(found[1])
        self.trust.append("flint")
        return found[0]

    def _settle(self, node: Limit | Taylor, owed: int, certain: int) -> None:
        """What is owed in the node's own variable: near the point of a limit, at that of a polynomial."""
        for kept, start in ((self.owed, owed), (self.certain, certain)):
            fresh = kept[start:]
            del kept[start:]
            for condition in fresh:
                if node.var not in free_names(condition):
                    kept.append(condition)
                elif isinstance(node, Taylor):
                    moved = substitute_node(condition, {node.var: node.point})
                    assert isinstance(moved, Stmt)
                    kept.append(moved)
                elif not self._holds_near(condition, node):
                    raise UndecidedError(f"a derivative in {to_text(node)} may not exist near the point")

    def _holds_near(self, condition: Stmt, node: Limit) -> bool:
        """Whether ``u != v`` holds near the point of a limit, which is itself not looked at."""
        assert isinstance(condition, Rel)
        left, right = condition.terms
        if condition.ops == ("==",):
            return self._has_value_near(left, node)
        root = linear_root(App("add", (left, App("neg", (right,)))), node.var)
        if root is None or free_names(root) or free_names(node.point):
            return False
        if infinite_sign(node.point) or equal_constants(root, node.point) is True:
            return True
        return prove_relation(root, "!=", node.point, Assumptions()) is not None

    def _has_value_near(self, expr: Expr, node: Limit) -> bool:
        """Whether it has a value far out, or beside the point on the sides that the limit looks at."""
        far = infinite_sign(node.point)
        if far:
            domains = [Domain(lo=num(1000)) if far > 0 else Domain(hi=num(-1000))]
        else:
            beside = {"+": [Domain(lo=node.point)], "-": [Domain(hi=node.point)]}
            domains = beside.get(node.side, [d for side in beside.values() for d in side])
        if free_names(node.point):
            return False
        known = self.space.without(node.var) if node.var in self.space.domains else self.space
        given = known.assumptions()
        return all(
            prove_defined(expr, Assumptions({**given.domains, node.var: d}, given.facts)) is not None
            for d in domains
        )

    def _at(self, node: At) -> Expr:
        before, sure = len(self.owed), len(self.certain)
        body = self.expr(node.body)
        value = self.expr(node.value)
        point = {node.var: value}
        owed = [substitute_node(s, point) for s in self.owed[before:]]
        self.owed[before:] = [s for s in owed if isinstance(s, Stmt)]
        certain = [substitute_node(s, point) for s in self.certain[sure:]]
        self.certain[sure:] = [s for s in certain if isinstance(s, Stmt)]
        return undropped(substitute(body, point), (value,))

    def _diff(self, node: Diff) -> Expr:
        current = node.body
        self._owe_value(current, node.var)
        for _ in range(node.order):
            if kinks(current, node.var):
                joined = self._by_pieces(current, node.var)
                if joined is not None:
                    current = joined
                    continue
            for argument in kinks(current, node.var):
                self.owed.append(Rel(("!=",), (argument, num(0))))
            following = derivative(current, node.var)
            if following is None:
                raise UndecidedError(f"no derivative of {to_text(current)} was found")
            current = following
        self.steps.append(f"{to_text(node)} = {to_text(current)}")
        self.trust.append("flint")
        return current

    def _owe_value(self, body: Expr, var: str) -> None:
        """Owe ``body == body``, which says that it has a value, unless it has one everywhere."""
        space = self.space if var in self.space.domains else self.space.with_domain(var, Domain())
        if prove_defined(body, space.assumptions()) is None:
            self.owed.append(Rel(("==",), (body, body)))

    def _by_pieces(self, body: Expr, var: str) -> Expr | None:
        """The derivative as one formula a piece; what is owed is only that var avoids true kinks."""
        domain, pieces = self._pieces(body, var)
        if pieces is None:
            return None
        slopes = [derivative(p.expr, var) for p in pieces]
        points = cut_points(pieces)
        joined = slopes[-1]
        for at, (left, right), (before, after) in reversed(
            list(zip(points, pairwise(slopes), pairwise(pieces), strict=True))
        ):
            if left is None or right is None or joined is None:
                return None
            here = {var: at}
            values = [substitute(e, here) for e in (before.expr, body, after.expr)]
            same = [(values[0], values[1]), (values[1], values[2])]
            same.append((substitute(left, here), substitute(right, here)))
            self._owe_equal(same, Rel(("!=",), (Var(var), at)))
            self._owe_regular((before.expr, after.expr), var, at)
            joined = Where(Rel(("<",), (Var(var), at)), left, joined)
        for end, closed, piece in (
            (domain.lo, domain.lo_closed, pieces[0]),
            (domain.hi, domain.hi_closed, pieces[-1]),
        ):
            if end is None or not closed:
                continue
            inside, here_value = (substitute(e, {var: end}) for e in (piece.expr, body))
            self._owe_equal([(inside, here_value)], Rel(("!=",), (Var(var), end)))
            self._owe_regular((body,), var, end)
        return joined

    def _owe_regular(self, exprs: tuple[Expr, ...], var: str, at: Expr) -> None:
        """A formula that fails at a point says nothing of the derivative there: owe that it is avoided."""
        avoided = Rel(("!=",), (Var(var), at))
        given = self.space.without(var).assumptions()
        arguments = (substitute(u, {var: at}) for e in exprs for u in kinks(e, var))
        if any(prove_relation(u, "!=", num(0), given) is None for u in arguments):
            self.owed += [] if avoided in self.owed else [avoided]

    def _pieces(self, body: Expr, var: str) -> tuple[Domain, list[Piece] | None]:
        """The pieces on all of R if the body has a value there: a kink at an end of the scope counts."""
        space = self.space.with_domain(var, Domain())
        # Conditions speak of the scope alone.
        facts = tuple(f for f in space.facts if var not in free_names(f))
        wide = Assumptions(dict(space.domains), facts)
        if prove_defined(body, wide) is not None:
            pieces = smooth_pieces(body, var, Domain(), wide)
            if pieces is not None:
                return Domain(), pieces
        domain = self.space.domains.get(var, Domain())
        return domain, smooth_pieces(body, var, domain, self.space.assumptions())

    def _owe_equal(self, pairs: list[tuple[Expr, Expr]], condition: Stmt) -> None:
        """Owe the condition unless all pairs are equal; it is certain where one is proved to differ."""
        given = Assumptions()
        if all(prove_relation(a, "==", b, given) for a, b in pairs):
            return
        self.owed.append(condition)
        if any(prove_relation(a, "!=", b, given) for a, b in pairs):
            self.certain.append(condition)

    def _taylor(self, node: Taylor) -> Expr:
        found = taylor(node.body, node.var, node.point, node.order, self.space.assumptions())
        if found is None:
            found = self._taylor_at_cut(node)
        if found is None:
            raise UndecidedError(
                f"no Taylor polynomial of {to_text(node.body)} at {to_text(node.point)} was found"
            )
        self.steps.extend(found[1].steps)
        self.trust.extend(found[1].trust)
        return undropped(found[0], (node.point,))

    def _taylor_at_cut(self, node: Taylor) -> tuple[Expr, Derivation] | None:
        """The polynomial where two formulas meet: of either, if they agree to that order."""
        if free_names(node.body) - {node.var} or free_names(node.point):
            return None
        if prove_defined(node.body, Assumptions({node.var: Domain()})) is None:
            return None
        pieces, breaks = pieces_of(node.body, node.var), kinks_of(node.body, node.var)
        if pieces is None or breaks is None:
            return None
        for kink in breaks:
            place = Num(kink.at) if isinstance(kink.at, Fraction) else kink.at
            if equal_constants(place, node.point) is True and kink.order < node.order:
                order = kink.order + 1
                reason = f"no derivative of order {order}" if order else "a jump"
                raise IllPosedError(f"{to_text(node)} does not exist: at {to_text(place)} there is {reason}")
        for piece in pieces:
            if piece.domain.hi is not None and equal_constants(piece.domain.hi, node.point) is True:
                return taylor(piece.expr, node.var, node.point, node.order, Assumptions())
        return None

    def _limit(self, node: Limit) -> Expr:
        found = limit(node.body, node.var, node.point, node.side, self.space.assumptions())
        if found is None:
            found = by_tail(node.body, node.var, node.point)
        if isinstance(found, NoLimit):
            raise IllPosedError(f"{to_text(node)} does not exist: {found.reason}")
        if found is None:
            raise UndecidedError(f"{to_text(node)} could not be found exactly")
        value, derivation = found
        _hold_against_balls(node, value)
        self.steps.extend(derivation.steps)
        self.trust.extend((*derivation.trust, "arb"))
        return value if infinite_sign(node.point) else undropped(value, (node.point,))

    def _series(self, node: Series) -> Expr:
        value, step = value_of(node, self.space)
        if step:
            self.steps.append(step)
            self.trust.append("flint")
        return value


def _hold_against_balls(node: Limit, value: Expr) -> None:
    """Raise UndecidedError where the value of a limit is far from the function near the point."""
    if free_names(node):
        return
    if not any(_is_near(node, value, k) for k in range(3)):
        raise UndecidedError(f"engines disagree on {to_text(node)}")


def _is_near(node: Limit, value: Expr, k: int) -> bool:
    """Whether the function is near the limit's value at the k-th probe, or cannot be evaluated there."""
    end = infinite_sign(node.point)
    if end:
        probe = Fraction(end * 10 ** (4, 12, 60)[k])
    else:
        lo, hi = enclosure(node.point)
        probe = (lo + hi) / 2 + (-1 if node.side == "-" else 1) * Fraction(1, 2 ** (60, 120, 200)[k])
    try:
        near = at_point(node.body, {node.var: probe}, 256)
    except (Undefined, MaybeUndefined):
        return True
    if infinite_sign(value):
        return not near * infinite_sign(value) < 0
    return not _far(near, at_point(value, {}, 256))


def _far(near: object, target: object) -> bool:
    from flint import arb

    assert isinstance(near, arb)
    assert isinstance(target, arb)
    return bool(abs(near - target) > (1 + abs(target)) / 10)


def eliminate(stmt: Stmt, space: Space) -> Stmt:
    """A statement without calculus nodes. Raises as :meth:`Elimination.expr`, and where a kink is owed."""

    def change(node: Node) -> Node:
        if isinstance(node, Expr):
            work = Elimination(space)
            done = work.expr(node)
            if work.owed:
                raise UndecidedError(f"a derivative in {to_text(node)} may not exist everywhere in scope")
            return done
        return rebuild(node, change) if isinstance(node, Stmt) else node

    found = rebuild(stmt, change)
    assert isinstance(found, Stmt)
    return found
