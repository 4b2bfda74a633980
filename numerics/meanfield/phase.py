"""Phase diagrams: over a grid of (sigma_b, sigma_w) where signals go, with the critical line and depths.

    diagram = phase_diagram("gelu", sigma_b=(0, 1, 400), sigma_w=(1, 2, 400))
    diagram.plot("gelu.svg"); diagram.write("gelu.json")

Phases are those of the fixed point that the variance ``start`` goes to. All numbers are floats from splines
of means (``error`` estimates theirs), not enclosures: use the searches in balls for single points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.numerics.meanfield.activation import Phi, Target, must_be_continuous
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.near_zero import vanishes

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.phase_lines import Line

#: Variances looked at, points of a block, and the points of the first look.
LEAST, LARGEST, BLOCK, FIRST = 1e-6, 1e6, 65_536, 24
#: Levels of contours where none are given.
CONTOURS: Mapping[str, Sequence[float]] = {
    "xi_c": (3.0, 10.0, 30.0, 100.0), "q_star": (0.1, 0.3, 1.0, 3.0, 10.0), "chi_1": (0.5, 0.9, 1.1, 1.5),
}  # fmt: skip
FIELDS = ("phase", "q_star", "chi_1", "chi_parallel", "xi_c")
#: Points of a grid at most.
MOST = 50_000_000

Axis = Sequence[float]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class PhaseDiagram:
    """Arrays of shape (len(sigma_w), len(sigma_b)); NaN where the variance goes to no fixed point.

    ``phase`` holds the letters of ``legend``. ``critical`` are the parts of the line chi_1 = 1, ``contours``
    those of "xi_c", "q_star" and "chi_1" by their levels. ``searched`` are the variances looked at; beyond
    them nothing is known.
    """

    activation: str
    sigma_b: Any
    sigma_w: Any
    phase: Any
    q_star: Any
    chi_1: Any
    chi_parallel: Any
    xi_c: Any
    critical: list[Line]
    contours: dict[str, dict[float, list[Line]]]
    start: float
    searched: tuple[float, float]
    error: float
    legend: dict[str, str] = field(default_factory=dict)

    def as_json(self, values: bool = True) -> dict[str, Any]:
        """All of it for JSON; ``values`` False leaves the numbers of single points out."""
        return {
            name: part if isinstance(part, str | dict | list) else list(part)
            for name, part in self._parts(values)
        }

    def _parts(self, values: bool) -> Iterator[tuple[str, Any]]:
        """Name and value; long lists as iterators over their rows."""
        yield "kind", "phase-diagram"
        yield "activation", self.activation
        yield "sigma_b", [_text(x, 17) for x in self.sigma_b]
        yield "sigma_w", [_text(x, 17) for x in self.sigma_w]
        yield "start", _text(self.start, 17)
        yield "searched", {"lo": _text(self.searched[0], 6), "hi": _text(self.searched[1], 6)}
        yield "relative_error", _text(self.error, 2)
        yield "certified", "false"
        yield "legend", self.legend
        yield "critical_line", [_line(line) for line in self.critical]
        yield (
            "contours",
            {
                name: {_text(level, 6): [_line(p) for p in lines] for level, lines in levels.items()}
                for name, levels in self.contours.items()
            },
        )
        yield "phase", ("".join(row) for row in self.phase)
        if values:
            for name in FIELDS[1:]:
                yield name, ([_text(x, 7) for x in row] for row in getattr(self, name))

    def write(self, path: str | Path, values: bool = True) -> None:
        """The JSON as a file, row by row, whole or not at all. Raises ValueError for another suffix."""
        from gateproof.numerics.meanfield.phase_files import write_json

        target = Path(path)
        if target.suffix != ".json":
            raise ValueError(f"{target.name!r}: a name that ends in .json is expected; plot() draws pictures")
        write_json(target, self._parts(values))

    def plot(self, path: str | Path | None = None) -> Any:
        """The figure, written to a file (.svg, .png, .pdf) where a path is given, whole or not at all.

        Raises ValueError for another suffix, ModuleNotFoundError with what to install without matplotlib.
        """
        from gateproof.numerics.meanfield.phase_picture import picture

        return picture(self, None if path is None else Path(path))


def _text(value: float, digits: int) -> str | None:
    number = float(value)
    if number != number:
        return None
    if number in (float("inf"), -float("inf")):
        return "oo" if number > 0 else "-oo"
    return repr(number) if digits >= 17 else f"{number:.{digits}g}"


def _line(line: Line) -> dict[str, Any]:
    columns = ("sigma_b", "sigma_w", "q_star", "chi_parallel")
    found: dict[str, Any] = {name: [_text(x, 9) for x in getattr(line, name)] for name in columns}
    return {**found, "stable": line.stable}


def phase_diagram(
    target: Target | Phi,
    sigma_b: tuple[float, float, int] | Axis = (0.0, 1.0, 200),
    sigma_w: tuple[float, float, int] | Axis = (0.5, 3.0, 200),
    *,
    start: float = 1.0,
    contours: Mapping[str, Sequence[float]] = CONTOURS,
    progress: Progress | None = None,
    folder: str | Path | None = None,
) -> PhaseDiagram:
    """The phase diagram of an activation on a grid; axes are (first, last, count) or ascending numbers.

    ``contours`` has levels of "xi_c" (layers), "q_star" and "chi_1"; each is followed along fixed points that
    ``start`` goes to. ``progress`` hears (points finished, points in all) after each block. With
    ``folder``, finished blocks are kept there until all are: a call that was interrupted goes on where it was
    when it is made again with the same arguments. Memory is 5 numbers a point and some hundred megabytes at
    most for the blocks.

    Raises RefusedActivation where phi jumps or is none, ValueError for axes that are not ascending numbers
    >= 0 (> 0 for sigma_w) and for numbers out of range.
    """
    import numpy as np

    from gateproof.numerics.meanfield.phase_lines import Window, contour, critical_line
    from gateproof.numerics.meanfield.phase_solve import LEGEND, solve
    from gateproof.numerics.meanfield.phase_store import Blocks
    from gateproof.numerics.meanfield.phase_tables import Tables

    phi = target if isinstance(target, Phi) else activation(target)
    must_be_continuous(phi)
    b, w = _axis("sigma_b", sigma_b, least=0.0), _axis("sigma_w", sigma_w, least=5e-324)
    if len(b) * len(w) > MOST:
        raise ValueError(f"{len(b)} x {len(w)} points: at most {MOST} are taken")
    if not LEAST < start < LARGEST:
        raise ValueError(f"start = {start}: a variance between {LEAST:g} and {LARGEST:g} is expected")
    if set(contours) - set(CONTOURS):
        raise ValueError(
            f"contours of {', '.join(CONTOURS)} are drawn, not of {', '.join(map(str, contours))}"
        )
    if any(not 0 < level < inf for levels in contours.values() for level in levels):
        raise ValueError("contours have levels > 0")
    tables = Tables(phi, min(LEAST, _half(b[b > 0])), LARGEST, start)
    at_zero = bool(vanishes(phi))
    few = [np.unique(np.linspace(0, len(a) - 1, FIRST).astype(int)) for a in (b, w)]
    first = solve(tables, w[few[1]] ** 2, b[few[0]] ** 2, start, at_zero)
    chaotic = first.q_star[first.phase == "c"]
    if len(chaotic):
        tables.correlations(float(chaotic.min()) / 2, float(chaotic.max()) * 2)
    out: dict[str, Any] = {n: np.full((len(w), len(b)), "n" if n == "phase" else np.nan) for n in FIELDS}
    rows = max(1, BLOCK // len(b))
    starts = range(0, len(w), rows)
    asked = {"activation": phi.text, "b": b.tolist(), "w": w.tolist(), "start": start, "rows": rows}
    store = None if folder is None else Blocks(Path(folder), asked)
    for number, top in enumerate(starts):
        block = store and store.load(number)
        if not block:
            found = solve(tables, w[top : top + rows] ** 2, b**2, start, at_zero)
            block = {name: getattr(found, name) for name in FIELDS}
            if store is not None:
                store.save(number, block)
        for name in FIELDS:
            out[name][top : top + rows] = block[name]
        if progress is not None:
            progress(min(top + rows, len(w)) * len(b), len(w) * len(b))
    window = Window((float(b[0]), float(b[-1])), (float(w[0]), float(w[-1])))
    lines = {
        name: {float(level): contour(tables, window, name, float(level), start) for level in levels}
        for name, levels in contours.items()
    }
    if store is not None:
        store.remove(len(starts))
    ends = tables.lo, tables.hi
    critical = critical_line(tables, window)
    return PhaseDiagram(
        phi.text, b, w, **out, critical=critical, contours=lines, start=start, searched=ends,
        error=tables.error, legend=LEGEND,
    )  # fmt: skip


def _half(positive: Any) -> float:
    """Half of the least sigma_b^2 > 0."""
    return float(positive[0]) ** 2 / 2 if len(positive) else LEAST


def _axis(name: str, axis: tuple[float, float, int] | Axis, least: float) -> Any:
    import numpy as np

    spans = isinstance(axis, tuple) and len(axis) == 3 and isinstance(axis[2], int) and axis[2] >= 2
    values = np.linspace(axis[0], axis[1], int(axis[2])) if spans else np.asarray(axis, float)
    good = values.ndim == 1 and len(values) >= 2 and np.isfinite(values).all() and (np.diff(values) > 0).all()
    if not good or values[0] < least:
        raise ValueError(f"{name}: two or more ascending numbers >= 0 are expected, or (first, last, count)")
    if 0 < values[values > 0][0] < 1e-60 or values[-1] > 1e3:
        raise ValueError(f"{name}: numbers between 1e-60 and 1000 are expected")
    return values
