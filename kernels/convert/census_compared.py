"""The census of a conversion: counts of both runs beside each other and beside the report's own sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.kernels.convert.census import Counting, Place
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import Plan, Site


def _summed(found: Mapping[tuple[Place, str], int]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for (_, name), n in found.items():
        total[name] += n
    return dict(sorted(total.items()))


@dataclass(frozen=True)
class Census:
    """What the dispatcher ran: counts by operator.

    ``original``: nonlinearities of the network as it was; ``left``: those that the converted one still
    runs; ``gates``: operators of this package that it runs instead. ``missed``: places where one is left that
    no handler reported as kept. ``unlisted``: places of the original's that no handler reported at all (both
    have rows in the report all the same). ``differing``: places where the report counts another number of
    calls than the dispatcher. ``elementary``: exp, log, sin and the like, by place, which are no activations
    by themselves; ``excluded``: by rule (norms, pooling, losses, integers). ``ran`` is False, with ``why``,
    where there was nothing to run.
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
        for name in ("missed", "unlisted", "differing", "elementary"):
            lines += [f"  {name:10} {one}" for one in getattr(self, name)]
        lines += [f"  excluded   {rule}: {_text(found)}" for rule, found in self.excluded.items()]
        return "\n".join(lines)


def _text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"


#: Operators that several of make one call, or that one makes of several calls.
_MANY = ("softmax", "attention", "rnn", "lstm", "gru", "transformer", "[", "encoder")


def compared(before: Counting, after: Counting, sites: Collection[Site]) -> Census:
    """The census of a conversion from the counts of both runs, on the same inputs, and the sites it found."""
    original, left = before.of("nonlinear"), after.of("nonlinear")
    others = {k: _summed(v) for k, v in before.counts.items() if k not in ("nonlinear", "elementary", "gate")}
    return Census(
        ran=True,
        original=_summed(original),
        left=_summed(left),
        gates=_summed(after.of("gate")),
        missed=tuple(_lines(one for one in left.items() if not _kept(sites, *one[0]))),
        unlisted=tuple(_lines(one for one in original.items() if not _named(sites, one[0][0]))),
        differing=tuple(_differing(original, sites)),
        elementary=tuple(_lines(before.of("elementary").items())),
        excluded=dict(sorted(others.items())),
    )


def silent(counting: Counting, sites: Collection[Site]) -> dict[str, list[Any]]:
    """By owner the operators of nonlinearities that no site reports as kept."""
    found: dict[str, list[Any]] = {}
    for place, name in counting.of("nonlinear"):
        if not _kept(sites, place, name):
            found.setdefault(place.owner, []).append(counting.operators[name])
    return found


_SEEN = "the dispatcher runs it here, and no function that a gate replaces has called it"
_GUARD = "chosen where numbers are equal: a guard or a mask, no gate"


def listed(plan: Plan, before: Counting, after: Counting) -> None:
    """Adds a row for each nonlinearity that the dispatcher runs and no row names, so that none is silent."""
    rows = {at: n for at, n in after.of("nonlinear").items() if not _kept(plan.sites.values(), *at)}
    for at, n in before.of("nonlinear").items():
        if not _named(plan.sites.values(), at[0]):
            rows.setdefault(at, n)
    rows.update(before.of("guards"))
    for (place, name), n in rows.items():
        key = (place.owner, "dispatched", name, place.line)
        if key not in plan.sites:
            names = plan.names.get(place.owner, (place.owner,))
            spelled = f"torch.ops.{name.replace('::', '.') if '::' in name else f'aten.{name}'}"
            words = _GUARD if "[equality]" in name else _SEEN
            plan.sites[key] = Site(
                place.owner, name, spelled, place.line, Treatment("kept", words, None), names, n
            )


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


def _differing(original: Counter[tuple[Place, str]], sites: Collection[Site]) -> Iterator[str]:
    """Places where operators and calls are one to one, but their numbers differ."""
    at: dict[Place, Counter[str]] = {}
    for (place, name), n in original.items():
        at.setdefault(place, Counter())[name] += n
    for place, names in sorted(at.items()):
        if any(word in name for name in names for word in _MANY):
            continue
        mine = [s for s in sites if _at(s, place)]
        calls, ran = sum(s.calls for s in mine), sum(names.values())
        # A row without calls was made before anything ran, and counts none.
        if mine and calls not in (ran, 0):
            yield f"{place}: {calls} calls, {_text(names)}"
