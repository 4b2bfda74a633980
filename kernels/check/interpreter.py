"""Triton's interpreter with its conversions to and from bfloat16 put right.

Version 3.9 holds bfloat16 as bits in uint16 and cuts float32 off to it where hardware rounds to nearest even;
from float64 it converts the number itself to uint16 (triton#11584).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray


def rounded_bits(values: NDArray[Any]) -> NDArray[np.uint16]:
    """The bits of the nearest bfloat16 to float32 or float64 values, ties to even."""
    single = values.astype(np.float32)
    if values.dtype == np.float64:
        # Rounded to odd first: a value between two float32 gets the one with the last bit set, which no
        # later rounding to 8 bits mistakes for a tie.
        bits = single.view(np.int32).copy()
        with np.errstate(invalid="ignore"):
            away = np.abs(single.astype(np.float64)) > np.abs(values)
            inexact = (single.astype(np.float64) != values) & np.isfinite(single)
        bits = np.where(inexact, (bits - away) | 1, bits)
        single = bits.astype(np.int32).view(np.float32)
    whole = single.view(np.uint32)
    up = np.uint32(0x7FFF) + ((whole >> np.uint32(16)) & np.uint32(1))
    with np.errstate(over="ignore"):
        found = ((whole + up) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), found)


def repair() -> None:
    """Put the interpreter right in this process, which has TRITON_INTERPRET=1 in its environment."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("the interpreter runs where TRITON_INTERPRET=1 was set before triton was imported")
    import triton.language as tl
    from triton.runtime import interpreter

    builder: Any = interpreter.InterpreterBuilder
    if getattr(builder, "gateproof_repaired", False):
        return
    original = builder.cast_impl

    def cast(self: Any, src: Any, dst_type: Any) -> Any:
        before, after = src.dtype.scalar, dst_type.scalar
        if before == after:
            return src
        if after == tl.bfloat16 and before.is_floating():
            data = src.data if before in (tl.float32, tl.float64) else src.data.astype(np.float32)
            return interpreter.TensorHandle(rounded_bits(data), after)
        if before == tl.bfloat16:
            bits = src.data.astype(np.uint32) << np.uint32(16)
            data = bits.view(np.float32)
            return interpreter.TensorHandle(data.astype(interpreter._get_np_dtype(after)), after)
        return original(self, src, dst_type)

    builder.cast_impl = cast
    # Tensors of the CPU are their own copies: copying them back would touch every page.
    interpreter.GridExecutor._restore_args_dev = lambda *_: None
    builder.gateproof_repaired = True
