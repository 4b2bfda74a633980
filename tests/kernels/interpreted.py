"""Checks of Triton kernels in the interpreter: run as a script in a process of its own, prints what failed.

    TRITON_INTERPRET=1 python interpreted.py

The variable must be set before Triton is imported, and interpreted and compiled kernels do not mix.
"""

from __future__ import annotations

import linecache
import math
import sys
import traceback

import mpmath
import numpy as np
import torch
import triton
import triton.language as tl

from gateproof.kernels import choice, elementary, elementary_others, functional
from gateproof.kernels.graph import unfold
from gateproof.kernels.triton_source import Roles, kernel_source, load
from gateproof.numerics.backends.formula import formula

INF, NAN = math.inf, math.nan
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


# --- elementary functions -----------------------------------------------------


def elementary_kernel(name):
    source = f"""
@triton.jit
def kernel(out, given, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, m.{name}(tl.load(given + i, mask=i < n, other=1.0)), mask=i < n)
"""
    file = f"<elementary {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    home = elementary if hasattr(elementary, name) else elementary_others
    space = {"triton": triton, "tl": tl, "m": home, "__name__": "interpreted"}
    exec(compile(source, file, "exec"), space)  # noqa: S102 - the text above
    return space["kernel"]


def elementary_values(name, numbers, dtype):
    given = torch.tensor(numbers, dtype=dtype)
    out = torch.empty_like(given)
    elementary_kernel(name)[(1,)](out, given, len(given), BLOCK=2048)
    return given.tolist(), out.tolist()


def in_ulps(found, exact, digits, least):
    """The error in units of the last place of the exact value."""
    size = max(int(mpmath.floor(mpmath.log(abs(exact), 2))) - digits + 1, least) if exact else least
    return abs(mpmath.mpf(found) - exact) / mpmath.mpf(2) ** size


#: Function, where it is finite, special values, ulps in single and in double precision.
ELEMENTARY = {
    "exp": (mpmath.exp, (-104, 88.7), {0.0: 1, INF: INF, -INF: 0, 100.0: INF, -110.0: 0}, 1.0, 1.0),
    "expm1": (mpmath.expm1, (-60, 88.7), {-0.0: -0.0, INF: INF, -INF: -1, 100.0: INF}, 1.5, 2.0),
    "log": (mpmath.log, (1e-45, 3e38), {-0.0: -INF, INF: INF, -1.0: NAN, 1.0: 0}, 1.0, 1.0),
    "log1p": (mpmath.log1p, (-0.999, 3e38), {-0.0: -0.0, -1.0: -INF, INF: INF, -2.0: NAN}, 1.5, 2.0),
    "tanh": (mpmath.tanh, (-30, 30), {-0.0: -0.0, INF: 1, -INF: -1, 1e30: 1}, 1.5, 5.0),
    "tan": (mpmath.tan, (-30, 30), {-0.0: -0.0, INF: NAN}, 3.0, 2.0),
    "atan": (mpmath.atan, (-1e38, 1e38), {-0.0: -0.0, INF: float(np.float32(np.pi / 2))}, 2.0, 2.0),
    "asin": (mpmath.asin, (-1, 1), {-0.0: -0.0, 1.5: NAN, -INF: NAN}, 3.0, 3.0),
    "acos": (mpmath.acos, (-1, 1), {1.0: 0, 1.5: NAN, -1.5: NAN}, 3.0, 3.0),
    "sinh": (mpmath.sinh, (-89.4, 89.4), {-0.0: -0.0, INF: INF, -INF: -INF, 90.0: INF}, 3.0, 3.0),
    "cosh": (mpmath.cosh, (-89.4, 89.4), {-0.0: 1, INF: INF, -INF: INF, 90.0: INF}, 3.0, 3.0),
    "asinh": (mpmath.asinh, (-1e38, 1e38), {-0.0: -0.0, INF: INF, -INF: -INF}, 3.0, 3.0),
    "acosh": (mpmath.acosh, (1, 1e38), {1.0: 0, INF: INF, 0.5: NAN, -INF: NAN}, 3.0, 3.0),
    "atanh": (mpmath.atanh, (-0.9999999, 0.9999999), {-0.0: -0.0, 1.0: INF, -1.0: -INF, 2.0: NAN}, 3.0, 3.0),
}


@check
def elementary_functions():
    rng = np.random.default_rng(1)
    near = np.concatenate([rng.uniform(-1.2, 1.2, 250), 2.0 ** rng.uniform(-149, 0, 100)])
    near = np.concatenate([near, -near, 1 + near * 1e-3, [0.55, -0.55, 1.1754944e-38]])
    with mpmath.workprec(160):
        for name, (exact, (low, high), special, single, double) in ELEMENTARY.items():
            wide = rng.uniform(low, high, 300) if high < 100 else 2.0 ** rng.uniform(-149, 128, 300)
            numbers = [float(x) for x in np.concatenate([near, wide, [low, high]]) if low <= x <= high]
            for dtype, digits, least, most in (
                (torch.float32, 24, -149, single),
                (torch.float64, 53, -1074, double),
            ):
                for x, y in zip(*elementary_values(name, numbers, dtype), strict=True):
                    if (name == "log" and x <= 0) or (name == "log1p" and x <= -1):
                        continue
                    error = in_ulps(y, exact(mpmath.mpf(x)), digits, least)
                    assert error <= most, (name, dtype, x, y, float(error))
            given, found = elementary_values(name, [*special, NAN], torch.float32)
            for x, y, wanted in zip(given, found, [*special.values(), NAN], strict=True):
                same = math.isnan(y) if math.isnan(wanted) else y == wanted
                assert same, (name, x, y)
                assert wanted or math.copysign(1, y) == math.copysign(1, wanted), (name, x, y)


# --- layouts --------------------------------------------------------------------


def views(rows, cols):
    yield "contiguous", torch.randn(rows, cols)
    yield "transposed", torch.randn(cols, rows).t()
    yield "half of a packed tensor", torch.randn(rows, 2 * cols).chunk(2, -1)[1]
    yield "every second column", torch.randn(rows, 2 * cols)[:, ::2]
    yield "one row expanded", torch.randn(1, cols).expand(rows, cols)
    yield "one column expanded", torch.randn(rows, 1).expand(rows, cols)
    yield "overlapping", torch.randn(rows + cols).unfold(0, cols, 1)[:rows]


def agree(name, function, tensors, dy=None):
    """Triton's float32 beside float64 in PyTorch; nothing given is written to; twice gives the same bits."""
    leaves = [t.detach().requires_grad_() for t in tensors]
    kept = [t.detach().clone() for t in tensors]
    with choice.use("torch"):
        wanted = function(*(t.double() for t in leaves))
        dy = torch.randn(wanted.shape) if dy is None else dy
        wanted_gradients = torch.autograd.grad(wanted, leaves, dy.double())
    with choice.use("triton"):
        found = function(*leaves)
        gradients = torch.autograd.grad(found, leaves, dy, retain_graph=True)
    again = torch.autograd.grad(found, leaves, dy)
    for a, b, c in zip((found, *gradients), (wanted, *wanted_gradients), (found, *again), strict=True):
        scale = 1 + b.abs().max() if b.numel() else 1
        assert a.shape == b.shape, name
        assert ((a - b).abs() <= 3e-6 * scale).all(), name
        assert torch.equal(a, c), f"{name}: a second backward differs"
    assert all(torch.equal(a, b) for a, b in zip(kept, leaves, strict=True)), f"{name}: input overwritten"


def gate_numbers(*channels):
    tau, theta = torch.rand(*channels, 1) + 0.5, torch.randn(*channels, 2)
    return tau, theta, torch.randn(*channels, 3), torch.randn(*channels, 3)


@check
def layouts():
    torch.manual_seed(0)
    rows, cols = 3, 6
    all_views = list(views(rows, cols))
    for (one, g), (two, u) in zip(all_views, all_views[2:] + all_views[:2], strict=True):
        agree(f"swiglu {one}, {two}", functional.swiglu, (g, u))
        agree(f"tg_glu {one}, {two}", functional.tg_glu, (g, u, *gate_numbers()))
    for name, x in views(rows, cols):
        agree(f"gate {name}", functional.threshold_gate, (x, *gate_numbers()))
        for dim in (0, 1):
            call = lambda x, *p, dim=dim: functional.threshold_gate(x, *p, channel_dim=dim)  # noqa: E731
            agree(f"gate of channels {dim}, {name}", call, (x, *gate_numbers(x.shape[dim])))
        agree(f"packed {name}", functional.swiglu_packed, (x,))
        agree(f"packed gate {name}", functional.tg_glu_packed, (x, *gate_numbers(cols // 2)))
    images = torch.randn(2, 3, 2, 4)
    first = lambda x, *p: functional.threshold_gate(x, *p, channel_dim=1)  # noqa: E731
    packed = lambda x, *p: functional.tg_glu_packed(x, *p, channel_dim=1)  # noqa: E731
    agree("channels second", first, (images, *gate_numbers(3)))
    agree("channels_last", first, (images.to(memory_format=torch.channels_last), *gate_numbers(3)))
    agree("packed, channels second", packed, (images, *gate_numbers(3)))
    agree("no dimension", functional.threshold_gate, (torch.tensor(0.7), *gate_numbers()))
    agree("one dy for all", functional.swiglu, (torch.randn(5), torch.randn(5)), torch.ones(()).expand(5))
    agree("one column of halves", functional.swiglu_packed, (torch.randn(4, 2),))


@check
def lengths():
    for n in (0, 1, 7, 8, 9, 1023, 1024, 1025, 2049):
        agree(f"{n} elements", functional.memglu, (torch.randn(n), torch.randn(n)))
    for shape in ((0,), (0, 4), (3, 0)):
        numbers = gate_numbers()
        agree(f"shape {shape}", functional.threshold_gate, (torch.randn(shape), *numbers))


@check
def nothing_past_the_end_is_touched():
    for n in (1, 9, 1025):
        room = torch.full((n + 64,), 7.0)
        out = room[32 : 32 + n]
        launched("x*sigmoid(x)", out, torch.randn(n))
        assert (room[:32] == 7).all(), n
        assert (room[32 + n :] == 7).all(), n


# --- 64-bit places ---------------------------------------------------------------


def launched(text, out, x, change=lambda source: source, first=0):
    """A formula's kernel over flat tensors from program ``first`` on."""
    f = formula(text)
    graph = unfold([f._op(f.names).tape], small=True)
    source = change(kernel_source(graph, Roles()))
    if first:
        source = source.replace("tl.program_id(0)", f"(tl.program_id(0) + {first})")
    n, block = x.numel(), 1024
    blocks = -(-n // block)
    load(source)[(blocks - first,)](
        out, x, n, blocks, 1, 1, 0, 0, 0, UI0=1, WHOLE=n % block == 0, REAL=tl.float32, BLOCK=block, CHUNK=1
    )


@check
def places_past_int32():
    from triton.runtime.interpreter import InterpreterOptions, interpreter_builder

    n = 2**31 + 2048 + 5
    # Never touched but at the end: the pages before it are never mapped.
    x, out = torch.empty(n, dtype=torch.float16), torch.empty(n, dtype=torch.float16)
    x[-3000:] = 1.0
    x[-1] = -2.0
    out[-3000:] = 0.0
    before = interpreter_builder.options
    interpreter_builder.options = InterpreterOptions(debug=True)
    try:
        launched("abs(x)", out, x, first=n // 1024 - 1)
        assert out[-1] == 2
        assert (out[-1029:-1] == 1).all()
        assert out[-2100] == 0
        caught = False
        try:
            launched("abs(x)", out, x, lambda s: s.replace(".to(tl.int64)\n", "\n"), first=n // 1024 - 1)
        except Exception:
            caught = True
        assert caught, "places in int32 are not caught"
    finally:
        interpreter_builder.options = before


@check
def a_dropped_mask_is_caught():
    room = torch.full((2048,), 7.0)
    out = room[:1000]
    launched(
        "abs(x)",
        out,
        torch.full((1000,), -2.0),
        lambda s: s.replace("y0.to(o0.dtype.element_ty), mask=mask", "y0.to(o0.dtype.element_ty)"),
    )
    assert not (room[1000:] == 7).all()


# --- values that are no ordinary numbers --------------------------------------------


@check
def ends_of_gates():
    x = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1e-45, 3e38, -3e38])
    for numbers in (
        (1.0, [0.0], [0.0, 1.0], [0.0, 0.0]),
        (INF, [0.0], [0.0, 1.0], [0.0, 0.0]),
        ([1.0, INF], [-1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]),
        (300.0, [1.0, -1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        (INF, [0.0, 0.0], [0.0, 5.0, 1.0], [0.0, 1.0, 0.0]),
        (1.0, [], [2.0], [1.0]),
    ):
        for learned in (False, True):
            given = [torch.tensor(p) if learned else p for p in numbers]
            found = {}
            for code in ("torch", "triton"):
                leaf = x.clone().requires_grad_()
                with choice.use(code):
                    y = functional.threshold_gate(leaf, *given)
                    (dx,) = torch.autograd.grad(y.sum(), leaf)
                assert y[0].isnan(), (numbers, code, y)
                assert dx[0].isnan(), (numbers, code, dx)
                assert not y[1:].isnan().any(), (numbers, code, y)
                assert not dx[1:].isnan().any(), (numbers, code, dx)
                found[code] = torch.cat([y.detach(), dx])[1:]
            a, b = (found[c].nan_to_num(5.0) for c in ("torch", "triton"))
            assert torch.allclose(a, b, rtol=1e-6, atol=1e-7), (numbers, learned, found)


def main() -> int:
    failed = 0
    only = sys.argv[1:]
    for function in CHECKS:
        if only and function.__name__ not in only:
            continue
        try:
            function()
        except Exception:
            failed += 1
            print(f"{function.__name__} failed", "".join(traceback.format_exc().splitlines(True)[-12:]))
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
