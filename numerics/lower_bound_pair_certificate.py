"""Certificates that no gate of three branches with two sharpnesses is within a bound, made and checked.

    python -m gateproof.numerics.lower_bound_pair_certificate make 'gelu(x)' x 1/2500 FILE
    python -m gateproof.numerics.lower_bound_pair_certificate check FILE

FILE is gzipped JSON with sorted keys:

    kind, version, text, core, formula_hash, variable, bits, bound: as in ``lower_bound``
    family    {"branches": 3, "sharpness": "separate", "left": {"slope", "intercept"}, "right": {the same}}:
              the asymptotes; the gates' slopes are theirs, their intercepts are free
    parts     {"forward": [TREE, ...], "mirrored": [TREE, ...] or null where the former hold for f(-x) too}:
              a tree for each of ``PARTS`` of ``lower_bound_pair_search``, which together are everything

    TREE      ["split", "t" | "d" | "place" | "ratio", "p/q", TREE, TREE], or
              ["leaf", [["x", "v"], ...], ["a", "b"]]: ``lower_bound_pair`` says what that proves.

``make`` keeps what it has in FILE.part, one line for each cell, and goes on from there.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import head
from gateproof.numerics.certificate import ratio as text
from gateproof.numerics.lower_bound import family_of
from gateproof.numerics.lower_bound_pair import Leaf, Residual, excludes
from gateproof.numerics.lower_bound_pair_search import NAMES, PARTS, Search, halves
from gateproof.numerics.lower_bound_pair_shapes import Box, flat_enough
from gateproof.numerics.lower_bound_points import Target
from gateproof.numerics.precision import precision
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.serial import to_json, tree_hash

#: Bits of the balls; the most halvings on the way to a leaf.
BITS, MAX_DEPTH = 64, 120
#: First cuts of a part, in order; what lies between is one cell.
_CUTS = {"t": (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4)), "d": (Fraction(1, 2), Fraction(1))}
Tree = list[Any]


def residual(target: Expr, var: str) -> Residual | str:
    """f minus the mean of its asymptotes, or why there is none."""
    family = family_of(target, var, 3)
    if isinstance(family, str):
        return family
    left, right = family.left, family.right
    slope, level = (left.slope + right.slope) / 2, (left.intercept + right.intercept) / 2
    points = Target(target, var)
    return Residual(
        lambda x: points.ball(x) - iv.rational(slope * x + level),
        (right.slope - left.slope) / 2,
        (right.intercept - left.intercept) / 2,
    )


def skeleton(box: Box) -> Tree:
    """The cuts into cells; a cell is ``["cell", BOX]``."""
    for name, cuts in _CUTS.items():
        lo, hi = box.sides[NAMES.index(name)]
        inside = [c for c in cuts if lo < c and (hi is None or c < hi)]
        if inside:
            cut = inside[len(inside) // 2]
            return ["split", name, text(cut), *(skeleton(half) for half in halves(box, name, cut))]
    return ["cell", box]


def _filled(tree: Tree, cell: Callable[[Box], Tree | None]) -> Tree | None:
    if tree[0] == "cell":
        return cell(tree[1])
    below, above = (_filled(t, cell) for t in tree[3:])
    return None if below is None or above is None else [*tree[:3], below, above]


def make(formula: str, var: str, bound: Fraction, path: Path, say: Callable[[str], None]) -> str | None:
    """Search and write the certificate; None, or why there is none."""
    if bound <= 0:
        return f"the bound is {bound}; it must be positive"
    target = expand(parse_expr(formula))
    with precision(BITS):
        kept = _Kept(path.with_name(path.name + ".part"), f"{formula} {var} {text(bound)}")
        ahead = residual(target, var)
        if isinstance(ahead, str):
            return ahead
        forward = _orientation(ahead, bound, "forward", kept, say)
        if isinstance(forward, str):
            return forward
        behind = ahead.mirrored()
        mirrored: list[Tree] | str | None = None
        if not all(holds(behind, bound, part, t) for part, t in zip(PARTS, forward, strict=True)):
            mirrored = _orientation(behind, bound, "mirrored", kept, say)
            if isinstance(mirrored, str):
                return mirrored
    document = _document(target, var, bound, {"forward": forward, "mirrored": mirrored})
    data = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(gzip.compress(data, mtime=0))
    fresh.replace(path)
    return None


class _Kept:
    """Finished cells, one line each."""

    def __init__(self, path: Path, question: str) -> None:
        self.path, self.question = path, question
        self.cells: dict[str, Tree] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                asked, cell, tree = json.loads(line)
                if asked == question:
                    self.cells[cell] = tree

    def add(self, cell: str, tree: Tree) -> None:
        self.cells[cell] = tree
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json.dumps([self.question, cell, tree], separators=(",", ":")) + "\n")


def _orientation(
    ahead: Residual, bound: Fraction, name: str, kept: _Kept, say: Callable[[str], None]
) -> list[Tree] | str:
    reason = ""

    def cell(box: Box) -> Tree | None:
        nonlocal reason
        key = f"{name} {box.chart} {box.sides}"
        if key not in kept.cells:
            search = Search(ahead, bound)
            tree = search.tree(box)
            say(f"{key}: {search.leaves} leaves, {search.boxes} boxes {search.reason}")
            if tree is None:
                reason = f"{key}: {search.reason}"
                return None
            kept.add(key, tree)
        return kept.cells[key]

    trees = []
    for part in PARTS:
        tree = _filled(skeleton(part), cell)
        if tree is None:
            return reason
        trees.append(tree)
    return trees


def _document(target: Expr, var: str, bound: Fraction, parts: dict[str, Any]) -> dict[str, Any]:
    family = family_of(target, var, 3)
    assert not isinstance(family, str)
    ends = {
        k: {"slope": text(e.slope), "intercept": text(e.intercept)}
        for k, e in (("left", family.left), ("right", family.right))
    }
    return {
        **head("parameter-lower-bound", target, to_text(target), BITS),
        "variable": var,
        "family": {"branches": 3, "sharpness": "separate", **ends},
        "bound": text(bound),
        "parts": parts,
    }


def leaves(box: Box, tree: Tree, depth: int = 0) -> Iterator[tuple[Box, Leaf]]:
    """The boxes of a tree with their leaves; ValueError where a cut is not inside of its box."""
    if tree[0] == "leaf":
        a, b = map(Fraction, tree[2])
        yield box, Leaf({Fraction(x): Fraction(v) for x, v in tree[1]}, (a, b))
        return
    _, name, at = tree[:3]
    cut = Fraction(at)
    lo, hi = (box.ratio or (Fraction(0), None)) if name == "ratio" else box.sides[NAMES.index(name)]
    if not lo < cut or not (hi is None or cut < hi) or depth > MAX_DEPTH:
        raise ValueError(f"a cut of {name} at {at}")
    for half, part in zip(halves(box, name, cut), tree[3:], strict=True):
        yield from leaves(half, part, depth + 1)


def holds(ahead: Residual, bound: Fraction, part: Box, tree: Tree) -> bool:
    """Whether all leaves of a part hold."""
    return all(excludes(ahead, bound, box, leaf)[0] for box, leaf in leaves(part, tree))


def check(document: dict[str, Any]) -> str | None:
    """None where the certificate holds, else what does not."""
    target, var, bound = (
        expand(parse_expr(document["text"])),
        document["variable"],
        Fraction(document["bound"]),
    )
    if to_json(target) != document["core"] or tree_hash(document["core"]) != document["formula_hash"]:
        return "formula_hash"
    with precision(document["bits"]):
        ahead = residual(target, var)
        if isinstance(ahead, str):
            return ahead
        if document["family"] != _document(target, var, bound, {})["family"]:
            return "family"
        if not flat_enough() or bound <= 0:
            return "bound"
        forward = document["parts"]["forward"]
        for name, one, trees in (
            ("forward", ahead, forward),
            ("mirrored", ahead.mirrored(), document["parts"]["mirrored"] or forward),
        ):
            if len(trees) != len(PARTS):
                return name
            for part, tree in zip(PARTS, trees, strict=True):
                for box, leaf in leaves(part, tree):
                    if not excludes(one, bound, box, leaf)[0]:
                        return f"{name}: {box}"
    return None


def read(path: Path) -> dict[str, Any]:
    """A certificate from its file."""
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def conclusion(document: dict[str, Any]) -> str:
    """What holds where nothing is wrong with the certificate."""
    trees = [*document["parts"]["forward"], *(document["parts"]["mirrored"] or ())]
    count = sum(sum(1 for _ in leaves(p, t)) for p, t in zip(cycle(PARTS), trees, strict=False))
    return (
        f"no gate of three branches with two sharpnesses is within {document['bound']} of {document['text']} "
        f"({count} leaves)"
    )


def main(arguments: list[str]) -> int:
    """Make or check; the exit code."""
    try:
        match arguments:
            case ["make", formula, var, bound, path]:
                problem = make(
                    formula, var, Fraction(bound), Path(path), lambda line: print(line, flush=True)
                )
            case ["check", path]:
                problem = check(read(Path(path)))
            case _:
                raise ValueError("make FORMULA NAME BOUND FILE, or check FILE")
        failed = "no certificate" if arguments[0] == "make" else "the certificate does not hold"
        print(f"{failed}: {problem}" if problem else conclusion(read(Path(path))))
    except (ValueError, KeyError, TypeError, ArithmeticError, OSError) as error:
        print(f"{' '.join(arguments)}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = Path(f"{arguments[-1]}.part")
        print(f"interrupted{f'; finished cells are in {kept}' if kept.exists() else ''}", file=sys.stderr)
        return 1
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
