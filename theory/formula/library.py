"""What every function name means: core, elementary or one of the zoo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gateproof.theory.formula import names
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import App, At, Diff, Expr, Node, Num, Taylor, Var, num, rebuild
from gateproof.theory.parameters import outside


@dataclass(frozen=True)
class Definition:
    """A function as one expression of its parameters; the last ones may have defaults."""

    name: str
    params: tuple[str, ...]
    body: Expr
    defaults: tuple[Expr, ...] = ()

    @property
    def arity(self) -> tuple[int, int | None]:
        """Fewest and most arguments."""
        return len(self.params) - len(self.defaults), len(self.params)

    def apply(self, args: tuple[Expr, ...]) -> Expr:
        """The body with the arguments put in. Raises FormulaError for a parameter outside of its domain."""
        fault = outside(self.name, args)
        if fault is not None:
            raise FormulaError(fault)
        missing = len(self.params) - len(args)
        filled = args + self.defaults[len(self.defaults) - missing :] if missing else args
        values = dict(zip(self.params, filled, strict=True))
        fixed = {k: v for k, v in values.items() if isinstance(v, Num)}
        body = _tidy(substitute(self.body, fixed)) if fixed else self.body
        return substitute(body, {k: v for k, v in values.items() if k not in fixed})


def _tidy(node: Expr) -> Expr:
    """Without factors and divisors 1, and with the roots of 1 and 4 taken."""
    done = rebuild(node, lambda c: _tidy(c) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    if not isinstance(done, App):
        return done
    if done.head == "mul":
        kept = tuple(a for a in done.args if a != num(1)) or (num(1),)
        return kept[0] if len(kept) == 1 else App("mul", kept)
    if done.head == "div":
        over, under = done.args
        if under == num(1):
            return over
        return num(1) if over == under and isinstance(over, Num) and over.value else done
    if done.head == "sqrt" and done.args[0] in (num(1), num(4)):
        return num(1 if done.args[0] == num(1) else 2)
    return done


@cache
def core_table() -> dict[str, tuple[int, int | None]]:
    """Arities of the core functions."""
    from gateproof.theory.special import arities as special

    core = {k: (1, None) if v is None else (v, v) for k, v in names.CORE_FUNCTIONS.items()}
    return {**core, **special()}


def is_core(node: App) -> bool:
    """Whether a call is the core function; ``softplus(x, b)`` is the defined one of that name."""
    core = names.CORE_FUNCTIONS.get(node.head, 0)
    return core is None or core == len(node.args)


@cache
def definitions() -> dict[str, Definition]:
    """All defined functions by name: elementary ones and the zoo of activations."""
    from gateproof.theory.activations import zoo
    from gateproof.theory.formula.parser import Parser

    raw: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
        name: (params, text, ()) for name, (params, text) in names.ELEMENTARY.items()
    }
    raw.update(
        {a.name: (("x", *a.parameters), a.formula, tuple(a.parameters.values())) for a in zoo().values()}
    )
    arities = dict(core_table())
    arities.update({n: (len(p) - len(d), len(p)) for n, (p, _, d) in raw.items()})
    found: dict[str, Definition] = {}
    for name, (params, text, defaults) in raw.items():
        parser = Parser(text, arities)
        body = parser.expression()
        parser.end()
        values = []
        for default in defaults:
            reader = Parser(default, arities)
            values.append(reader.expression())
        found[name] = Definition(name, params, body, tuple(values))
    return found


@cache
def arities() -> Mapping[str, tuple[int, int | None]]:
    """Arity of every function a user can call."""
    matrix: dict[str, tuple[int, int | None]] = {k: (v, v) for k, v in names.MATRIX.items()}
    return {**core_table(), **{n: d.arity for n, d in definitions().items()}, **matrix}


def substitute(node: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with names replaced; names bound inside are left alone, and catch nothing put in."""
    found = _substitute(node, dict(values))
    assert isinstance(found, Expr)
    return found


def substitute_node(node: Node, values: Mapping[str, Expr]) -> Node:
    """The same for any node, statements included."""
    return _substitute(node, dict(values))


def _substitute(node: Node, values: dict[str, Expr]) -> Node:
    from gateproof.theory.formula.scopes import bound_names, split_children

    if not values:
        return node
    if isinstance(node, Var):
        return values.get(node.name, node)
    if isinstance(node, Diff | Taylor):
        return _at_value(node, values)
    bound = bound_names(node)
    if not bound:
        return _rebuilt(node, values)
    inside = {k: v for k, v in values.items() if k not in bound}
    caught = _caught(node, bound, inside)
    if caught:
        from gateproof.theory.formula.apart import without_bound

        return _substitute(without_bound(node, caught, values), values)
    inner, _ = split_children(node)
    inner_ids = {id(c) for c in inner}
    result = rebuild(node, lambda c: _substitute(c, inside if id(c) in inner_ids else values))
    assert isinstance(result, Node)
    return result


def _caught(node: Node, bound: set[str], values: dict[str, Expr]) -> frozenset[str]:
    """The names of the values put into the node, if it binds one of them."""
    from gateproof.theory.formula.scopes import free_names

    used = {k: free_names(v) for k, v in values.items()}
    if not any(names & bound for names in used.values()):
        return frozenset()
    free = free_names(node)
    put = frozenset(name for k, names in used.items() if k in free for name in names)
    return put if put & bound else frozenset()


def _at_value(node: Diff | Taylor, values: dict[str, Expr]) -> Node:
    """d/dx at x = value, not the derivative of a constant; a value with x in it is not differentiated."""
    rest = {k: v for k, v in values.items() if k != node.var}
    parts = (node.body, node.point) if isinstance(node, Taylor) else (node.body,)
    caught = any(_caught(part, {node.var}, rest) for part in parts)
    if not caught and node.var not in values:
        return _rebuilt(node, values)
    if not caught:
        inner = _rebuilt(node, rest)
        assert isinstance(inner, Expr)
        return At(inner, node.var, values[node.var])
    from gateproof.theory.formula.apart import fresh_name

    fresh = fresh_name(node.var, (node, *values.values()))
    body = substitute(substitute(node.body, {node.var: Var(fresh)}), rest)
    moved: Expr
    if isinstance(node, Taylor):
        moved = Taylor(body, fresh, substitute(node.point, values), node.order)
    else:
        moved = Diff(body, fresh, node.order)
    return At(moved, fresh, values.get(node.var, Var(node.var)))


def _rebuilt(node: Node, values: dict[str, Expr]) -> Node:
    from gateproof.theory import special

    result = rebuild(node, lambda c: _substitute(c, values))
    assert isinstance(result, Node)
    # besselj(n, x) is a function of x as soon as n is a number.
    return special.resolved(result) if isinstance(result, App) and special.has_numbers(result) else result
