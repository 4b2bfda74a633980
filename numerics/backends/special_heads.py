"""Special functions on arrays: SciPy for NumPy, torch.special, jax.scipy.special; else a refusal."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

from gateproof.numerics.special_float import special_float
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.special import Function, find, shown
from gateproof.theory.special.symbolic import formula

#: Functions of jax.scipy.special that have the name and the arguments of scipy.special.
_JAX = frozenset({"gamma", "gammaln", "digamma", "polygamma", "expi"})


def operation(head: str) -> Callable[..., Any]:
    """The operation of a special head on arrays of the backend ``ops``. Raises KeyError for another head."""
    if find(head) is None:
        raise KeyError(head)

    def run(ops: Any, u: Any) -> Any:
        special = getattr(ops, "special", None)
        if special is None:
            raise refusal(head, "compiled code")
        return special(head, u)

    return run


def refusal(head: str, where: str) -> FormulaError:
    """One line: the function has no form there."""
    return FormulaError(f"{shown(head)} has no form in {where}", hint="use .numpy, .mp or .ball")


def _found(head: str) -> Function:
    found = find(head)
    assert found is not None
    return found


def of_float(head: str, u: float) -> float:
    """Of one double."""
    run = special_float(head)
    assert run is not None
    return run(float(u))


def of_numpy(head: str, u: Any) -> Any:
    """Of a float64 array; nan outside of the domain. Functions that SciPy lacks are evaluated one by one."""
    import numpy as np
    import scipy.special

    found = _found(head)
    known = found.family.scipy(found.params)
    if known is None:
        run = special_float(head)
        assert run is not None
        value = np.vectorize(run, otypes=[np.float64])(u)
    else:
        (name, numbers), u = known, np.asarray(u, dtype=np.float64)
        name, _, place = name.partition(":")
        value = getattr(scipy.special, name)(*numbers, u)
        value = value[int(place)] if place else value
    return np.where(inside(found, u, np), value, nan)


def of_jax(head: str, u: Any) -> Any:
    """Of a JAX array."""
    import jax.numpy as jnp
    import jax.scipy.special

    found = _found(head)
    known = found.family.scipy(found.params)
    if known is None or known[0] not in _JAX:
        raise refusal(head, "JAX")
    name, numbers = known
    value = getattr(jax.scipy.special, name)(*(int(n) for n in numbers), u)
    return jnp.where(inside(found, u, jnp), value, nan)


def inside(found: Function, u: Any, library: Any) -> Any:
    """Where the function has a value."""
    span = found.span
    inside = u == u
    if span.lo is not None:
        lo = _number(span.lo)
        inside = inside & ((u >= lo) if span.lo_closed else (u > lo))
    if span.hi is not None:
        hi = _number(span.hi)
        inside = inside & ((u <= hi) if span.hi_closed else (u < hi))
    for hole in span.holes:
        inside = inside & (u != float(hole))
    if span.poles:
        inside = inside & ((u > 0) | (u != library.floor(u)))
    return inside


def _number(text: str) -> float:
    value = constant_value(formula(text))
    if value is not None:
        return float(value)
    from gateproof.numerics.backends.numbers import to_float

    return to_float(formula(text))
