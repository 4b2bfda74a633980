"""Which code computes an operation on a device, and how a person chooses another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.util import find_spec
from typing import Literal, get_args

from gateproof.kernels.start import noting

Code = Literal["auto", "torch", "compiled", "triton"]
VARIABLE = "GATEPROOF_KERNELS"
_chosen: ContextVar[Code | None] = ContextVar("gateproof_kernels", default=None)


def _checked(name: str, where: str) -> Code:
    if name not in get_args(Code):
        raise ValueError(f"{where} is one of {', '.join(get_args(Code))}, found {name!r}")
    return name  # type: ignore[return-value]


def chosen() -> Code:
    """``auto``, or what ``use`` or the environment variable GATEPROOF_KERNELS says."""
    own = _chosen.get()
    return own if own is not None else _checked(os.environ.get(VARIABLE, "auto"), VARIABLE)


@contextmanager
def use(code: Code) -> Iterator[None]:
    """Choose the code within a block.

    ``torch`` runs PyTorch's own operations one by one; ``compiled`` fuses them by torch.compile, at the first
    call of an operation; ``triton`` runs the Triton kernels, on a CPU only in the interpreter. ``auto`` is
    Triton on a GPU where it is installed, and torch elsewhere.
    """
    token = _chosen.set(_checked(code, "code"))
    try:
        yield
    finally:
        _chosen.reset(token)


@lru_cache(maxsize=1)
def has_triton() -> bool:
    """Whether Triton is installed."""
    return find_spec("triton") is not None


def interpreted() -> bool:
    """Whether Triton kernels run in its interpreter in this process."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def code_for(device_type: str) -> Code:
    """What runs on a device: ``torch``, ``compiled`` or ``triton``.

    Raises RuntimeError where Triton is asked for and cannot run.
    """
    code = chosen()
    if code == "auto":
        return "triton" if device_type == "cuda" and has_triton() else "torch"
    if code == "triton":
        if not has_triton():
            raise RuntimeError("Triton is not installed: pip install triton, or choose torch or compiled")
        if device_type == "cpu" and not interpreted() and not noting():
            raise RuntimeError("Triton runs on a CPU only in its interpreter: set TRITON_INTERPRET=1 first")
    return code
