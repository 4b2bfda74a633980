"""Random claims in formats so small that every point can be tried, to hold bounds of errors against."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

from gmpy2 import mpq

from gateproof.proofs_check.engine.outcome import UndecidedError
from gateproof.proofs_check.floating.program import Program, UndefinedError
from gateproof.theory.formats import Format
from gateproof.theory.formula.nodes import (
    And,
    App,
    Bind,
    Claim,
    Fl,
    Implies,
    IntervalSet,
    Not,
    Num,
    Or,
    Rel,
    Scope,
    Ulp,
    Var,
    Where,
    rebuild,
)

FORMATS = [Format("p3", 3, 4), Format("p4", 4, 3), Format("p4wide", 4, 7), Format("p5", 5, 2)]
X, Y = Var("x"), Var("y")
NUMBERS = ["1", "2", "1/2", "3", "1/3", "5/4", "1/4", "3/4", "1/8", "1/16"]
FACTORS = ["1/2", "1", "3/4", "3/2", "2", "0", "5/2"]


def minus(a, b):
    return App("add", (a, App("neg", (b,))))


def times(q, a):
    return App("mul", (Num(Fraction(q)), a))


def expression(rng, depth):
    """An expression in x and y."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([X, Y, X, Y, Num(Fraction(rng.choice(NUMBERS)))])
    kind = rng.choices(range(9), (25, 25, 20, 10, 3, 3, 4, 4, 3))[0]
    a, b, c = (expression(rng, depth - 1) for _ in range(3))
    if kind == 8:
        sides = tuple(expression(rng, 0) for _ in range(2))
        return Where(Rel((rng.choice(["<", "<=", "=="]),), sides), a, b)
    return [App("add", (a, b)), minus(a, b), App("mul", (a, b)), App("div", (a, b)), App("sqrt", (a,)),
            App("sqrt", (App("mul", (a, a)),)), App(rng.choice(["abs", "neg"]), (a,)),
            rng.choice([App("max", (a, b)), App("fma", (a, b, c))])][kind]  # fmt: skip


def exactly(node):
    """What the expression is on real numbers."""
    if isinstance(node, App) and node.head == "fma":
        a, b, c = map(exactly, node.args)
        return App("add", (App("mul", (a, b)), c))
    return rebuild(node, exactly)


def sizes(node):
    """The sum of the sizes of what is added up."""
    if isinstance(node, App) and node.head in ("add", "mul"):
        return App(node.head, tuple(map(sizes, node.args)))
    if isinstance(node, App) and node.head == "neg":
        return sizes(node.args[0])
    return App("abs", (node,))


def claim(rng):
    """A relation of a computed value to its exact one, to another, or of a sum to its two parts."""
    e, f = expression(rng, rng.choice([1, 2, 2, 3])), expression(rng, 2)
    off = App("abs", (minus(Fl(e), exactly(e)),))
    op = rng.choice(["<", "<="])
    kind = rng.choices(range(7), (10, 25, 25, 15, 12, 13, 15))[0]
    if kind == 6:
        bound = times(Fraction(rng.choice(["1", "2", "3"])) / 2 ** rng.choice([2, 3, 4]), sizes(exactly(e)))
        return Rel((op,), (off, App("add", (bound, Num(Fraction(rng.choice([0, 1, 2]), 64))))))
    if kind == 0:
        s = App("add", (X, Y))
        return Rel(("==",), (App("add", (Fl(s), Fl(minus(Y, minus(s, X))))), s))
    if kind == 1:
        return Rel(("==",), (Fl(e), exactly(e)))
    if kind == 2:
        return Rel((op,), (off, times(rng.choice(FACTORS), Ulp(exactly(e)))))
    if kind == 3:
        relative = Fraction(rng.choice(["1", "2", "3", "16/17", "8/9"])) / 2 ** rng.choice([3, 4, 5])
        return Rel((op,), (off, times(relative, App("abs", (exactly(e),)))))
    return Rel((rng.choice(["==", "<=", "<", "!="]),), (Fl(e), Fl(f) if kind == 4 else exactly(f)))


def ends(rng, form):
    """A range of places, near 0 and powers of 2 more often than elsewhere."""
    places = [0, 1, form.at_most(Fraction(1)), form.at_most(Fraction(2)), 1 << (form.bits - 1), -4]
    lo = rng.choice([rng.randint(-form.last, form.last), rng.choice(places)])
    return lo, min(lo + rng.choice([0, 1, 2, 4, 8, 16, 24, 40]), form.last)


def fails_at(form, stmt, box, wanted, most=400):
    """A point of the box at which the statement is not as wanted, or has no value; None where none is met."""
    program = Program(form, ("x", "y"))
    truth = program.truth(stmt)
    points = list(product(*(range(lo, hi + 1) for lo, hi in box)))
    if len(points) > most:
        points = random.Random(0).sample(points, most)
    for at in points:
        point = tuple(mpq(form.number(place)) for place in at)
        try:
            if truth(point) is not wanted:
                return point
        except UndefinedError:
            return point
        except UndecidedError:
            continue
    return None


def statement(rng, depth=2):
    """Relations and what joins them."""
    kind = rng.choices(range(5), (60, 10, 10, 10, 10))[0]
    if depth == 0 or kind == 0:
        return claim(rng)
    a, b = statement(rng, depth - 1), statement(rng, depth - 1)
    return [Not(a), And((a, b)), Or((a, b)), Implies(a, b)][kind - 1]


def condition(rng):
    """A condition on x and y."""
    number = Num(Fraction(rng.choice(NUMBERS)))
    half, twice = App("div", (Y, Num(Fraction(2)))), times("2", Y)
    return rng.choice(
        [
            Rel((rng.choice(["<", "<=", ">", "!=", "=="]),), (X, Y)),
            Rel((rng.choice(["<", "<=", ">", ">=", "!="]),), (rng.choice([X, Y]), number)),
            Rel(("<=", "<="), (half, X, twice)),
            Rel(("<=",), (App("abs", (Y,)), App("abs", (X,)))),
            Rel((rng.choice(["<", ">="]),), (Fl(expression(rng, 1)), Fl(expression(rng, 1)))),
        ]
    )


def whole_claim(rng, form):
    """A claim with a scope, and the ranges of places of x and y in it."""
    box, binds = [ends(rng, form), ends(rng, form)], []
    for k, (lo, hi) in enumerate(box):
        low, high = Num(form.number(lo)), Num(form.number(hi))
        opened = rng.random() < 0.1
        binds.append(Bind("xy"[k], IntervalSet(low, high, lo_closed=not opened, hi_closed=True)))
        box[k] = (lo + opened, hi)
    conditions = tuple(condition(rng) for _ in range(rng.choice([0, 0, 1, 1, 2])))
    return Claim(Scope(tuple(binds), conditions), statement(rng), form.name), box


def truths(form, made, box):
    """What happens at the points in scope: of True, False and None (no value) those that do; the premises
    of an implication are conditions."""
    conditions, body = list(made.scope.conditions), made.body
    while isinstance(body, Implies):
        conditions, body = [*conditions, body.left], body.right
    program = Program(form, ("x", "y"))
    known, truth = [program.truth(c) for c in conditions], program.truth(body)
    found = set()
    for at in product(*(range(lo, hi + 1) for lo, hi in box)):
        point = tuple(mpq(form.number(place)) for place in at)
        try:
            if all(holds(point) for holds in known):
                found.add(truth(point))
        except UndefinedError:
            found.add(None)
    return found
