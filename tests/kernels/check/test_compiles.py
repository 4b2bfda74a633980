"""Every elementary function, and graphs made of them, compile for a card in both precisions."""

from __future__ import annotations

import linecache

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

HERE = ("exp", "expm1", "log", "log1p", "tanh", "high")
OTHERS = (
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
)  # fmt: skip
ALL = [f"m.{name}" for name in HERE] + [f"others.{name}" for name in OTHERS]
SUM = " + ".join(f"{name}(x)" for name in ALL) + " + m.divide(x, x) + others.power(x, x)"


def compiled(values, inputs, dtype):
    """The PTX of a kernel that stores ``values(x, ...)``; a text, as the kernels' sources are."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from gateproof.kernels import elementary, elementary_others

    names = ", ".join(f"i{k}" for k in range(inputs))
    loads = ", ".join(f"tl.load(i{k} + at)" for k in range(inputs))
    text = f"""{values}

@triton.jit
def kernel(out, {names}, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    found = values({loads})
    tl.store(out + at, found[0])
"""
    file = f"<compiled {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"m": elementary, "others": elementary_others, "tl": triton.language, "triton": triton}
    space = {**names, "__name__": "compiled"}
    exec(compile(text, file, "exec"), space)  # noqa: S102 - the text above
    pointers = dict.fromkeys(("out", *(f"i{k}" for k in range(inputs))), f"*{dtype}")
    source = ASTSource(
        space["kernel"], signature={**pointers, "BLOCK": "constexpr"}, constexprs={"BLOCK": 256}
    )
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_elementary_functions(dtype):
    text = f"@triton.jit\ndef values(x):\n    return ({SUM},)"
    assert f".f{dtype[2:]}" in compiled(text, 1, dtype)


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_a_gate_with_its_gradients(dtype):
    from gateproof.kernels.gate_graph import Shape, gradient_graph
    from gateproof.kernels.triton_source import values_source

    graph = gradient_graph(Shape(3, shared=False, hard=False), True)
    assert f".f{dtype[2:]}" in compiled(values_source(graph), graph.inputs, dtype)


def test_what_does_not_compile_is_seen():
    with pytest.raises(Exception, match="at "):
        compiled("@triton.jit\ndef values(x):\n    return (tl.sqrt_rn(x),)", 1, "fp64")
