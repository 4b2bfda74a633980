"""Products of a gate with another tensor: SwiGLU, GEGLU, squeeze and excitation, recurrent cells by hand.

A gate of x is sum_k w_k(x) (s_k x + c_k), so its product with u is the gate with slopes s_k u and intercepts
c_k u: a gate whose lines are computed numbers. The product itself stays PyTorch's; it has a row of its own,
converted as its gate is.
"""

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import Plan, Site, handles
from gateproof.kernels.convert.running import current_owner, place_of_call

KIND, SPELLED = "gate product", "torch.mul"
#: From what is proved to what is not; a product is as its weakest factor.
_ORDER = ("exact", "link", "fit", "trainable", "kept")
_UNKNOWN = Treatment("kept", "product of a nonlinearity and another tensor; no row names the first", None)


@handles(torch.mul, torch.multiply, torch.Tensor.mul, torch.Tensor.multiply, torch.Tensor.mul_,
         torch.Tensor.multiply_)  # fmt: skip
def _multiplied(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not torch.compiler.is_compiling() and plan.products:
        here = plan.products.get(current_owner())
        site = None if here is None else here.get(place_of_call())
        if site is not None:
            site.calls += 1
            if plan.touched is not None:
                plan.touched.append(site)
    return function(*args, **kwargs)


def found(plan: Plan, owner: str, place: tuple[str, int, int], line: str, factors: list[Any]) -> None:
    """A product that a forward makes where it is looked at; ``factors``: nodes or sites of its gates."""
    here = plan.products.setdefault(owner, {})
    if place not in here:
        names = plan.names.get(owner, (owner,))
        site = Site(owner, KIND, SPELLED, line, _UNKNOWN, names, parts=tuple(factors))
        here[place] = plan.sites[owner, KIND, SPELLED, place] = site


def settle(plan: Plan) -> None:
    """Each product is treated as its gates are now."""
    for here in plan.products.values():
        for site in here.values():
            site.treatment = _treated([s for s in site.parts if isinstance(s, Site)])


def _treated(gates: list[Site]) -> Treatment:
    if not gates:
        return _UNKNOWN
    how = max((s.treatment.how for s in gates), key=_ORDER.index)
    kinds = " and ".join(dict.fromkeys(_label(s) for s in gates))
    formulas = [_formula(s) for s in gates]
    formula = f"u*({formulas[0]})" if len(formulas) == 1 else "*".join(f"({f})" for f in formulas)
    if how == "kept":
        return Treatment(
            "kept", f"product of {kinds} and another tensor; that is no gate here", None, formula
        )
    words = f"{kinds} with lines times the other factor u: slopes s u, intercepts c u"
    if how == "fit":
        words += "; its error is the gate's times |u|"
    return Treatment(how, words, ("product",), formula)


def of_script(gates: list[Site]) -> Treatment:
    """A product in TorchScript: of which of the script's gates is not told."""
    how = max((s.treatment.how for s in gates), key=_ORDER.index)
    words = (
        "product of a gate of this script and another tensor, seen by the dispatcher: its lines times that"
    )
    return Treatment(how, words, ("product of a script",))


def _formula(site: Site) -> str:
    name, _, formula = site.group.partition(": ")
    return formula or site.treatment.formula or name or site.kind


def _label(site: Site) -> str:
    name = site.group.partition(":")[0] if ":" in site.group else ""
    where = f" in {site.owner}" if site.owner else f" ({site.line})" if site.line else ""
    return f"gate of {name or site.kind}{where}"
