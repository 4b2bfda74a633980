"""``gateproof.convert``: the nonlinearities of a PyTorch network become threshold gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert import encoder as encoder
from gateproof.kernels.convert import modes, script, swap
from gateproof.kernels.convert import other_calls as other_calls
from gateproof.kernels.convert import pointwise_calls as pointwise_calls
from gateproof.kernels.convert import products as products
from gateproof.kernels.convert import recurrent_calls as recurrent_calls
from gateproof.kernels.convert.census import Counting, counted
from gateproof.kernels.convert.census_compared import Census, compared, listed, listed_products, silent
from gateproof.kernels.convert.given import read_gates
from gateproof.kernels.convert.inputs import Batch, called, read_inputs, undisturbed
from gateproof.kernels.convert.plan import Plan
from gateproof.kernels.convert.proof import prove
from gateproof.kernels.convert.proof_record import Proof
from gateproof.kernels.convert.report import Report
from gateproof.kernels.convert.script_listed import list_unrun
from gateproof.kernels.convert.unreached import list_unreached

MODES = ("exact", "fit", "trainable")


class Conversion:
    """A converted network: ``model``, ``report``, ``census``, ``proof()``, and ``revert()`` to undo it."""

    def __init__(self, model: nn.Module, plan: Plan) -> None:
        self.model = model
        self._plan = plan
        #: The modules that were converted, in the network or taken out of it since.
        self.modules = {n: m for n, m in model.named_modules() if swap.is_converted(m)}
        self.report = Report(plan)
        self.census = Census(ran=False, why="convert(..., inputs=...) says what to run the network on")
        self.batches: list[Batch] = []

    def proof(
        self,
        inputs: Any = None,
        dtypes: Sequence[Any] = ("float32", "float64", "bfloat16"),
        *,
        loss: Callable[[Any], torch.Tensor] | None = None,
        gradients: bool = True,
        controls: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Proof:
        """Run the original and the converted network on inputs, and say how far apart they are.

        ``inputs`` as for ``convert``, whose own are taken where none are given. ``dtypes``: in its own type
        the network itself is run, its original by reverting it and converting it again; in others a copy.
        ``loss`` makes of an output the number whose gradients are compared (else an output's own ``loss``,
        or all outputs times random numbers); its mean is printed, with exp(loss), the perplexity if it is a
        cross entropy. ``controls``: how many gates are made wrong in turn, to see whether that shows; None
        for all in the network's own type and one of each kind that shows in others. ``progress``, such as
        ``print``, is called with a line on each step. Random numbers start alike in every run; dropout that
        is active may draw them in another order.
        It makes 6 runs with gradients of the first input, 4 of each further one, and at least one run without
        for each wrong gate, all that for each type.
        Raises ValueError without inputs, for types that are not floating ones, and for inputs or a loss with
        which the original does not run.
        """
        batches = read_inputs(inputs) or self.batches
        if not batches:
            raise ValueError("proof: inputs=... says what to run both networks on")
        return prove(
            self.model, batches, dtypes, loss=loss, gradients=gradients, controls=controls, progress=progress
        )

    def revert(self) -> nn.Module:
        """The network as it was, bit for bit: the same object with its former classes.

        Modules that were taken out of it since are given back as well. Raises ValueError where a later
        conversion has taken modules over: that one gives the originals back.
        """
        held = [m for m in (*self.modules.values(), *self.model.modules()) if swap.is_converted(m)]
        mine = list({id(m): m for m in held if swap.plan_of(m) is self._plan}.values())
        others = {id(m) for m in held if swap.plan_of(m) is not self._plan}
        taken = [name or "the network" for name, m in self.modules.items() if id(m) in others]
        if taken:
            more = f" and {len(taken) - 1} more" if taken[1:] else ""
            raise ValueError(f"revert: a later conversion has taken over {taken[0]}{more}; revert() that one")
        modes.detach(mine)
        for module in mine:
            swap.returned(module)
        return self.model


def convert(
    model: nn.Module, *, mode: str = "exact", branches: int | Mapping[str, int] = 2, inputs: Any = None,
    inplace: bool = True, calibrate: bool | str = False, families: str = "kept",
    gates: Mapping[str, Any] | None = None,
) -> Conversion:  # fmt: skip
    """Turn the nonlinearities of ``model`` into threshold gates, and say what was found where.

    ``mode``: 'exact' replaces what is a gate by that gate and keeps the rest; 'fit' replaces activations that
    are none by fitted gates of ``branches`` branches, a number or a mapping from patterns of module names to
    numbers; 'trainable' makes the numbers of all these gates parameters of the modules that call them.
    ``calibrate``: gates are fitted to the ``inputs`` that reach each place, under which root mean square
    (True or 'rms'), largest error ('sup'), or by the paper's search ('nelder-mead'). ``families``: 'kept'
    keeps intercepts (or slopes) that are all 0 fixed in trainable gates, 'freed' does not. ``gates``: gates
    of yours by kind ('gelu') or pattern of module names: a fit, its JSON, or (tau, theta, slope, intercept);
    their errors are certified as those of fits are.
    ``inputs`` is what the network is called with: a tensor, a tuple of arguments, a mapping of keywords, or a
    list of these; it is run once, so that the report knows all calls. Without it calls inside of forward
    functions appear in the report when they first run. ``inplace=False`` converts a deep copy.
    What was converted before is converted anew, as this call says, and belongs to this conversion.
    Raises TypeError for what is no module and ValueError for an unknown mode, for branches outside of 1..16
    and for a network that cannot be copied.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"convert: a torch.nn.Module is converted, found {type(model).__name__}")
    if mode not in MODES:
        raise ValueError(f"convert: mode is one of {', '.join(MODES)}, found {mode!r}")
    if not isinstance(inplace, bool):
        raise TypeError(f"convert: inplace is True or False, found {inplace!r}")
    batches = read_inputs(inputs)
    if not inplace:
        model = _copied(model)
    way = modes.checked(mode, branches, calibrate, families, gates, bool(batches))
    _taken_over(model)
    before = _ran(model, batches) if batches else None
    plan = Plan(mode, branches, _names(model), gates=read_gates(gates))
    for name, module in list(model.named_modules()):
        if swap.to_swap(module):
            swap.swapped(module, plan, name)
    list_unreached(plan, model)
    found = Conversion(model, plan)
    found.batches = batches
    try:
        modes.prepare(plan, model, (lambda: _ran(model, batches)) if batches else None, way, families)
    except BaseException:
        found.revert()
        raise
    if before is not None:
        try:
            after = _ran(model, batches)
            if script.put_through(plan, silent(after, plan.sites.values())):
                plan.restart()
                after = _ran(model, batches)
        except BaseException:
            found.revert()
            raise
        listed_products(plan, after)
        found.census = compared(before, after, plan.sites.values())
        listed(plan, before, after)
    list_unrun(plan, model)
    return found


def _taken_over(model: nn.Module) -> None:
    """Undo earlier conversions of the network or of parts, whose gates this one makes anew."""
    found = [(name, m) for name, m in model.named_modules() if swap.is_converted(m)]
    for name, module in found:
        if swap.mode_of(module) == "trainable":
            raise ValueError(
                f"convert: {name or 'the network'} has trainable gates of an earlier conversion; "
                "revert() that one first"
            )
    for _, module in found:
        swap.returned(module)


def _ran(model: nn.Module, batches: list[Batch]) -> Counting:
    """The operators of one run on each of the inputs."""
    with undisturbed(model), torch.no_grad(), counted(model) as counting:
        counting.tensors.given(batches)
        for batch in batches:
            called(model, batch)
    return counting


def _names(model: nn.Module) -> dict[str, tuple[str, ...]]:
    """All names of each module by its first one."""
    first: dict[int, str] = {}
    names: dict[str, list[str]] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        names.setdefault(first.setdefault(id(module), name), []).append(name)
    return {name: tuple(found) for name, found in names.items()}


def _copied(model: nn.Module) -> nn.Module:
    try:
        return deepcopy(model)
    except Exception as error:
        raise ValueError(
            f"convert: the network cannot be copied ({error}); detach what it holds, or convert it in place"
        ) from error
