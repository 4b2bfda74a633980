"""One door for all targets: names, formulas, functions, modules, gates, measured curves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gateproof.numerics.backends.formula import Formula
from gateproof.numerics.fits.target import RefusedTarget, Target
from gateproof.numerics.fits.target_callable import of_callable
from gateproof.numerics.fits.target_code import of_code
from gateproof.numerics.fits.target_domain import read_domain
from gateproof.numerics.fits.target_text import of_gate, of_language, of_text
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.gate import Gate

#: What a measured curve's file is called; other kinds of files that one might name.
CURVES = (".csv", ".tsv", ".txt", ".dat", ".npy")
OTHERS = (".npz", ".xlsx", ".xls", ".json", ".mat", ".pt", ".pth", ".pkl", ".parquet", ".h5", ".py", ".onnx")
_CODE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", re.ASCII)


def target_of(given: Any, domain: Any = None, *, allow_code: bool = False) -> Target:
    """The target that the user means. Raises RefusedTarget with one line for anything else.

    ``given``: a name ('gelu'), a formula in x, a file of a measured curve (.csv, .tsv, .txt, .dat, .npy),
    with ``allow_code`` the user's own 'module:function'; a Formula, a Gate or a fit that has one, a function
    of numbers, arrays or tensors, an nn.Module; columns x, y and standard errors as an array (n, 2) or
    (n, 3) or as a tuple. ``domain``: 'R', '[-8, 8]', 'x in [0, oo)', a pair of numbers, or None for the
    whole line or all points.
    """
    where = read_domain(domain)
    if isinstance(given, Target):
        if domain is not None:
            raise RefusedTarget("this target has its domain already; give the domain where it is made")
        return given
    if isinstance(given, Path):
        return _file(given, where)
    if isinstance(given, str):
        return _text(given, where, allow_code=allow_code)
    if isinstance(given, Formula):
        return of_language(given, where)
    gate = given if isinstance(given, Gate) else getattr(given, "gate", None)
    if isinstance(gate, Gate):
        return of_gate(gate, where)
    if isinstance(given, np.ndarray | tuple | list):
        from gateproof.numerics.fits.target_data import of_columns

        return of_columns(given, where)
    if isinstance(given, bool) or given is None or isinstance(given, Expr):
        raise RefusedTarget(f"the target is {given!r:.40}; give a name, a formula in x, a function or a file")
    if isinstance(given, int | float):
        return of_text(repr(given), where)
    if isinstance(given, type):
        raise RefusedTarget(
            f"the target is the class {given.__name__}; give an object of it, as {given.__name__}()"
        )
    if callable(given):
        return of_callable(given, where)
    raise RefusedTarget(
        f"a {type(given).__name__} is no target; give a name, a formula in x, a function or a file"
    )


def _text(text: str, where: Any, *, allow_code: bool) -> Target:
    written = text.strip()
    suffix = Path(written).suffix.lower()
    if suffix in CURVES or suffix in OTHERS:
        return _file(Path(written), where)
    if _CODE.fullmatch(written):
        if not allow_code:
            raise RefusedTarget(f"{written:.60} names Python code, which is run only with --allow-code")
        return of_code(written, where)
    return of_text(text, where)


def _file(path: Path, where: Any) -> Target:
    from gateproof.numerics.fits.target_data import of_file

    if path.suffix.lower() in OTHERS:
        hint = {
            ".json": "a fit's document is read by the command itself",
            ".npz": "save one array with numpy.save",
        }
        advice = hint.get(path.suffix.lower(), "write it as CSV")
        raise RefusedTarget(f"{path}: a measured curve is a file {', '.join(CURVES)}; {advice}")
    return of_file(path, where)
