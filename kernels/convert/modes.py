"""The modes 'fit' and 'trainable': a network is run once as it is, and then each place gets its gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert import swap
from gateproof.kernels.convert.calibrate import WAYS, Histogram, calibrated
from gateproof.kernels.convert.fitted import DEFAULT, fitted, read_branches
from gateproof.kernels.convert.given import certified, given_gate, read_gates
from gateproof.kernels.convert.groups import Watch
from gateproof.kernels.convert.kinds import KINDS, Kind
from gateproof.kernels.convert.plan import Plan, Site
from gateproof.kernels.convert.trainable import FAMILIES, LearnedGate, described, gate_of

_NO_OBJECT = "stays fixed: its code is no forward of a module's class, so that nothing can hold parameters"
Run = Callable[[], Any]


def checked(mode: str, branches: Any, calibrate: Any, families: Any, gates: Any, given: bool) -> str | None:
    """How to calibrate, None for not at all. Raises ValueError for options that mean nothing together."""
    way = "rms" if calibrate is True else None if calibrate in (None, False) else calibrate
    if way is not None and way not in WAYS:
        raise ValueError(
            f"convert: calibrate: True, False or one of {', '.join(WAYS)}, found {calibrate!r:.40}"
        )
    if way is not None and mode == "exact":
        raise ValueError(
            "convert: calibrate is for mode='fit' and mode='trainable'; exact gates have no choice"
        )
    if way is not None and not given:
        raise ValueError("convert: calibrate needs inputs=..., what the network is to be calibrated on")
    if read_gates(gates) and (mode == "exact" or not given):
        raise ValueError("convert: gates are for mode='fit' and mode='trainable', with inputs=...")
    if families not in FAMILIES:
        raise ValueError(f"convert: families: one of {', '.join(FAMILIES)}, found {families!r:.40}")
    read_branches(branches if not hasattr(branches, "keys") else 2, ())
    return way


def prepare(plan: Plan, model: nn.Module, run: Run | None, way: str | None, families: str) -> None:
    """Know all places, and give each its gate. ``run`` calls the network on its inputs."""
    plan.ks = read_branches(plan.branches, plan.names)
    plan.watch = Watch()
    if run is None:
        for _, module in _alone(plan, model):
            _probed(plan, module)
    else:
        run()
    if plan.mode == "exact":
        # Without inputs forwards are still to be looked at when they first run.
        plan.watch = plan.watch if run is None else None
        plan.restart()
        return
    plan.watch = None
    if way is not None and run is not None:
        for site in plan.sites.values():
            if (site.given or site.whole) and site.treatment.how != "exact":
                site.histogram = Histogram()
        plan.seeing = True
        run()
        plan.seeing = False
    settle(plan, way)
    if plan.mode == "trainable":
        attach(plan, model, families)
    _for_compilers(plan)
    plan.restart()
    plan.ready = True


def kind_of(site: Site) -> Kind | None:
    """The function at a place, where it is one of one number."""
    if site.inside:
        return None
    if site.whole is not None:
        whole: Kind = site.whole
        return whole
    return None if site.given is None else KINDS[site.given[0]](*site.given[1])


def settle(plan: Plan, way: str | None) -> None:
    """The gate of each place: groups first, since calls in one without a gate are treated by themselves."""
    used = set[str]()
    for key, site in sorted(plan.sites.items(), key=lambda item: item[1].whole is None):
        kind = kind_of(site)
        if kind is None:
            continue
        own = given_gate(plan.gates, kind.name, site.owner)
        if own is not None:
            used.add(own)
            site.treatment = certified(kind, plan.gates[own], "gate given,")
        if own is not None or site.treatment.how == "exact":
            continue
        k = plan.ks.get(site.owner, DEFAULT)
        if way is None or site.histogram is None:
            site.treatment = fitted(kind, k)
        else:
            site.treatment = calibrated(kind, k, site.histogram, way)
        site.histogram = None
        if site.whole is not None and site.treatment.form is None:
            _apart(plan, key, site)
    if unused := [key for key in plan.gates if key not in used]:
        all_kinds = (kind_of(s) for s in plan.sites.values())
        kinds = sorted({one.name for one in all_kinds if one is not None})
        raise ValueError(
            f"convert: gates: nothing is of kind {unused[0]!r} or in a module of that name; "
            f"kinds here are {', '.join(kinds)}"
        )
    for owner, steps in plan.steps.items():
        for n, step in steps.items():
            if step.group >= 0:
                found = plan.group_sites[owner, step.group]
                steps[n] = replace(step, form=found.treatment.form)


def _apart(plan: Plan, key: Any, site: Site) -> None:
    """A group that stays: its calls are treated one by one, and it has a row if some of them have none."""
    for part in site.parts:
        part.inside = False
        part.group = f"{site.kind}: {site.treatment.words}"
    steps = plan.steps.get(site.owner, {})
    for n, step in steps.items():
        # What is made after all is made where it stands.
        steps[n] = replace(step, lazy=False)
    if not site.unseen:
        del plan.sites[key]


def attach(plan: Plan, model: nn.Module, families: str) -> None:
    """The gates' numbers become parameters of the modules whose code has the calls."""
    modules = dict(model.named_modules())
    like = next((p for p in model.parameters() if p.is_floating_point()), None)
    for site in plan.sites.values():
        kind, t = kind_of(site), site.treatment
        if kind is None or t.form is None:
            continue
        form = t.form
        if form[0] not in ("pieces", "gate", "two_branches"):
            # An exact gate of another algebra: the nearest of this one is what learns.
            t = fitted(kind, plan.ks.get(site.owner, DEFAULT), keep=False)
            form = t.form or form
        module = modules.get(site.owner)
        own = (
            None
            if module is None
            else next((p for p in module.parameters(False) if p.is_floating_point()), like)
        )
        gate = gate_of(form, families, own)
        if module is None or gate is None or not _holds(module):
            site.treatment = replace(t, words=f"{t.words}; {_NO_OBJECT}")
            continue
        site.gate = _free(module)
        module.add_module(site.gate, gate)
        site.treatment = replace(t, how="trainable", words=f"{t.words}; {described(gate)} in {site.gate}")
    for owner, steps in plan.steps.items():
        for n, step in steps.items():
            if step.group >= 0:
                steps[n] = replace(step, gate=plan.group_sites[owner, step.group].gate)


def _holds(module: nn.Module) -> bool:
    """Whether calls know the object that their code belongs to."""
    return (
        swap.is_converted(module)
        and "forward" not in module.__dict__
        and not isinstance(module, torch.jit.ScriptModule)
    )


def _free(module: nn.Module) -> str:
    n = 0
    while hasattr(module, f"gate_{n}"):
        n += 1
    return f"gate_{n}"


def detach(modules: Iterable[nn.Module]) -> None:
    """Take the gates' parameters away from converted modules again."""
    for module in modules:
        for name in [n for n, child in module.named_children() if isinstance(child, LearnedGate)]:
            delattr(module, name)


def _for_compilers(plan: Plan) -> None:
    for owner, kinds in plan.order.items():
        plan.choices[owner] = {
            given: tuple((s.treatment.form, s.gate) for s in sites)
            for given, sites in kinds.items()
            if all(s is not None for s in sites)
        }


def _alone(plan: Plan, model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Modules that may be functions of one tensor and nothing else."""
    for name, module in model.named_modules():
        own = plan.mode == "trainable" or not type(module).__module__.startswith("torch.")
        held = (*module.children(), *module.parameters(), *module.buffers())
        if own and not held and swap.is_converted(module):
            yield name, module


def _probed(plan: Plan, module: nn.Module) -> None:
    """Run a copy of it on a few numbers, to know what it calls. Nothing is learnt of one that fails."""
    before = dict(plan.sites)
    try:
        copy = deepcopy(module, {id(plan): plan}).eval()
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            found = type(copy).forward(copy, torch.linspace(-3.0, 3.0, 16).reshape(2, 2, 2, 2))
    except Exception:
        found = None
    if not isinstance(found, torch.Tensor):
        plan.sites.clear()
        plan.sites.update(before)
