"""Fixed points, critical points and depth scales for a terminal: plain columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gateproof.proofs_check import clean

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.described import FieldPoint
    from gateproof.numerics.meanfield.result import FieldPoints
    from gateproof.numerics.meanfield.value import Value

#: Rows of a summary: the field of a point, its name in print, and what it is.
ROWS = (
    ("sigma_w2", "sigma_w^2"),
    ("sigma_b2", "sigma_b^2"),
    ("q_star", "q*"),
    ("chi_1", "chi_1"),
    ("chi_parallel", "chi_par"),
    ("stable", "stable"),
    ("c_star", "c*"),
    ("xi_q", "xi_q"),
    ("xi_c", "xi_c"),
    ("xi_gradient", "xi_grad"),
    ("law", "1 - c_l"),
    ("beta_q", "beta_q"),
    ("limit", "limit"),
    ("log_factor", "log"),
    ("largest_depth", "L_max"),
    ("basin", "from q_0"),
)
#: Rows that are left out where no point has them.
SOME = ("law", "beta_q", "limit", "log_factor", "largest_depth", "basin")
#: Digits of a basin's ends.
BASIN = 6
#: Columns of a curve.
COLUMNS = ("sigma_w2", "q_star", "chi_1", "chi_parallel", "stable", "beta_q", "xi_q", "xi_c")


def summary(found: FieldPoints) -> str:
    """All that is known of the points, a column each."""
    from gateproof.numerics.meanfield.result import exact_text

    at = [
        f"{name} = {exact_text(value)}"
        for name, value in (("sigma_w^2", found.sigma_w2), ("sigma_b^2", found.sigma_b2))
        if value is not None
    ]
    lines = [": ".join([found.kind, f"{found.target}, {', '.join(at)}" if at else found.target]), ""]
    if found.points:
        lines += [*_table(found), ""]
    if found.apart is not None:
        apart = exact_text(found.apart)
        lines.append(f"  L_max: from c_0 = 0, the last layer with |c_l - c*| >= {apart}")
    lines += [f"  {note}" for note in _notes(found.points)]
    sure = "certified" if found.certified else "not certified"
    lines.append(f"  {found.status.value} ({sure}): {found.reason}")
    return clean.lines(lines)


def _table(found: FieldPoints) -> Iterator[str]:
    for name, said in ROWS:
        if name in ("sigma_w2", "sigma_b2") and getattr(found, name) is not None:
            continue
        cells = [_cell(point, name, found.digits) for point in found.points]
        if name in SOME and not any(cells):
            continue
        if name == "limit" and not any(p.law == "l^-2" for p in found.points):
            continue
        width = max(found.digits + 8, max(map(len, cells)) + 2)
        yield f"  {said:11}{''.join(cell.ljust(width) for cell in cells)}".rstrip()


def _cell(point: FieldPoint, name: str, digits: int) -> str:
    value = getattr(point, name)
    if name == "stable":
        return {True: "yes", False: "no", None: "see below"}[value]
    if name == "law":
        if value is None:
            return ""
        return f"like {value}"
    if name == "basin" and value is not None:
        lo, hi = (end.decimal(min(digits, BASIN)) for end in value)
        return f"{lo} to {hi} ~"
    return "" if value is None else number(value, digits)


def number(value: Value, digits: int) -> str:
    """The digits that are right, or the enclosure; what is estimated is marked."""
    text = value.decimal(digits)
    if text is None:
        ends = value.ends(1)
        text = f"[{ends['lo']}, {ends['hi']}]"
    return text if value.certified else f"{text} ~"


def _notes(points: Sequence[FieldPoint]) -> Iterator[str]:
    for place, point in enumerate(points, 1):
        if point.note:
            which = f"point {place}: " if len(points) > 1 else ""
            yield f"{which}{point.note}"
    values = (v for p in points for v in (*vars(p).values(), *(p.basin or ())))
    if any(not v.certified for v in values if hasattr(v, "certified")):
        yield "~ by estimate, not certified"


def curve_table(parts: Sequence[FieldPoints], missing: int = 0) -> str:
    """A line for each point, and one for each sigma_b^2 without any; ``missing`` searches were stopped."""
    from gateproof.numerics.meanfield.result import exact_text, stopped

    first = parts[0]
    columns = (*COLUMNS, "largest_depth") if first.apart is not None else COLUMNS
    head = ["sigma_b^2", *(dict(ROWS)[name] for name in columns)]
    rows, reasons = [head], []
    for part in parts:
        start = exact_text(part.sigma_b2) or ""
        rows += [[start, *(_cell(point, name, part.digits) or "-" for name in columns)] for point in part]
        if not part.points:
            rows.append([start, f"{part.status.value}"])
        if not part.points or part.status.value != "ok" or not part.certified:
            sure = "certified" if part.certified else "not certified"
            reasons.append(f"  {start}: {part.status.value} ({sure}): {part.reason}")
    widths = [max(len(row[j]) for row in rows if j < len(row)) for j in range(len(head))]
    lines = [f"{first.kind}: {first.target}", ""]
    lines += [
        "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip() for row in rows
    ]
    if reasons:
        lines += ["", *reasons]
    elif all(p.certified for p in parts):
        lines += ["", f"  certified: these are all{' as far as it went' * bool(missing)}{stopped(missing)}"]
    return clean.lines(lines)
