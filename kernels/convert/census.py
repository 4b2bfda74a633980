"""A second count of a network's nonlinearities, by what PyTorch's dispatcher runs.

The conversion finds calls of functions; the census sees operators, below every spelling, TorchScript and
fused kernels included, and knows nothing of the conversion's handlers. A network's census before and after
the conversion says what was missed. It counts one eager forward run of the given inputs: what a compiler
fuses, and code that these inputs do not reach, it does not see.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert.census_ops import (
    EQUALITY,
    ORDERING,
    base,
    floating,
    fused,
    hands_on,
    kind_of,
    opens,
)
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import Plan, Site

_INSIDE = tuple(f"{Path(f).parent}{os.sep}" for f in (str(torch.__file__), __file__))
_FUNCTIONAL = str(Path(torch.nn.functional.__file__))
#: A function of torch.nn.functional with such a word uses the operator within a norm, a pooling or a loss.
_WITHIN = ("norm", "pool", "loss", "similarity", "distance", "entropy", "interpolate")


#: Conditions from the least to what decides: where numbers are equal is a guard or a mask, no gate.
_WEIGHT = ("", "equality", "comparison")


@dataclass(frozen=True, order=True)
class Place:
    """Where an operator was called: the module whose code runs ('' the network itself) and file and line."""

    owner: str
    line: str

    def __str__(self) -> str:
        owner = self.owner or "the network itself"
        return f"{owner} ({self.line})" if self.line else owner


class Counting(TorchDispatchMode):
    """Counts operators while it is active; ``names`` are the network's modules by identity."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.names = {id(module): name for name, module in model.named_modules()}
        self.counts: dict[str, Counter[tuple[Place, str]]] = {}
        self.operators: dict[str, Any] = {}
        self._conditions = WeakIdKeyDictionary()

    def of(self, kind: str) -> Counter[tuple[Place, str]]:
        """How often each operator of a kind ran, by place."""
        return self.counts.get(kind, Counter())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        values = (*args, *kwargs.values())
        conditional = self._conditional(values)
        kind = kind_of(func)
        name = func._schema.name.removeprefix("aten::")
        # A function mode that is active would take the operator for a call of the network's.
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
        out = result if isinstance(result, (list, tuple)) else (result,)
        if word := "" if kind else fused(values):
            kind, name = "nonlinear", f"{name}[{word}]"
        elif conditional and opens(func) and floating(out):
            kind, name = ("guards" if conditional == "equality" else "nonlinear"), f"{name}[{conditional}]"
        if kind == "nonlinear" and not floating((*values, *out)):
            kind = "integers"
        if kind:
            place, within = self._place(sys._getframe(1))
            if within and kind in ("nonlinear", "elementary"):
                kind = f"within {within}"
            self.counts.setdefault(kind, Counter())[place, name] += 1
            self.operators[name] = func
        made = conditional if hands_on(func) else ""
        if floating(values) and base(func) in ORDERING | EQUALITY:
            made = "comparison" if base(func) in ORDERING else "equality"
        for t in out if made else ():
            if isinstance(t, torch.Tensor):
                self._conditions[t] = made
        return result

    def _conditional(self, values: Any) -> str:
        """'comparison' or 'equality' where a condition of such is among the values, or ''."""
        found = ""
        for v in values:
            if isinstance(v, torch.Tensor):
                found = max(found, self._conditions.get(v, ""), key=_WEIGHT.index)
            elif isinstance(v, (list, tuple)):
                found = max(found, self._conditional(v), key=_WEIGHT.index)
        return found

    def _place(self, frame: FrameType | None) -> tuple[Place, str]:
        """The place, and the function of torch.nn.functional that hides the operator in a norm or so."""
        line, within = "", ""
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            inside = file.startswith(_INSIDE)
            if not inside and not line:
                line = f"{Path(file).name}:{frame.f_lineno}"
            if file == _FUNCTIONAL and not line and any(w in code.co_name for w in _WITHIN):
                within = f"torch.nn.functional.{code.co_name}"
            if code.co_argcount:
                first = frame.f_locals.get(code.co_varnames[0])
                owner = self.names.get(id(first))
                if owner is not None and _method(first, code.co_name):
                    return Place(owner, line), within
            frame = frame.f_back
        return Place("", line), within


def _method(module: Any, name: str) -> bool:
    """Whether a function of this name, given the module, is code of its own.

    A hook is given a module, too, but is no method of it; what calls the forward may have called a hook.
    """
    if name in ("_call_impl", "_wrapped_call_impl"):
        # The code of TorchScript has no frame of its own.
        return isinstance(module, torch.jit.ScriptModule)
    return hasattr(type(module), name)


@contextmanager
def counted(model: nn.Module) -> Iterator[Counting]:
    """Counts the operators of what runs within it."""
    counting = Counting(model)
    with counting:
        yield counting


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
