"""``gateproof.meanfield``: a name, a formula, a fit or its file in; mean field theory out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.refused import INCONCLUSIVE, OK, RefusedError

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.activation import Phi
    from gateproof.numerics.meanfield.field import MeanField
    from gateproof.numerics.meanfield.result import FieldPoints


def meanfield(target: Any, *, digits: int = 15, engine: str = "certified") -> MeanField:
    """Mean field theory of networks with an activation: edge of chaos, fixed points, depth scales and laws.

    ``target``: a name of the zoo, a formula in x, a fit or a gate, or the path of a fit's JSON. ``digits``
    are significant ones. ``engine``: "certified" (balls), "mp" (any digits, estimated) or "fast" (JAX).
    docs/meanfield.md says what the result has. Raises RefusedError (a ValueError) for what has no mean field.
    """
    from gateproof.numerics.meanfield.field import MeanField

    with refusing():
        return MeanField(activation_of(target), digits, engine)


def activation_of(target: Any) -> Phi:
    """The activation. Raises RefusedError."""
    from gateproof.numerics.meanfield.activation import phi
    from gateproof.proofs_check import given_gate

    with refusing():
        path = given_gate.document_path(target)
        if path is not None:
            gate, _ = given_gate.gate_of(path)
            return replace(phi(gate), text=path)
        return phi(_expression(target))


def _expression(target: Any) -> Any:
    """A formula of :func:`gateproof.formula` as its text; anything else as it is."""
    from gateproof.numerics.backends.formula import Formula

    return target.text if isinstance(target, Formula) else target


def span(words: str, option: str, *, example: str, most: int) -> tuple[str, str, int]:
    """LO, HI and N of LO:HI:N, the ends as they are written. Raises RefusedError."""
    parts = words.split(":")
    count = parts[2].strip() if len(parts) == 3 else ""
    if not (count.isascii() and count.isdigit() and len(count) < 6 and 2 <= int(count) <= most):
        raise RefusedError(f"{option} {words!r:.40}: give LO:HI:N, as {example}, with N from 2 to {most}")
    return parts[0], parts[1], int(count)


def code(found: FieldPoints) -> int:
    """The exit code: 4 where the certified engine left something undecided or short of digits."""
    return OK if found.complete or found.engine != "certified" else INCONCLUSIVE


@contextmanager
def refusing() -> Iterator[None]:
    """What mean field theory refuses is what the command refuses."""
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.meanfield.activation import RefusedActivation
    from gateproof.numerics.meanfield.certified_panels import NoPanels
    from gateproof.numerics.meanfield.certified_tails import NoTailBound
    from gateproof.numerics.meanfield.given import RefusedNumber
    from gateproof.numerics.meanfield.mp_panels import NotReached
    from gateproof.theory.formula import FormulaError

    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("jax", "mpmath"):
            raise
        install = f"pip install {error.name}"
        raise RefusedError(f"{error.name} is not installed: {install}, or leave the engine out") from None
    except (
        RefusedActivation, RefusedNumber, FormulaError, NoPanels, NoTailBound, NotReached, NumericsError,
    ) as error:  # fmt: skip
        raise RefusedError(str(error)) from None
