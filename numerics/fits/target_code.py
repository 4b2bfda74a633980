"""The user's own ``module:function``, imported because they asked for it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from gateproof.numerics.fits.target import RefusedTarget, Target
from gateproof.numerics.fits.target_callable import of_callable
from gateproof.numerics.fits.target_calling import raised
from gateproof.numerics.fits.target_domain import Domain
from gateproof.numerics.fits.target_user import user_code


def of_code(place: str, domain: Domain | None = None) -> Target:
    """The target that 'module:function' names. Importing the module runs it; call this only when allowed.

    Modules of the working directory are found too. A class is instantiated without arguments. Raises
    RefusedTarget.
    """
    found = _found(place)
    if isinstance(found, type):
        try:
            with user_code():
                found = found()
        except Exception as error:
            raise RefusedTarget(
                f"{place}: the class cannot be made without arguments: {raised(error)}"
            ) from None
    if not callable(found):
        raise RefusedTarget(f"{place} is of type {type(found).__name__}; give a function of one number")
    return of_callable(found, domain, place)


def _found(place: str) -> Any:
    module, _, path = place.partition(":")
    if module.endswith(".py"):
        raise RefusedTarget(f"{place}: give the module without .py, as {module[:-3]}:{path}")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        with user_code():
            found: Any = import_module(module)
    except Exception as error:
        raise RefusedTarget(f"{place}: {module} cannot be imported: {raised(error)}") from None
    finally:
        if added and here in sys.path:
            sys.path.remove(here)
    for name in path.split("."):
        try:
            with user_code():
                found = getattr(found, name)
        except AttributeError:
            raise RefusedTarget(f"{place}: {module} has no {path}") from None
        except Exception as error:
            raise RefusedTarget(f"{place}: {name} cannot be read: {raised(error)}") from None
    return found
