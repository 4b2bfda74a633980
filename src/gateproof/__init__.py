"""gateproof decides what papers claim about neural nonlinearities.

This module is the one public door. Its names are resolved on first use, so
``import gateproof`` costs nothing and pulls in no SymPy, torch or JAX;
``tests/packaging/test_imports.py`` reads ``sys.modules`` to keep it so.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateproof.proofs_check.api import certify, check, decide_text, report
    from gateproof.theory.formula import formula

__version__ = "0.1.0"

__all__ = ["__version__", "certify", "check", "decide_text", "formula", "report"]

_HOME = {
    "certify": "gateproof.proofs_check.api",
    "check": "gateproof.proofs_check.api",
    "decide_text": "gateproof.proofs_check.api",
    "report": "gateproof.proofs_check.api",
    "formula": "gateproof.theory.formula",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, also those not imported yet."""
    return sorted({*globals(), *_HOME})
