"""Which operations are checked, and their error budgets.

Budgets come from docs/kernels-accuracy.md: 4 units in the last place for gates, 8 for products of tanh and
sech and for what is made of several functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

GATE, SEVERAL = 4.0, 8.0


@dataclass(frozen=True)
class Checked:
    """An operation given by a formula of one input, or of two that are multiplied; ``kinks`` get inputs."""

    name: str
    text: str
    budget: float
    kinks: tuple[float, ...] = ()
    #: Formulas of gradients that are stated apart from the value's, by the input's name.
    slopes: tuple[tuple[str, str], ...] = ()
    #: The function that users call, where that is not ``compile_kernel(text)``, and what follows its tensors.
    public: str = ""
    arguments: tuple[Any, ...] = ()
    #: Whether it has a value at every number, and not only at positive ones.
    everywhere: bool = True


CHECKED = (
    Checked("sigmoid", "sigmoid(x)", GATE),
    Checked("silu", "silu(x)", GATE),
    Checked("quick_gelu", "quick_gelu(x)", GATE),
    Checked("gelu", "gelu(x)", SEVERAL),
    Checked("gelu_tanh", "gelu_tanh(x)", SEVERAL),
    Checked("tanh", "tanh(x)", GATE),
    Checked("memglu_gate", "memglu(x)", SEVERAL, (0.55, -0.55)),
    Checked("softplus", "softplus(x)", GATE),
    Checked("mish", "x*tanh(softplus(x))", SEVERAL),
    Checked("relu", "relu(x)", GATE, (0.0,)),
    Checked("relu6", "relu6(x)", GATE, (0.0, 6.0)),
    Checked("hardtanh", "hardtanh(x)", GATE, (-1.0, 1.0)),
    Checked("hardsigmoid", "hardsigmoid(x)", GATE, (-3.0, 3.0)),
    Checked("hardswish", "hardswish(x)", GATE, (-3.0, 0.0, 3.0)),
    Checked("elu", "elu(x)", GATE, (0.0,)),
    Checked("acosh_of_sum", "acosh(x + 2)", SEVERAL, (-1.0,), everywhere=False),
    Checked("half_power", "x**3.5", SEVERAL, (0.0,), everywhere=False),
    Checked(
        "soft_threshold_exact",
        "soft_threshold(x)",
        GATE,
        (-0.5, 0.5, 0.0),
        public="soft_threshold",
        arguments=(0.5, 1.0, "exact"),
    ),
    Checked(
        "soft_threshold",
        "soft_threshold(x, 1/2)",
        GATE,
        (-0.5, 0.5, 0.0),
        (("x", "two_sided_surrogate(x, 1/2, 4)"),),
        "soft_threshold",
        (0.5, 4.0),
    ),
    *(
        Checked(
            f"soft_threshold_{mode}",
            "soft_threshold(x, d)",
            GATE,
            (0.0,),
            (("x", "two_sided_surrogate(x, d, 4)"), ("d", f"two_sided_surrogate_delta{ending}(x, d, 4)")),
            f"soft_threshold {mode}",
        )
        for mode, ending in (("surrogate", ""), ("debiased", "_debiased"))
    ),
    Checked("swiglu", "silu(g)*u", GATE, public="swiglu"),
    Checked("memglu", "memglu(g)*u", SEVERAL, (0.55, -0.55), public="memglu"),
    Checked("geglu", "gelu(g)*u", SEVERAL, public="geglu"),
    Checked("swiglu_packed", "silu(g)*u", GATE, public="swiglu_packed"),
    Checked("memglu_packed", "memglu(g)*u", SEVERAL, (0.55, -0.55), public="memglu_packed"),
    Checked("geglu_packed", "gelu(g)*u", SEVERAL, public="geglu_packed"),
    *(
        Checked(f"{name}_glu", f"{name}(g{texts})*u", budget, (0.875,), (), f"{name}_glu", numbers)
        for name, texts, budget, numbers in (
            ("silu_hard_removal", ", 7/8", GATE, (0.875,)),
            ("silu_positive_cap", ", 7/8", GATE, (0.875,)),
            ("silu_smooth_attenuation", ", 7/8, 1/2, 1", SEVERAL, (0.875, 0.5, 1.0)),
        )
    ),
)


def call_of(checked: Checked) -> Callable[..., Any]:
    """The function that users call."""
    if checked.public.startswith("soft_threshold "):
        return _learned(checked.public.split()[1])
    if checked.public:
        from gateproof.kernels import functional

        found: Callable[..., Any] = getattr(functional, checked.public)
        if checked.public.endswith("_packed"):
            return lambda g, u: found(side_by_side(g, u)).reshape(-1)
        return lambda *tensors: found(*tensors, *checked.arguments)
    from gateproof.kernels.formula_kernel import compile_kernel

    return compile_kernel(checked.text)


def side_by_side(g: Any, u: Any) -> Any:
    """One row that holds both halves."""
    import torch

    return torch.cat([g, u]).reshape(1, -1)


def _learned(mode: Any) -> Callable[..., Any]:
    """A soft threshold with a delta an element, which makes the gradient in delta one an element too."""
    from gateproof.kernels.functional import soft_threshold

    return lambda x, d: soft_threshold(x.reshape(1, -1), d, 4.0, mode).reshape(-1)
