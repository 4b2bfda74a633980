"""A Python file with the gate as a torch module that needs nothing but torch.

The text is made here; torch itself is not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateproof.numerics.fits.exports.about import About, header, nearby
from gateproof.numerics.fits.exports.form import Form, form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE, RefusedExport
from gateproof.numerics.fits.exports.text import Language, Text, TextOps
from gateproof.numerics.fits.exports.walk import gates
from gateproof.theory.gate import Gate

TENSORS = Language(
    number=repr,
    # abs has derivative 0 at 0, and exp(-|z|) does not: the file has its own.
    calls={
        "exp": "torch.exp", "expm1": "torch.expm1", "log1p": "torch.log1p", "abs": "_size", "max": "_larger",
    },
    choice="torch.where({}, {}, {})".format,
    clip="torch.clamp({0}, -{1}, {1})".format,
    define="{} = {}".format,
    scalar=False,
    atomic_choice=True,
)  # fmt: skip


class _Module(TextOps):
    """Parameters are the module's: tau, theta, slope and intercept, sharp thresholds apart."""

    def argument(self, k: int, t: Text) -> Text:
        tau = 0 if self.form.one_sharpness else k
        return Text(f"tau[{tau}]") * (t - Text(f"theta[{k}]"))

    def passed(self, k: int, x: Text) -> Text:
        return self.compare(x, ">", Text(f"steps[{k}]"))

    def between(self, k: int, up: list[Text], down: list[Text]) -> Text:
        # Training may move thresholds past one another: no exponential may then be of a positive number.
        tau = 0 if self.form.one_sharpness else k
        gap = Text(f"tau[{tau}]") * (Text(f"theta[{k + 1}]") - Text(f"theta[{k}]"))
        d = self.let(f"d{k + 2}", gap)
        q = self.let(f"q{k + 2}", -self.call("expm1", -self.call("abs", d)))
        ordered = self.compare(d, ">=", self.number(0.0))
        return self.select(ordered, up[k] * down[k + 1] * q, -(down[k] * up[k + 1] * q))

    def select(self, condition: Text, a: Text, b: Text) -> Text:
        # torch.where of two Python numbers has the default type.
        if (a.text, b.text) in {("1.0", "0.0"), ("0.0", "1.0")}:
            flag = condition if a.text == "1.0" else Text(f"~({condition.text})", 4, condition.names)
            return Text(f"{flag.at_least(5)}.to(work)", names=condition.names)
        return super().select(condition, a, b)

    def weighted_lines(self, found: Sequence[Any], key: str) -> Text:
        terms = [Text(f"{key}[{k}]") if g is None else g * Text(f"{key}[{k}]") for k, g in enumerate(found)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


def torch_code(gate: Gate, about: About) -> str:
    """The file's text. Raises RefusedExport for numbers outside the range of doubles."""
    form = form_of(gate, DOUBLE)
    how = "float64 is computed in float64, all else in float32 and rounded once."
    lines = header(form, about, how)
    try:
        lines.append(f"In float32 with u = 2^-{SINGLE.digits}: {nearby(form_of(gate, SINGLE))}.")
    except RefusedExport as error:
        lines.append(f"Use float64: {error}.")
    if any(form.hard):
        lines.append("Hard thresholds (tau = inf) have no derivative: training moves the lines only.")
    return _TEMPLATE.format(
        comment="\n".join(f"# {line}".rstrip() for line in lines),
        name="ThresholdGate" if about.name == "gate" else about.name,
        numbers="\n".join(_numbers(form)),
        centre=repr(form.centre),
        reach=repr(form.reach),
        body="\n".join(" " * 8 + line for line in _body(form)),
        k=form.branches,
        gates=gate.algebra,
    )


def _numbers(form: Form) -> list[str]:
    tau = form.tau[:1] if form.one_sharpness else form.tau
    shown = {"tau": tau, "theta": form.theta, "slope": form.slope, "intercept": form.intercept}
    return [f'    "{key}": [{_listed(values)}],' for key, values in shown.items()]


def _listed(values: Sequence[float]) -> str:
    return ", ".join('float("inf")' if v == float("inf") else repr(v) for v in values)


def _body(form: Form) -> list[str]:
    o = _Module(form, TENSORS)
    found = gates(o, o.name("x"), o.name("c"))
    m, v = o.weighted_lines(found, "slope"), o.weighted_lines(found, "intercept")
    lines = o.lines(Text("", names=m.names | v.names))
    if any(form.hard):
        lines.insert(0, "steps = _below(self.theta, work)")
    return [*lines, f"m = {m.text}", f"v = {v.text}"]


_TEMPLATE = """{comment}

import torch
from torch import nn

NUMBERS = {{
{numbers}
}}
CENTRE = {centre}
#: Every gate is 0 or 1 to all digits beyond.
REACH = {reach}


def _size(z):
    \"\"\"|z|, with derivative 1 at 0: exp(-_size(z)) is of one side there, as the choices below are.\"\"\"
    return torch.where(z >= 0.0, z, -z)


def _larger(a, b):
    return torch.where(a >= b, a, b)


def _below(theta, work):
    \"\"\"The largest numbers of a type that are not above theta: x > theta is decided exactly.\"\"\"
    near = theta.detach().to(work)
    down = torch.nextafter(near, torch.full_like(near, -float("inf")))
    return torch.where(near.to(torch.float64) > theta.detach().to(torch.float64), down, near)


class {name}(nn.Module):
    \"\"\"y = sum of K = {k} gates times lines, on a tensor of any shape; {gates} gates.

    Buffers in float64, or with ``trainable`` parameters in the default type; at least in float32, which
    ``half()`` and ``bfloat16()`` leave as they are. The result has the type of the input; integers count as
    the default type.
    \"\"\"

    def __init__(self, trainable=False, dtype=None, device=None):
        super().__init__()
        if dtype is None:
            dtype = torch.get_default_dtype() if trainable else torch.float64
        if dtype in (torch.float16, torch.bfloat16):
            dtype = torch.float32
        for key, values in NUMBERS.items():
            value = torch.tensor(values, dtype=dtype, device=device)
            if trainable:
                self.register_parameter(key, nn.Parameter(value))
            else:
                self.register_buffer(key, value)

    def _apply(self, fn, *args, **keywords):
        def kept(value):
            moved = fn(value)
            small = moved.dtype in (torch.float16, torch.bfloat16)
            return value.to(moved.device) if small else moved

        return super()._apply(kept, *args, **keywords)

    def extra_repr(self):
        return "branches={k}, gates='{gates}'"

    def forward(self, x):
        if x.is_complex():
            raise TypeError("{name} is a function of real numbers")
        kind = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        work = torch.float64 if kind == torch.float64 else torch.float32
        tau, theta = self.tau.to(work), self.theta.to(work)
        slope, intercept = self.slope.to(work), self.intercept.to(work)
        x = x.to(work)
        t = x - CENTRE
        c = torch.clamp(t, -REACH, REACH)
{body}
        # Far out one line is left. Its part alone carries gradients there, so that none is 0 times infinity.
        outer = torch.where(t > 0.0, slope[-1], slope[0])
        last = torch.where(t > 0.0, intercept[-1], intercept[0])
        s = torch.where(torch.isinf(t) & (outer == 0.0), torch.zeros_like(t), t)
        y = torch.where(torch.abs(t) <= REACH, m * c + v, outer * s + last)
        return y.to(kind)
"""
