"""The census of a conversion: counts of both runs beside each other and beside the report's own sites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.kernels.convert import products
from gateproof.kernels.convert.census import WITHIN, Counting, Place
from gateproof.kernels.convert.forms import INTEGERS, Treatment
from gateproof.kernels.convert.plan import Plan, Site
from gateproof.kernels.convert.products import KIND as PRODUCT


def _summed(found: Mapping[tuple[Place, str], int]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for (_, name), n in found.items():
        total[name] += n
    return dict(sorted(total.items()))


@dataclass(frozen=True)
class Census:
    """What the dispatcher ran: counts by operator.

    ``original``: nonlinearities of the network as it was; ``left``: those that the converted one still runs;
    ``gates``: operators of this package that it runs instead. ``missed``: places where one is left that no
    handler reported as kept. ``unlisted``: places of the original's that no handler reported at all (both
    have rows in the report all the same). ``differing``: places where the report counts another number of
    calls than the dispatcher, or fewer products. ``elementary``: exp, log, sin and the like, by place, which
    are no activations by themselves; ``products``: by place those of a gate with another tensor;
    ``excluded``: by rule (norms, pooling, losses, integers). ``ran`` is False, with ``why``, where there was
    nothing to run.
    """

    ran: bool
    why: str = ""
    original: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    gates: Mapping[str, int] = field(default_factory=dict)
    missed: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    elementary: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    excluded: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Whether it ran, nothing was missed or unlisted, and all calls are counted alike."""
        return self.ran and not (self.missed or self.unlisted or self.differing)

    def __str__(self) -> str:
        if not self.ran:
            return f"census: not run: {self.why}"
        lines = [
            f"census of the dispatcher's operators, eager: missed: {len(self.missed)}",
            f"  original   {_text(self.original)}",
            f"  left       {_text(self.left)}",
            f"  gates      {_text(self.gates)}",
        ]
        if self.products:
            lines.append(f"  products   of a gate and another tensor, at {len(self.products)} places")
        for name in ("missed", "unlisted", "differing", "elementary"):
            lines += [f"  {name:10} {one}" for one in getattr(self, name)]
        lines += [f"  excluded   {rule}: {_text(found)}" for rule, found in self.excluded.items()]
        return "\n".join(lines)


def _text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"


#: Operators that several of make one call, or that one makes of several calls.
_MANY = ("softmax", "attention", "rnn", "lstm", "gru", "transformer", "[", "encoder", "foreach")


def compared(before: Counting, after: Counting, sites: Collection[Site]) -> Census:
    """The census of a conversion from the counts of both runs, on the same inputs, and the sites it found."""
    original, left, made = before.of("nonlinear"), after.of("nonlinear"), before.of("products")
    others = {k: _summed(v) for k, v in before.counts.items() if k not in _LISTED}
    gates, multiplied = _apart(sites)
    made = _cells_own(made, gates)
    return Census(
        ran=True,
        original=_summed(original),
        left=_summed(left),
        gates=_summed(after.of("gate")),
        missed=tuple(_lines(one for one in left.items() if not _kept(gates, *one[0]))),
        unlisted=tuple(
            _lines(
                [one for one in original.items() if not _named(gates, one[0][0])]
                + [one for one in made.items() if not _named(multiplied, one[0][0])]
            )
        ),
        differing=(*_differing(original, gates), *_differing(made, multiplied, more=True)),
        elementary=tuple(_lines(before.of("elementary").items())),
        products=tuple(_lines(made.items())),
        excluded=dict(sorted(others.items())),
    )


#: Kinds of counts that have fields of their own.
_LISTED = ("nonlinear", "elementary", "activations", "products", "gate")


def _apart(sites: Collection[Site]) -> tuple[list[Site], list[Site]]:
    """Sites of nonlinearities of real numbers, and those of their products."""
    gates = [s for s in sites if s.kind != PRODUCT and not s.treatment.words.startswith(INTEGERS)]
    return gates, [s for s in sites if s.kind == PRODUCT]


def silent(counting: Counting, sites: Collection[Site]) -> dict[str, list[Any]]:
    """By owner the operators of nonlinearities that no site reports as kept."""
    found: dict[str, list[Any]] = {}
    for place, name in counting.of("nonlinear"):
        if not _kept(sites, place, name):
            found.setdefault(place.owner, []).append(counting.operators[name])
    return found


_SEEN = "the dispatcher runs it here, and no function that a gate replaces has called it"
_GUARD = "chosen where numbers are equal: a guard or a mask, no gate"
_ELEMENTARY = "elementary, kept: no gate of finitely many branches is this function"
_POWER = "a power, not an activation, kept: no part of a norm, a distance or a formula that has a row"
_PRODUCT = "product of a nonlinearity and another tensor, seen by the dispatcher alone"


def listed(plan: Plan, before: Counting, after: Counting) -> None:
    """Adds a row for each nonlinearity that the dispatcher runs and no row names, so that none is silent.

    Elementary functions of what depends on parameters or on the network's inputs are among them: activations
    such as a sine, or parts of a formula, and powers that are no parts of norms; roots and quotients are not.
    """
    gates, multiplied = _apart(plan.sites.values())
    rows = {at: n for at, n in after.of("nonlinear").items() if not _kept(gates, *at)}
    for at, n in before.of("nonlinear").items():
        if not _named(gates, at[0]):
            rows.setdefault(at, n)
    rows.update(before.of("guards"))
    for at, n in rows.items():
        _row(plan, at, n, _GUARD if "[equality]" in at[1] else _SEEN)
    for at, n in after.of("activations").items():
        # What only the converted network runs belongs to its gates' parameters.
        if at in before.of("activations") and not _within(gates, *at):
            _row(plan, at, n, _ELEMENTARY)
    elementary = {place for place, _ in before.of("activations")}
    for at, n in before.powers.found().items():
        place, name = at
        formula = (place.owner, place.line) in plan.formulas or place in elementary
        if not formula and not _within(gates, place, name):
            _row(plan, at, n, _POWER, "power")
    for at, n in _cells_own(after.of("products"), gates).items():
        if not _named(multiplied, at[0]):
            _row(plan, at, n, _PRODUCT, PRODUCT)


def listed_products(plan: Plan, after: Counting) -> None:
    """Rows for products in what calls no function, TorchScript: the dispatcher alone sees them."""
    for at, n in after.of("products").items():
        place, _ = at
        own = [s for s in plan.sites.values() if s.owner == place.owner and s.treatment.form is not None]
        if place.owner in plan.through and own and place not in after.ungated:
            _row(plan, at, n, _PRODUCT, PRODUCT)
            site = plan.sites[place.owner, "dispatched", at[1], place.line]
            site.treatment = products.of_script(own)


def _within(sites: Collection[Site], place: Place, name: str) -> bool:
    """Whether the elementary function is part of a formula that has a row."""
    name = name.removesuffix("_")
    own = {name, {"log1p": "log", "expm1": "exp", "exp2": "exp"}.get(name, name)}
    # A formula may have several lines; the row of one that is kept names the last.
    here = (s for s in sites if _at(s, place) or (s.owner == place.owner and s.treatment.form is None))
    texts = (f"{s.spelled} {s.group}" for s in here)
    return any(own.intersection(re.findall("[a-z0-9]+", text)) for text in texts)


def _cells_own(made: Counter[tuple[Place, str]], sites: Collection[Site]) -> Counter[tuple[Place, str]]:
    """The products less those that a recurrent layer or cell, or a GLU, makes of its own gates."""
    layers = [s for s in sites if any(w in s.spelled.lower() for w in ("lstm", "gru", "rnn", ".glu"))]
    return Counter({at: n for at, n in made.items() if not _named(layers, at[0])})


def _row(plan: Plan, at: tuple[Place, str], n: int, words: str, kind: str = "") -> None:
    place, name = at
    key = (place.owner, "dispatched", name, place.line)
    if key not in plan.sites:
        names = plan.names.get(place.owner, (place.owner,))
        spelled = f"torch.ops.{name.replace('::', '.') if '::' in name else f'aten.{name}'}"
        treatment = Treatment("kept", words, None)
        plan.sites[key] = Site(place.owner, kind or name, spelled, place.line, treatment, names, n)


def _lines(found: Iterable[tuple[tuple[Place, str], int]]) -> Iterator[str]:
    for (place, name), n in sorted(found):
        yield f"{place}: {n} {name}"


#: Kinds that PyTorch computes by operators of other names.
_BY = {
    "selu": "elu",
    "celu": "elu",
    "softsign": "abs",
    "relu6": "hardtanh",
    "maximum": "max",
    "minimum": "min",
}


def _kept(sites: Collection[Site], place: Place, name: str) -> bool:
    """Whether a site says that this operator was kept here."""
    words = set(name.removesuffix("_").replace("::", "_").split("_"))
    many = any(word in name for word in _MANY)
    for s in sites:
        if s.treatment.form is None and _at(s, place):
            own = {*s.kind.removesuffix("_").replace("::", "_").split("_"), _BY.get(s.kind)}
            # A group is told by its formula.
            own |= set(re.findall("[a-z]+", s.spelled)) if s.whole is not None or s.unseen else set()
            if many or words & own:
                return True
    return False


def _named(sites: Collection[Site], place: Place) -> bool:
    return any(_at(s, place) for s in sites)


def _at(site: Site, place: Place) -> bool:
    """Whether a site is at a place.

    The code of a hook or a helper belongs to the module that runs or to the one around it: of the same line
    either will do.
    """
    if site.owner == place.owner:
        return site.line in ("", place.line)
    a, b = sorted((site.owner, place.owner), key=len)
    return bool(site.line) and site.line == place.line and (not a or b.startswith(f"{a}."))


def _differing(
    original: Counter[tuple[Place, str]], sites: Collection[Site], *, more: bool = False
) -> Iterator[str]:
    """Places where operators and calls are one to one, but their numbers differ.

    A written-out formula or a loss may run operators that are no nonlinearities, or none besides those of its
    parts: its calls may be among the operators. ``more``: the report may count more.
    """
    at: dict[Place, Counter[str]] = {}
    for (place, name), n in original.items():
        at.setdefault(place, Counter())[name] += n
    for place, names in sorted(at.items()):
        if any(word in name for name in names for word in _MANY):
            continue
        mine = [s for s in sites if _at(s, place) and s.treatment.form != ("product of a script",)]
        calls, ran = sum(s.calls for s in mine), sum(names.values())
        loose = [s for s in mine if s.whole is not None or s.unseen or _of_loss(s)]
        apart, within = sum(s.calls for s in loose), sum(s.calls * len(s.parts) for s in loose)
        # A row without calls was made before anything ran, and counts none.
        if 0 < calls < ran - within or (calls - apart > ran and not more):
            yield f"{place}: {calls} calls, {_text(names)}"


def _of_loss(site: Site) -> bool:
    return any(word in site.spelled for word in WITHIN)
