"""From what was found in a network's first run to what is done at each place: by mode, before it is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gateproof.kernels.convert.fitted import fitted
from gateproof.kernels.convert.forms import Treatment, finite, plain, run, treated
from gateproof.kernels.convert.groups import Group, points, side, values
from gateproof.kernels.convert.kinds import Kind
from gateproof.kernels.convert.plan import Plan, Site
from gateproof.kernels.convert.steps import Step
from gateproof.numerics.fits.exact import Exact, NotFinite, everywhere
from gateproof.numerics.fits.target_text import of_text

_NOT_AT_HAND = "its input is not at hand where its last call is, so its calls are treated one by one"


def place_groups(plan: Plan, groups: list[Group]) -> None:
    """Rows and steps for the groups of a forward that has run for the first time."""
    for group in groups:
        if plan.mode == "exact":
            _exact(plan, group)
        else:
            _whole(plan, group)


def _exact(plan: Plan, group: Group) -> None:
    """Calls with handlers are converted one by one, which keeps their roundings; others as a whole."""
    text = f"{group.kind.name}: {group.kind.formula}" if group.named else group.kind.formula
    for site in group.sites:
        site.group = text
    if not group.node.unseen:
        return
    found = exact_group(group)
    if found.how == "exact" and group.stash is None:
        found = Treatment("kept", f"{found.words}, but {_NOT_AT_HAND}", None, found.formula)
    _add(plan, group, found)


def _whole(plan: Plan, group: Group) -> None:
    """The whole group is to be one gate, if its input is at hand."""
    if group.stash is None:
        for site in group.sites:
            site.group = f"{group.kind.formula} ({_NOT_AT_HAND})"
        if group.node.unseen:
            _add(plan, group, Treatment("kept", _NOT_AT_HAND, None, group.kind.formula))
        return
    found = exact_group(group)
    _add(plan, group, found)
    for site in group.sites:
        site.group, site.inside = group.kind.formula, True


def _add(plan: Plan, group: Group, found: Treatment) -> None:
    """The group's row, and what is done at its calls."""
    number = len(plan.group_sites)
    file, line, _ = group.place
    site = Site(
        group.owner, group.kind.name, group.kind.formula, f"{Path(file).name}:{line}", found,
        plan.names.get(group.owner, (group.owner,)),
    )  # fmt: skip
    site.whole = group.kind
    plan.sites[group.owner, "group", number] = site
    plan.group_sites[group.owner, number] = site
    if group.stash is None or (plan.mode == "exact" and found.form is None):
        return
    steps = plan.steps.setdefault(group.owner, {})
    first, argument, name = group.stash
    n, last = group.last
    before = steps.get(first, Step(name))
    steps[first] = replace(before, stash=(*before.stash, (number, argument)))
    steps[n] = replace(steps.get(n, Step(last)), group=number, form=found.form)


def exact_group(group: Group) -> Treatment:
    """The exact gate of a group, with the sides of its kinks as the calls have them, or why it has none."""
    found = everywhere(of_text(group.kind.formula))["difference"]
    gate = found.gate if isinstance(found, Exact) else found.near if isinstance(found, NotFinite) else None
    kind = group.kind
    if gate is None:
        return treated(kind)
    if all(gate.hard) and gate.theta:
        theta, slope, _ = plain(gate)
        sides = tuple(side(group.node, t, a, b) for t, a, b in zip(theta, slope[:-1], slope[1:], strict=True))
        if any(s is None for s in sides):
            return Treatment("kept", "its gradient at a kink is that of neither line", None, kind.formula)
        kind = Kind(kind.name, kind.formula, tuple(s for s in sides if s is not None))
    made = finite(gate, kind)
    return made if made.form is None or _same(group, made, gate) else treated(group.kind)


def _same(group: Group, made: Treatment, gate: Any) -> bool:
    """Whether the gate has the values of the calls, at its kinks too."""
    theta = plain(gate)[0] if gate.theta else ()
    x = np.concatenate([points(), np.array(theta, dtype=np.float64)])
    own, y = values(group.node, x), run(made.form, torch.tensor(x)).numpy()  # type: ignore[arg-type]
    return bool(np.all(np.abs(own - y) <= 1e-12 * (1 + np.abs(own))))


def treat_groups(plan: Plan) -> None:
    """In the modes with fits: the gates of groups that are not exact ones."""
    for (owner, number), site in plan.group_sites.items():
        steps = plan.steps.get(owner, {})
        at = next((n for n, step in steps.items() if step.group == number), None)
        if at is None:
            continue
        if site.treatment.how != "exact" or site.histogram is not None:
            site.treatment = fitted(site.whole, plan.ks.get(owner, 2))
        steps[at] = replace(steps[at], form=site.treatment.form)
