"""What of a converted network is at work in this thread: the module, the plan, the run of its forward."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import torch

from gateproof.kernels.convert.steps import Frame

#: By thread: ``plan``, ``owner`` (the name of the module), ``library``, ``frame``, ``late``.
STATE = threading.local()
#: Where code of PyTorch's and of this conversion lies: a place in a network is outside of both.
_INSIDE = tuple(f"{Path(f).parent}{os.sep}" for f in (torch.__file__, __file__))


def running() -> Frame:
    """The forward that is at work."""
    frame: Frame = STATE.frame
    return frame


def working_on(plan: object, module: object) -> bool:
    """Whether code of this module is at work, for this plan."""
    frame = getattr(STATE, "frame", None)
    return frame is not None and frame.module is module and getattr(STATE, "plan", None) is plan


def current_owner() -> str:
    """The name of the module whose code is at work."""
    owner: str = getattr(STATE, "owner", "")
    return owner


def place_of_call(depth: int = 2) -> tuple[str, int, int]:
    """File, line and instruction of the innermost frame outside of PyTorch and this folder.

    What a class of tensors does at each call is not where the call stands.
    """
    frame: Any = sys._getframe(depth)
    first = frame
    while frame is not None and (
        frame.f_code.co_filename.startswith(_INSIDE) or frame.f_code.co_name == "__torch_function__"
    ):
        frame = frame.f_back
    frame = first if frame is None else frame
    return frame.f_code.co_filename, frame.f_lineno, frame.f_lasti
