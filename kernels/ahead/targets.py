"""Triton's own launch path for a card that is not there.

Triton asks its driver for the card, specialises a kernel on the arguments of a launch and compiles it. A
stand-in for the driver names another card, so that ``JITFunction.warmup`` compiles just what a launch with
those arguments would compile there: nothing of the specialisation is repeated here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gateproof.kernels.start import Launch

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "gfx942")


def target(architecture: str) -> Any:
    """Triton's name of an architecture. Raises ValueError for one that is not known."""
    from triton.backends.compiler import GPUTarget

    if architecture not in ARCHITECTURES:
        raise ValueError(f"architecture is one of {', '.join(ARCHITECTURES)}, found {architecture!r}")
    if architecture.startswith("sm_"):
        return GPUTarget("cuda", int(architecture[3:]), 32)
    return GPUTarget("hip", architecture, 64)


class _StandIn:
    """Answers what the compiler asks of a driver; running anything on it fails."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def get_current_target(self) -> Any:
        return self.found

    def get_current_device(self) -> str:
        # Kernels keep what they compiled by device.
        return f"{self.found.backend}:{self.found.arch}"

    def get_current_stream(self, _: Any) -> int:
        return 0


@contextmanager
def card(architecture: str) -> Iterator[None]:
    """Within a block Triton compiles for an architecture."""
    from triton.runtime import driver

    before = driver._active
    driver.set_active(_StandIn(target(architecture)))
    try:
        yield
    finally:
        driver._active = before


def compiled(launch: Launch, architecture: str) -> Any:
    """What a launch compiles to: Triton's kernel, with the texts of all stages in ``.asm``."""
    with card(architecture):
        return launch.kernel.warmup(*launch.args, grid=launch.grid, **launch.options)


def missing(architecture: str) -> str:
    """Why nothing can be compiled for an architecture here, else ''."""
    from triton.compiler import make_backend

    try:
        make_backend(target(architecture))
    except Exception as error:
        return f"Triton's wheel has no compiler for {architecture}: {error}".splitlines()[0]
    return ""
