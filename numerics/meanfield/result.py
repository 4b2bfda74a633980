"""What ``gateproof.meanfield`` and the command hand out: points with their reason, and the JSON of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.numerics.meanfield.described import FieldPoint
from gateproof.numerics.meanfield.outcome import Status
from gateproof.numerics.meanfield.value import Value

SCHEMA_VERSION = 1
EDGE, FIXED = "edge of chaos", "fixed points"
FOLDS, EDGE_FOLDS, DOUBLE = "folds", "folds of the edge of chaos", "double-critical points"

#: The numbers of a point, in the order of print.
NUMBERS = (
    "sigma_w2", "sigma_b2", "q_star", "chi_1", "chi_parallel", "beta_q", "xi_q", "xi_c", "xi_gradient",
    "c_star", "limit", "log_factor", "largest_depth",
)  # fmt: skip
#: Those that have all digits asked for where a result is certified.
SURE = ("sigma_w2", "q_star", "chi_1", "chi_parallel")


@dataclass(frozen=True, repr=False)
class FieldPoints:
    """All points of one kind in a range of variances, ascending in q.

    ``searched`` is that range, from lo to hi (infinite: all); ``certified``: there are no others in it, and
    the points lie in their enclosures, proved in balls. ``open`` are ranges of q left undecided. ``target``
    names the activation; ``sigma_w2`` and ``sigma_b2`` are what was given, ``apart`` what the points'
    ``largest_depth`` is for.
    """

    kind: str
    target: str
    sigma_w2: Fraction | None
    sigma_b2: Fraction | None
    points: tuple[FieldPoint, ...]
    status: Status
    reason: str
    searched: tuple[Value, Value]
    certified: bool
    digits: int
    engine: str = "certified"
    open: tuple[Value, ...] = ()
    apart: Fraction | None = None

    def __iter__(self) -> Iterator[FieldPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> FieldPoint:
        return self.points[index]

    def __repr__(self) -> str:
        at = [
            f"{name} = {Value.exact(value)}"
            for name, value in (("sigma_w2", self.sigma_w2), ("sigma_b2", self.sigma_b2))
            if value is not None
        ]
        places = ", ".join(f"sigma_w2 = {p.sigma_w2}, q* = {p.q_star}" for p in self.points[:4])
        more = ", .." if len(self.points) > 4 else ""
        where = f" at {', '.join(at)}" if at else ""
        return f"<{self.kind} of {self.target}{where}: {self.status}{': ' * bool(places)}{places}{more}>"

    @property
    def complete(self) -> bool:
        """Whether nothing is left undecided and the main numbers have all their digits."""
        numbers = [getattr(p, name) for p in self.points for name in SURE]
        return self.certified and all(_has(v, self.digits) for v in numbers)

    def to_json(self) -> dict[str, Any]:
        """The document of ``gateproof meanfield --json``: numbers as strings."""
        return {
            "points": [point_json(p, self.digits) for p in self.points],
            "status": self.status.value,
            "reason": self.reason,
            "searched": searched_json(self),
            "certified": self.certified,
            "kind": self.kind,
            "target": self.target,
            "sigma_w2": exact_text(self.sigma_w2),
            "sigma_b2": exact_text(self.sigma_b2),
            "apart": exact_text(self.apart),
            "digits": self.digits,
            "engine": self.engine,
            "open": [v.ends(6) for v in self.open],
            **about(),
        }


def about() -> dict[str, Any]:
    """The versions of the document and of what wrote it."""
    return {"schema_version": SCHEMA_VERSION, "gateproof": str(sys.modules["gateproof"].__version__)}


def curve_json(parts: Sequence[FieldPoints], missing: int = 0) -> dict[str, Any]:
    """Several results as one document: all points, and beside them what each search came to.

    ``missing`` searches were stopped.
    """
    first = parts[0]
    statuses = [p.status for p in parts]
    status = Status.OK if any(len(p) for p in parts) else statuses[0]
    found = sum(1 for p in parts if len(p))
    return {
        "points": [point_json(point, p.digits) for p in parts for point in p],
        "status": status.value,
        "reason": f"points at {found} of {len(parts)} values of sigma_b^2{stopped(missing)}",
        "searched": searched_json(first),
        "certified": all(p.certified for p in parts) and not missing,
        "kind": first.kind,
        "target": first.target,
        "sigma_w2": exact_text(first.sigma_w2),
        "sigma_b2": None,
        "apart": exact_text(first.apart),
        "digits": first.digits,
        "engine": first.engine,
        "open": [v.ends(6) for p in parts for v in p.open],
        **about(),
        "curve": [
            {
                "sigma_b2": exact_text(p.sigma_b2), "status": p.status.value, "reason": p.reason,
                "searched": searched_json(p), "certified": p.certified, "points": len(p),
            }
            for p in parts
        ],
    }  # fmt: skip


def stopped(missing: int) -> str:
    """What is said of a curve that was stopped."""
    return f"; stopped before the last {missing}" if missing else ""


def folds_json(parts: Sequence[FieldPoints]) -> dict[str, Any]:
    """The first result's document, with those of the others under "also"."""
    return {**parts[0].to_json(), "also": [p.to_json() for p in parts[1:]]}


def searched_json(found: FieldPoints) -> dict[str, str]:
    """The range of q: its ends rounded inward, so that what is said to be searched was."""
    return _inward(*found.searched, 6)


def _inward(lo: Value, hi: Value, digits: int) -> dict[str, str]:
    return {"lo": lo.ends(digits)["hi"], "hi": hi.ends(digits)["lo"]}


def point_json(point: FieldPoint, digits: int) -> dict[str, Any]:
    """A point: each number as decimals that are right, and its enclosure; a basin's ends rounded inward."""
    values = {name: getattr(point, name) for name in NUMBERS}
    known = {name: value for name, value in values.items() if value is not None}
    return {
        **{name: None if value is None else value.decimal(digits) for name, value in values.items()},
        "stable": point.stable,
        "law": point.law,
        "double_critical": point.double_critical,
        "any_q": point.any_q,
        "basin": point.basin and _inward(*point.basin, digits),
        "note": point.note,
        "enclosures": {name: value.ends(digits) for name, value in known.items() if value.certified},
        "estimated": [name for name, value in known.items() if not value.certified],
    }


def exact_text(value: Fraction | None) -> str | None:
    """The number as it was given: a short decimal, or p/q."""
    if value is None:
        return None
    return Value.exact(value).decimal(60) if _decimal(value) else f"{value.numerator}/{value.denominator}"


def _decimal(value: Fraction) -> bool:
    rest = value.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    return rest == 1 and len(str(value.denominator)) < 70


def _has(value: Value | None, digits: int) -> bool:
    """Whether all digits asked for are known."""
    if value is None:
        return False
    tiny = Fraction(1, 10**digits)
    return value.fixes(digits) or -tiny < value.lo <= value.hi < tiny
