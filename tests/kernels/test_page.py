"""docs/kernels.md: its Python lines print what it shows, and its functions are there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from gateproof.kernels import functional

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "kernels.md").read_text()


def test_the_python_lines():
    found = doctest.DocTestParser().get_doctest(PAGE, {}, "kernels.md", "kernels.md", 0)
    assert len(found.examples) == 8
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags, verbose=False).run(found).failed == 0


def test_every_function_is_named_and_is_there():
    rows = PAGE.split("| computes |")[1].split("\n\n")[0].split("\n")[2:]
    named = {name for row in rows for name in re.findall(r"`(\w+)", row.split(" | ")[0])}
    public = {
        name
        for name, f in vars(functional).items()
        if name[0].islower() and getattr(f, "__module__", "").startswith("gateproof.kernels") and callable(f)
    }
    # Imported for the functions' own use; a packed form stands beside its function.
    others = {"check_packed", "real_type"} | {n for n in public if n.endswith("_packed")}
    assert named - public == set()
    assert public - others - named == set()
