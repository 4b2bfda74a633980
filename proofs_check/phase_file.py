"""``gateproof meanfield --phase FILE``: the axes, the file, refused early or written whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from gateproof.proofs_check import clean, mean_field
from gateproof.proofs_check.fitting_files import refuse_place
from gateproof.proofs_check.refused import RefusedError

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.field import MeanField
    from gateproof.numerics.meanfield.phase import PhaseDiagram

PICTURES = (".svg", ".png")
#: Values of one axis, and points of a grid.
MOST, POINTS = 5_000, 4_000_000
#: The axes where none are given.
SIGMA_B, SIGMA_W = "0:1:200", "0.5:3:200"

Axis = tuple[float, float, int]
Progress = Callable[[int, int], None]


def refuse_early(path: str) -> None:
    """Raise RefusedError, before any work, for a file that cannot be written."""
    place = Path(path)
    if place.suffix not in (*PICTURES, ".json"):
        raise RefusedError(f"--phase {path}: give a name that ends in .svg, .png or .json")
    refuse_place(path, "--phase")
    try:
        with TemporaryFile(dir=place.absolute().parent):
            pass
    except OSError as error:
        raise RefusedError(f"--phase {path}: cannot be written: {error.strerror}") from None
    if place.suffix in PICTURES:
        _needs_matplotlib(path)


def _needs_matplotlib(path: str) -> None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise RefusedError(
            f"--phase {path}: pictures need matplotlib: pip install matplotlib, or give FILE.json"
        )


def axis(words: str, option: str, *, least: str) -> Axis:
    """(first, last, count) of LO:HI:N, ``least`` said in words. Raises RefusedError."""
    from gateproof.numerics.meanfield import given

    first, last, count = mean_field.span(words, option, example="0.5:3:200", most=MOST)
    lo, hi = (given.number(option, end) for end in (first, last))
    if lo < 0 or (lo == 0 and least == "0 < LO"):
        raise RefusedError(f"{option} {words!r:.40}: {least} is expected")
    if not lo < hi <= 1000:
        raise RefusedError(f"{option} {words!r:.40}: LO < HI <= 1000 is expected")
    if not float(lo) < float(hi):
        raise RefusedError(f"{option} {words!r:.40}: LO and HI are one number in float64")
    return float(lo), float(hi), count


def axes(sigma_b: str | None, sigma_w: str | None) -> tuple[Axis, Axis]:
    """Both axes, with what stands for one that is not given. Raises RefusedError."""
    b = axis(SIGMA_B if sigma_b is None else sigma_b, "--sigma-b", least="0 <= LO")
    w = axis(SIGMA_W if sigma_w is None else sigma_w, "--sigma-w", least="0 < LO")
    if b[2] * w[2] > POINTS:
        raise RefusedError(f"{b[2]} x {w[2]} points: at most {POINTS} are taken")
    return b, w


def made(field: MeanField, path: str, b: Axis, w: Axis, progress: Progress) -> PhaseDiagram:
    """The diagram, with its file; ``progress`` hears (points done, of). Raises RefusedError."""
    try:
        found = field.phase_diagram(sigma_b=b, sigma_w=w, progress=progress)
    except ArithmeticError as error:
        raise RefusedError(f"the phase diagram is not reached in floats: {error}") from None
    try:
        if Path(path).suffix == ".json":
            found.write(path)
        else:
            found.plot(path)
    except OSError as error:
        raise RefusedError(f"--phase {path}: cannot be written: {error.strerror}") from None
    return found


def summary(found: PhaseDiagram) -> str:
    """What the file holds, in lines: how many points are in which phase."""
    counts = {letter: int((found.phase == letter).sum()) for letter in found.legend}
    b, w = ((len(axis), f"from {axis[0]:g} to {axis[-1]:g}") for axis in (found.sigma_b, found.sigma_w))
    lo, hi = found.searched
    lines = [
        f"phase diagram: {found.activation}, {b[0]} sigma_b {b[1]}, {w[0]} sigma_w {w[1]}",
        "",
        *(f"  {counts[letter]:9} {said}" for letter, said in found.legend.items() if counts[letter]),
        "",
        f"  in floats, not certified; variances from {lo:.3g} to {hi:.3g} were looked at",
    ]
    return clean.lines(lines)
