"""Which gate a call of a known kind becomes, by mode and place, in Python and in a compiler."""

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.convert.fitted import DEFAULT, fit_of
from gateproof.kernels.convert.forms import Form, Treatment, exact, exact_form
from gateproof.kernels.convert.plan import Given, Plan, Site
from gateproof.kernels.convert.running import current_owner, running

_LATE = "found after the conversion, so that it has no parameters; give inputs that reach it"


def chosen(
    plan: Plan, kind: str, numbers: tuple[Any, ...], spelled: str, x: torch.Tensor
) -> tuple[Form | None, Any]:
    """The form of the gate, None where the call stays as it is; and the module that has its parameters."""
    given: Given = (kind, numbers)
    site = plan.site(kind, spelled, lambda: _found(plan, given), given)
    if plan.mode == "exact":
        return exact_form(kind, numbers) if site is None else site.treatment.form, None
    frame = running()
    n = frame.calls.get(given, 0)
    frame.calls[given] = n + 1
    if site is not None:
        if not plan.ready:
            _noted(plan, frame.owner, given, n, site, x)
        return site.treatment.form, getattr(frame.module, site.gate) if site.gate else None
    known = plan.choices.get(frame.owner)
    forms = None if known is None else known.get(given)
    if forms is None:
        return _default(plan, frame.owner, given), None
    form: Form | None
    form, gate = forms[n if n < len(forms) else -1]
    return form, getattr(frame.module, gate) if gate else None


def _found(plan: Plan, given: Given) -> Treatment:
    """What becomes of a call that was not seen before."""
    own = exact(*given)
    if plan.mode == "exact" or not plan.ready:
        return own
    if plan.mode == "fit":
        return fit_of(*given, plan.ks.get(current_owner(), DEFAULT))
    return Treatment(own.how, f"{own.words}; {_LATE}", own.form, own.formula, own.gate)


def _noted(plan: Plan, owner: str, given: Given, n: int, site: Site, x: torch.Tensor) -> None:
    """A call in a run that the conversion makes to know all places."""
    order = plan.order.setdefault(owner, {}).setdefault(given, [])
    if n < len(order):
        # Another way through the code: a compiler could not tell which place it is.
        order[n] = site if order[n] is site else None
    else:
        order.append(site)
    if plan.seeing and site.histogram is not None:
        site.histogram.add(x)


def _default(plan: Plan, owner: str, given: Given) -> Form | None:
    found: Form | None
    if plan.mode == "fit":
        found = fit_form(given[0], given[1], plan.ks.get(owner, DEFAULT))
    else:
        found = exact_form(given[0], given[1])
    return found


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator, unused-ignore]
def fit_form(kind: str, numbers: tuple[Any, ...], branches: int) -> Form | None:
    """The form of a fitted kind as a constant."""
    return fit_of(kind, numbers, branches).form
