"""From what was found in a network's first run to what is done at each place: by mode, before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gateproof.kernels.convert.forms import Treatment, finite, plain, run, treated
from gateproof.kernels.convert.groups import Group
from gateproof.kernels.convert.kinds import Kind
from gateproof.kernels.convert.nodes import POINTS, Node, side, values
from gateproof.kernels.convert.plan import Plan, Site
from gateproof.kernels.convert.steps import Step, module_of
from gateproof.numerics.fits.exact import Exact, NotFinite, everywhere
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.target_text import of_text

_NOT_AT_HAND = "its input is not at hand where its last call is, so its calls are treated one by one"


def place_groups(plan: Plan, groups: list[Group]) -> None:
    """Rows and steps for the groups of a forward that has run for the first time."""
    roots = list({id(g.node.root): g.node.root for g in groups}.values())
    for group in groups:
        lines = [m.place for m in group.node.members() if m.place is not None]
        plan.formulas |= {(module_of(group.owner), f"{Path(file).name}:{line}") for file, line, _ in lines}
        at = -1 - roots.index(group.node.root)
        if plan.mode == "exact":
            _exact(plan, group, at)
        else:
            _whole(plan, group, at)


def _exact(plan: Plan, group: Group, at: int) -> None:
    """Calls with handlers are converted one by one, which keeps their roundings; others as a whole."""
    text = f"{group.kind.name}: {group.kind.formula}" if group.named else group.kind.formula
    for site in group.node.sites:
        site.group = text
    if not group.node.unseen:
        return
    found = exact_group(group)
    if found.how == "exact" and not group.ready:
        found = Treatment("kept", f"{found.words}, but {_NOT_AT_HAND}", None, found.formula)
    _add(plan, group, found, at)


def _whole(plan: Plan, group: Group, at: int) -> None:
    """The whole group is to be one gate, if its input is at hand."""
    if not group.ready:
        for site in group.node.sites:
            site.group = f"{group.kind.formula} ({_NOT_AT_HAND})"
        if group.node.unseen:
            _add(plan, group, Treatment("kept", _NOT_AT_HAND, None, group.kind.formula), at)
        return
    found = exact_group(group)
    _add(plan, group, found, at)
    for site in group.node.sites:
        site.group, site.inside = group.kind.formula, True


def _add(plan: Plan, group: Group, found: Treatment, at: int) -> None:
    """The group's row, and what is done at its calls; ``at`` numbers its root."""
    number = len(plan.group_sites)
    file, line, _ = group.node.place
    owner = module_of(group.owner)
    # What runs in a loop is one activation.
    key = (group.owner, "group", group.kind.formula, group.ready, group.node.place)
    site = plan.sites.setdefault(key, Site(
        owner, group.kind.name, group.kind.formula, f"{Path(file).name}:{line}", found,
        plan.names.get(owner, (owner,)), whole=group.kind if group.ready else None,
        parts=group.node.sites, unseen=group.node.unseen,
    ))  # fmt: skip
    plan.group_sites[group.owner, number] = group.node.row = site
    if not group.ready:
        return
    steps = plan.steps.setdefault(group.owner, {})
    members, root = group.node.members(), group.node.root
    assert root is not None
    gone = plan.mode != "exact" or found.form is not None
    private = gone and not any(m.at[2].endswith("_") for m in members)
    for m in members:
        assert m.at[1] is not None
        lazy = private and m.dtype == root.dtype and all(r in members for r in m.readers)
        before = steps.get(m.at[1])
        own = Step(m.at[2], m.plain, tuple(_reads(m, at)), lazy=lazy, at=at)
        steps[m.at[1]] = own if before is None else replace(before, lazy=before.lazy and lazy)
    last = group.node.at[1]
    assert last is not None
    steps[last] = replace(steps[last], group=number, at=at, form=found.form, lazy=False)


def _reads(node: Node, root: int) -> Iterator[tuple[int, int]]:
    given = () if node.made is None else node.made[1]
    for i, g in enumerate(given):
        if isinstance(g, Node) and g.root is not None:
            yield i, root if g.made is None else int(g.at[1] or 0)


def exact_group(group: Group) -> Treatment:
    """The exact gate of a group, with the sides of its kinks as the calls have them, or why it has none."""
    try:
        found = everywhere(of_text(group.kind.formula))["difference"]
    except RefusedTarget as refused:
        return Treatment("kept", f"no gate is this function: {refused}", None, group.kind.formula)
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
    x = np.concatenate([POINTS, np.array(theta, dtype=np.float64)])
    own, y = values(group.node, x), run(made.form, torch.tensor(x)).numpy()  # type: ignore[arg-type]
    return bool(np.all(np.abs(own - y) <= 1e-12 * (1 + np.abs(own))))
