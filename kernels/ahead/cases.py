"""What is compiled ahead of time: calls of the public functions, from which the launches are noted.

Tensors are made without being written to, so that their size costs nothing. Sizes are those of a layer;
``ragged`` has a length that no block divides, where whole blocks must still be read 128 bits at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from gateproof.kernels import functional
from gateproof.kernels.choice import use
from gateproof.kernels.sparse import sparse_linear
from gateproof.kernels.start import Launch, noted

TYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
ROWS, COLUMNS, LOGITS = 4096, 4096, 2048
#: Of attention: queries of four heads share keys and values.
HEADS, GROUPS, LENGTH, WIDTH = 16, 4, 2048, 128
_BRANCHES = (2, 3, 16)


@dataclass(frozen=True)
class Case:
    """A call with its name, and which kernels it launches."""

    name: str
    call: Callable[[torch.dtype], torch.Tensor]
    directions: tuple[str, ...] = ("forward", "backward")


def _made(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, requires_grad=True)


def _product(function: Any, shape: tuple[int, ...], dtype: torch.dtype) -> Any:
    return function(_made(*shape, dtype=dtype), _made(*shape, dtype=dtype))


def _packed(function: Any, dtype: torch.dtype) -> Any:
    return function(_made(ROWS, 2 * COLUMNS, dtype=dtype))


def _numbers(branches: int) -> tuple[list[float], list[float], list[float]]:
    """Thresholds, slopes and intercepts."""
    return (
        [k / branches for k in range(branches - 1)],
        [float(k) for k in range(branches)],
        [0.0] * branches,
    )


def _constant(branches: int, tau: float, dtype: torch.dtype) -> Any:
    return functional.threshold_gate(_made(ROWS, COLUMNS, dtype=dtype), tau, *_numbers(branches))


def _learned(branches: int, channels: int | None, dtype: torch.dtype) -> Any:
    first = () if channels is None else (channels,)
    widths = (1, branches - 1, branches, branches)
    numbers = [_made(*first, width, dtype=torch.float32) for width in widths]
    return functional.threshold_gate(_made(ROWS, COLUMNS, dtype=dtype), *numbers)


def _softmax(odds: bool, dtype: torch.dtype) -> torch.Tensor:
    return functional.tg_softmax(_made(ROWS, LOGITS, dtype=dtype), log_odds=odds)


def _attention(causal: bool, dtype: torch.dtype) -> torch.Tensor:
    q = _made(2, HEADS, LENGTH, WIDTH, dtype=dtype)
    k, v = (_made(2, GROUPS, LENGTH, WIDTH, dtype=dtype) for _ in range(2))
    return functional.tg_attention(q, k, v, causal=causal)


def _glu(dtype: torch.dtype) -> torch.Tensor:
    g, u = (_made(ROWS, COLUMNS, dtype=dtype) for _ in range(2))
    return functional.tg_glu(g, u, 1.0, *_numbers(2))


def _gated(x: torch.Tensor) -> torch.Tensor:
    return functional.tg_glu_packed(x, 1.0, *_numbers(2))


def _sparse(dtype: torch.dtype) -> torch.Tensor:
    # Its gradients are two dense products.
    y, weight = (torch.empty(COLUMNS, COLUMNS, dtype=dtype) for _ in range(2))
    return sparse_linear(y, weight, torch.empty(COLUMNS, dtype=dtype))


def _soft_threshold(deltas: int, dtype: torch.dtype) -> torch.Tensor:
    delta = _made(deltas, dtype=torch.float32) if deltas else 0.5
    found: torch.Tensor = functional.soft_threshold(_made(ROWS, COLUMNS, dtype=dtype), delta, 4.0)
    return found


def cases() -> Iterator[Case]:
    """All of them."""
    f, flat, ragged = functional, (ROWS, COLUMNS), (ROWS * COLUMNS + 1,)
    products: dict[str, Any] = {"swiglu": f.swiglu, "memglu": f.memglu, "geglu": f.geglu}
    for name, function in products.items():
        yield Case(name, partial(_product, function, flat))
    yield Case("swiglu ragged", partial(_product, f.swiglu, ragged))
    packed: dict[str, Any] = {"swiglu": f.swiglu_packed, "memglu": f.memglu_packed, "geglu": f.geglu_packed}
    for name, function in packed.items():
        yield Case(f"{name} packed", partial(_packed, function))
    yield Case("tg_glu K=2", _glu)
    yield Case("tg_glu K=2 packed", partial(_packed, _gated))
    yield Case("soft_threshold", partial(_soft_threshold, 0))
    yield Case("soft_threshold learned", partial(_soft_threshold, 1))
    yield Case("soft_threshold by channel", partial(_soft_threshold, COLUMNS))
    yield Case("sparse_linear", _sparse, ("forward",))
    yield Case("threshold_gate K=2 hard", partial(_constant, 2, float("inf")))
    for k in _BRANCHES:
        yield Case(f"threshold_gate K={k}", partial(_constant, k, 1.0))
        yield Case(f"threshold_gate K={k} learned", partial(_learned, k, None))
        yield Case(f"threshold_gate K={k} by channel", partial(_learned, k, COLUMNS))
    for causal, name in ((False, "tg_attention"), (True, "tg_attention causal")):
        yield Case(name, partial(_attention, causal), ("forward", "backward", "backward 2"))
    for odds, name in ((False, "tg_softmax"), (True, "tg_softmax odds")):
        yield Case(name, partial(_softmax, odds))


def launches(case: Case, kind: str, lanes: int = 32) -> list[tuple[str, Launch]]:
    """The launches of a case in a type, forward then backward, from the functions that users call.

    A second kernel of a direction is ``backward 2``. ``lanes`` are those of a warp of the card that is meant.
    """
    with use("triton"), noted(lanes) as found:
        result = case.call(TYPES[kind])
        forward = len(found)
        if "backward" in case.directions:
            torch.autograd.grad(result, _leaves(result), torch.empty_like(result))
    return [
        (f"{direction} {k}" if k > 1 else direction, launch)
        for direction, part in (("forward", found[:forward]), ("backward", found[forward:]))
        for k, launch in enumerate(part, 1)
    ]


def _leaves(result: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that a result was made from."""
    found: list[torch.Tensor] = []
    stack: list[Any] = [result.grad_fn]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        if hasattr(node, "variable"):
            found.append(node.variable)
        stack.extend(n for n, _ in node.next_functions)
    return found
