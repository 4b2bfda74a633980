"""gateproof decides what papers claim about neural nonlinearities.

This module is the one public door. Its names are resolved on first use, so
``import gateproof`` costs nothing and pulls in no SymPy, torch or JAX;
``tests/packaging/test_imports.py`` reads ``sys.modules`` to keep it so.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateproof.kernels.convert.api import Conversion, convert
    from gateproof.kernels.formula_kernel import compile_kernel
    from gateproof.numerics.backends.formula import Formula, formula
    from gateproof.proofs_check.api import (
        NothingSelectedError,
        RefusedError,
        Settings,
        certify,
        check,
        decide_text,
        report,
    )
    from gateproof.proofs_check.code.declared import claims
    from gateproof.proofs_check.fitting import fit
    from gateproof.proofs_check.mean_field import meanfield
    from gateproof.theory.formula import FormulaError

__version__ = "0.1.0"

__all__ = [
    "Conversion",
    "Formula",
    "FormulaError",
    "NothingSelectedError",
    "RefusedError",
    "Settings",
    "__version__",
    "certify",
    "check",
    "claims",
    "compile_kernel",
    "convert",
    "decide_text",
    "fit",
    "formula",
    "meanfield",
    "report",
]

_API = "gateproof.proofs_check.api"
_HOME = {
    "Conversion": "gateproof.kernels.convert.api",
    "Formula": "gateproof.numerics.backends.formula",
    "FormulaError": "gateproof.theory.formula",
    "NothingSelectedError": _API,
    "RefusedError": _API,
    "Settings": _API,
    "certify": _API,
    "check": _API,
    "claims": "gateproof.proofs_check.code.declared",
    "compile_kernel": "gateproof.kernels.formula_kernel",
    "convert": "gateproof.kernels.convert.api",
    "decide_text": _API,
    "fit": "gateproof.proofs_check.fitting",
    "formula": "gateproof.numerics.backends.formula",
    "meanfield": "gateproof.proofs_check.mean_field",
    "report": _API,
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if home.startswith("gateproof.kernels.") and find_spec("torch") is None:
        raise ModuleNotFoundError("torch is not installed: pip install 'gateproof[torch]'", name="torch")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, also those not imported yet."""
    return sorted({*globals(), *_HOME})
