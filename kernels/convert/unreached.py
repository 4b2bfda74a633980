"""What a conversion cannot reach, listed before anything runs: quantised modules."""

from __future__ import annotations

from torch import nn

from gateproof.kernels.convert.census_ops import WORDS
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import Plan, Site

QUANTISED = (
    "quantised: its activation is part of an integer kernel; convert the float network it was made from"
)


def list_unreached(plan: Plan, model: nn.Module) -> None:
    """A row for each quantised module that computes a nonlinearity."""
    for name, module in model.named_modules():
        cls = type(module)
        if not (cls.__module__.startswith("torch.") and ".quantized" in cls.__module__):
            continue
        kind = _named(cls.__name__)
        if kind is not None:
            site = Site(
                name, kind, f"{cls.__module__}.{cls.__qualname__}", "", kept(), plan.names.get(name, ())
            )
            plan.sites[name, kind, "quantised", None] = site


def _named(name: str) -> str | None:
    """The nonlinearity in a class's name: a word of it starts with a capital, as ReLU in LinearReLU."""
    low = name.lower()
    found = (w for w in sorted(WORDS, key=len, reverse=True) if w in low and name[low.index(w)].isupper())
    return next(found, None)


def kept() -> Treatment:
    """A quantised nonlinearity stays."""
    return Treatment("kept", QUANTISED, None)
