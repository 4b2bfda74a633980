"""Sets of the mean field and means beside them, as numbers with enclosures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.gauss import gaussian_over
from gateproof.numerics.integral import Value
from gateproof.numerics.meanfield.number_set import Element, NoValue, NumberSet
from gateproof.numerics.means import enclosed
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, UndecidedError
from gateproof.proofs_check.engine.printed import printed_in
from gateproof.proofs_check.engine.quadrature import value_interval
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.means import Mean, holds_mean
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    App,
    At,
    Diff,
    Expr,
    Extremum,
    Gauss,
    Limit,
    MeanField,
    Node,
    Num,
    Rel,
    Series,
    Taylor,
    Var,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.rewriting import replaced
from gateproof.theory.formula.scopes import free_names

#: Digits to which the sets are enclosed in turn, and those of a mean whose variance is one of them.
LADDER, MEAN_DIGITS = (12, 30, 60), 12
#: The name of every activation's variable, so that equal sets are seen to be.
_X = "x"


def holds_field(node: Node) -> bool:
    """Whether a set of the mean field stands anywhere in the node."""
    return any(isinstance(n, MeanField) for n in node.walk())


def fields_in(node: Node) -> list[MeanField]:
    """The sets of the mean field of a node, each once."""
    return list(dict.fromkeys(n for n in node.walk() if isinstance(n, MeanField)))


def settled(relation: Rel, context: Context) -> Rel:
    """The relation with derivatives written out, each activation defined on all of R.

    Raises IllPosedError, UndecidedError or NotYetError where that is not so.
    """

    def visit(part: Node) -> Node:
        if isinstance(part, MeanField):
            return _settled(part, context)
        if isinstance(part, Extremum):
            raise NotYetError(f"{fields_in(relation)[0].op} beside {part.op}")
        if isinstance(part, At | Diff | Limit | Series | Taylor):
            return _plain(part)
        if isinstance(part, Gauss):
            part = replace(part, body=_core(part.body, part.var, to_text(part), context))
        done = rebuild(part, visit)
        assert isinstance(done, Node)
        return done

    found = visit(relation)
    assert isinstance(found, Rel)
    return found


def _plain(part: Expr) -> Expr:
    """A closed derivative, limit or sum as what it is equal to."""
    name = type(part).__name__.lower()
    if holds_field(part):
        raise NotYetError(f"{fields_in(part)[0].op} inside of {name}")
    work = Elimination(Space())
    found = work.expr(part)
    if work.owed:
        raise NotYetError(f"{name} of a function with kinks beside a set of the mean field")
    return found


def _settled(node: MeanField, context: Context) -> MeanField:
    names = free_names(node)
    if names:
        raise NotYetError(f"{node.op} that depends on a name ({min(names)}): its variances are numbers")
    inside = [e for e in (node.body, node.sigma_w2, node.sigma_b2) if e is not None]
    if any(isinstance(n, MeanField | Extremum) for e in inside for n in e.walk()) or holds_mean(node.body):
        raise NotYetError(f"{node.op} of a formula with sets, extrema or means in it")
    body = _core(node.body, node.var, to_text(node), context)
    w = None if node.sigma_w2 is None else _rational(node.op, node.sigma_w2)
    body = substitute(body, {node.var: Var(_X)})
    return replace(node, body=body, var=_X, sigma_w2=w, sigma_b2=_rational(node.op, node.sigma_b2))


def _rational(op: str, variance: Expr) -> Num:
    work = Elimination(Space())
    value = constant_value(work.expr(variance))
    if value is None or work.owed:
        raise NotYetError(f"{op} at {to_text(variance)}: its variances are rational numbers")
    return Num(value)


def _core(body: Expr, var: str, text: str, context: Context) -> Expr:
    """A function on R without calculus, with a value everywhere."""
    line = Space({var: Domain()})
    work = Elimination(line)
    core = work.expr(body)
    for condition in work.owed:
        if condition in work.certain:
            raise IllPosedError(f"in {text}: no derivative where {to_text(condition)} fails")
        raise UndecidedError(f"a derivative may not exist where {to_text(condition)} fails")
    found = decide_defined(line, core, context) if not holds_field(core) and not holds_mean(core) else None
    if found is not None and found.ill_posed:
        raise IllPosedError(f"in {text}: {found.reason}")
    return core


def the_set(node: MeanField, digits: int) -> NumberSet:
    """The set of a settled node. Raises IllPosedError or UndecidedError where there is none."""
    # Loaded here: most statements need none of it.
    from gateproof.numerics.meanfield.activation import RefusedActivation
    from gateproof.numerics.meanfield.sets import number_set

    try:
        return number_set(node, digits)
    except NoValue as error:
        raise IllPosedError(f"{to_text(node)} has no value: {error}") from None
    except RefusedActivation as error:
        raise UndecidedError(f"{to_text(node)}: {error}") from None


def the_number(node: MeanField, found: NumberSet, last: bool = False) -> Element | None:
    """The one element, as which a set stands in arithmetic; None where more digits may tell, if not ``last``.

    Raises IllPosedError unless there is exactly one, UndecidedError where that is not proved.
    """
    text = to_text(node)
    if found.every:
        raise IllPosedError(f"{text} has no one value: {found.searched}")
    if any(apart(a, b) for a, b in combinations(found.elements, 2)):
        raise IllPosedError(f"{text} has no one value: {shown(found, 8)}")
    if not found.complete:
        if found.open and not last:
            return None
        raise UndecidedError(f"{text}: whether there is exactly one was not proved: {found.searched}")
    if not found.elements:
        raise IllPosedError(f"{text} is the empty set and has no value: {found.searched}")
    return found.elements[0] if len(found.elements) == 1 else None


def apart(a: Element, b: Element) -> bool:
    """Whether two enclosures have no number in common."""
    return a.hi < b.lo or b.hi < a.lo


def shown(found: NumberSet, digits: int) -> str:
    """The elements as decimals."""
    if found.every:
        return "all q >= 0"
    texts = [decimal_enclosure(e.lo, e.hi, digits) for e in found.elements]
    return "{" + ", ".join(f"[{t['lo']}, {t['hi']}]" for t in texts) + "}"


@dataclass
class Numbers:
    """Values of the sets and means of a relation at one number of digits."""

    digits: int
    context: Context
    known: dict[MeanField, Element]

    def interval(self, expr: Expr) -> tuple[Fraction, Fraction] | None:
        """Rational bounds; None where it is not seen to have a value at this precision."""
        from gateproof.numerics import interval as iv
        from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined

        try:
            found = value_interval(expr, self.values(expr), 4 * self.digits + 64)
        except Undefined as error:
            raise IllPosedError(f"a side has no value: {error}") from None
        except NotReal:
            raise NotYetError("a set of the mean field beside infinite values") from None
        except MaybeUndefined:
            return None
        if not all(e.is_finite() and iv.moderate(e) for e in found):
            return None
        return iv.to_fraction(found[0]), iv.to_fraction(found[1])

    def values(self, expr: Expr) -> dict[Node, Value]:
        """Enclosures of the outermost sets and means of an expression."""
        found: dict[Node, Value] = {}
        todo: list[Node] = [expr]
        while todo:
            part = todo.pop()
            if isinstance(part, MeanField):
                element = self.known[part]
                found[part] = Value("ok", (element.lo, element.hi))
            elif isinstance(part, Mean):
                found[part] = self._mean(part)
            else:
                todo += part.children()
        return found

    def _mean(self, node: Mean) -> Value:
        text = to_text(node)
        if holds_field(node):
            if not isinstance(node, Gauss) or holds_field(node.body) or holds_field(node.mean):
                raise NotYetError(
                    f"a set of the mean field inside of {text}, other than in a variance of gauss"
                )
            value = self._at_variance(node)
        else:
            try:
                value = enclosed(node, self.digits, self.context.budget())
            except NotImplementedOperator as error:
                raise NotYetError(error.name) from None
        if value.status == "undefined":
            raise IllPosedError(f"{text} has no value: {value.reason}")
        if value.status == "infinite":
            raise NotYetError(f"a set of the mean field beside an infinite mean, {text}")
        if value.enclosure is None:
            raise UndecidedError(f"{text}: {value.reason}")
        return value

    def _at_variance(self, node: Gauss) -> Value:
        ends = self.interval(node.q)
        if ends is None or ends[0] <= 0:
            if ends is not None and ends[1] < 0:
                return Value("undefined", reason="the variance is negative")
            return Value("unknown", reason="the variance is not told from 0")
        name = "variance"
        over = Gauss(node.body, node.var, Var(name), node.mean)
        return gaussian_over(over, name, *ends, MEAN_DIGITS)


def with_exact(relation: Rel, known: dict[MeanField, Element]) -> Rel:
    """The relation with the sets whose one number is known exactly replaced by it."""
    exact: dict[Expr, Expr] = {n: e.exact for n, e in known.items() if e.exact is not None}
    terms = tuple(replaced(t, exact) for t in relation.terms)
    return Rel(relation.ops, terms)


def as_element(lo: Fraction, hi: Fraction) -> Element:
    """An enclosure that may be a single number."""
    return Element(lo, hi, Num(lo) if lo == hi else None)


def gap_of(a: Expr, b: Expr, context: Context) -> tuple[Fraction, Fraction] | None:
    """Bounds of a - b for closed sides with sets of one number each; None where they are not found."""
    if printed_in(a) or printed_in(b):
        return None
    relation = settled(Rel(("==",), (a, b)), context)
    digits = LADDER[0]
    known = {node: the_number(node, the_set(node, digits)) for node in fields_in(relation)}
    numbers = {node: e for node, e in known.items() if e is not None}
    if len(numbers) < len(known):
        return None
    left, right = relation.terms
    return Numbers(digits, context, numbers).interval(App("add", (left, App("neg", (right,)))))
