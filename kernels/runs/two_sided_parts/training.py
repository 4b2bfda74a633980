"""One training of a gated language model, stoppable at every step, and its measurements.

The task loss is the mean cross entropy in nats a token. A penalty adds w rho~ to it, where rho~ is the mean
over all gated elements of sigmoid(C (delta - |z|)), the source's rate of zeros with a gradient (in thresholds
and, through z, in weights). With w > 0, the source's sign, descent lowers rho~. To reach a target rate r a
controller sets w = -p e - i (the sum of e over all steps so far), e = r - rho with the exact rate rho of the
batch: an augmented Lagrangian of the constraint rho = r. Both signs of w occur. Over the first steps
(``ramp``) r goes from the starting rate to the target, lest the sum wind up.

The learning rate is constant after a linear warm-up, so that a shorter training is the beginning of a longer
one and losses at equal operations compare like with like. Operations are those of forward passes; with the
surrogate no backward pass has zeros to skip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from gateproof.kernels.runs.experiment import Kept, Row
from gateproof.kernels.runs.two_sided_parts.models import LanguageModel
from gateproof.kernels.runs.two_sided_parts.tally import Tally

#: Token ids to train on and held-out ones, one-dimensional.
Text = tuple[torch.Tensor, torch.Tensor]

#: The share of steps at the end over which a rate is averaged for another arm to match.
_END = 0.1


def built(job: Mapping[str, Any], arm: Mapping[str, Any]) -> LanguageModel:
    """The model of an arm before training and before its thresholds are set."""
    gate = {key: arm[key] for key in ("thresholds", "per", "gradient")}
    gate["sharpness"] = job["training"]["sharpness"]
    return LanguageModel(job["family"], **job["model"], gate=gate, seed=job["seed"])


def windows(tokens: torch.Tensor, context: int, batch: int, generator: torch.Generator) -> torch.Tensor:
    """Random windows (batch, context + 1): inputs and, one further, what is to be predicted."""
    first = torch.randint(0, len(tokens) - context, (batch,), generator=generator)
    return tokens[first[:, None] + torch.arange(context + 1)]


def held_out(tokens: torch.Tensor, context: int, batch: int) -> Iterator[torch.Tensor]:
    """Batches of the windows that follow one another; each token but the first is predicted once."""
    count = (len(tokens) - 1) // context
    rows = torch.arange(count)[:, None] * context + torch.arange(context + 1)
    for first in range(0, count - batch + 1, batch):
        yield tokens[rows[first : first + batch]]


def loss_of(model: LanguageModel, batch: torch.Tensor, tally: Tally | None = None) -> torch.Tensor:
    """The mean cross entropy of windows, in nats a token."""
    logits = model(batch[:, :-1], tally)
    return cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


class Training:
    """An arm under way: model, optimizer, data position, multiplier, and what was logged."""

    def __init__(self, job: Mapping[str, Any], arm: Mapping[str, Any], text: Text) -> None:
        self.job, self.arm, self.text = job, arm, text
        self.options = job["training"]
        self.model = built(job, arm)
        self.order = torch.Generator().manual_seed(job["seed"])
        thresholds = [p for name, p in self.model.named_parameters() if name.endswith("alpha")]
        weights = [p for name, p in self.model.named_parameters() if not name.endswith("alpha")]
        groups = [{"params": weights, "own": self.options["rate"]}]
        if thresholds:
            groups.append({"params": thresholds, "own": self.options["threshold_rate"]})
        self.optimizer = torch.optim.Adam(groups, lr=0.0, betas=(0.9, 0.95), foreach=False)
        self.weights = weights
        self.step, self.weight, self.held, self.operations = 0, float(arm["penalty"]), 0.0, 0.0
        self.rates: list[float] = []
        self.rows: list[dict[str, Any]] = []

    def state(self) -> dict[str, Any]:
        """All that the rest of the training depends on."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "order": self.order.get_state(),
            "plain": [self.step, self.weight, self.held, self.operations],
            "rates": list(self.rates),
            "rows": list(self.rows),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.order.set_state(state["order"])
        self.step, self.weight, self.held, self.operations = state["plain"]
        self.rates, self.rows = list(state["rates"]), list(state["rows"])

    def _batch(self, generator: torch.Generator) -> torch.Tensor:
        return windows(self.text[0], self.job["model"]["context"], self.options["batch"], generator)

    def forward_step(self) -> None:
        """One step of descent, and of the controller."""
        if self.step == self.arm["start_step"]:
            first = torch.Generator().manual_seed(self.job["seed"] + 1_000_000)
            self.model.start(self._batch(first)[:, :-1], self.arm["start"])
        if self.step == 0:
            self.log()
        batch, gates = self._batch(self.order), list(self.model.gates())
        loss = loss_of(self.model, batch)
        seen = sum(p.seen.numel() for p in gates)
        trained = self.arm["thresholds"] == "trainable"
        rate = self._rate(gates, seen)
        if trained and self.arm["target"] is not None:
            first, last = self.arm["start"], self.arm["target"]
            wanted = first + (last - first) * min(1.0, self.step / self.options["ramp"])
            error = wanted - rate
            self.held -= self.options["integral"] * error
            self.weight = self.held - self.options["proportional"] * error
        if trained and self.weight:
            smooth = sum((p.gate.smooth_zeros(p.seen) for p in gates if p.gate is not None), torch.zeros(()))
            loss = loss + self.weight * smooth / seen
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0, foreach=False)
        warm = min(1.0, (self.step + 1) / max(self.options["warmup"], 1))
        for group in self.optimizer.param_groups:
            group["lr"] = group["own"] * warm
        self.optimizer.step()
        self.rates.append(rate)
        self.step += 1
        if self.step % self.options["every"] == 0 or self.step == self.options["steps"]:
            self.log()

    def _rate(self, gates: list[Any], seen: int) -> float:
        """The exact rate of zeros of the pass, over all gated elements; before this step's update."""
        if self.arm["thresholds"] == "dense":
            return 0.0
        with torch.no_grad():
            return sum(int((p.seen.abs() <= p.gate.delta()).sum()) for p in gates) / seen

    def end_rate(self) -> float:
        """The mean rate over the end of the training."""
        last = self.rates[-max(1, round(_END * len(self.rates))) :]
        return sum(last) / len(last)

    def log(self) -> None:
        """A point of the curve, from the first held-out batches; at the end a row a batch and projection."""
        end = self.step == self.options["steps"]
        limit = self.options["end_batches"] if end else self.options["curve_batches"]
        losses, tallies = [], []
        for batch, _ in zip(self.held_out(), range(limit), strict=False):
            tally = Tally()
            with torch.no_grad():
                losses.append(float(loss_of(self.model, batch, tally)))
            tallies.append(tally)
        few = self.options["curve_batches"]
        # The curve's point is of the same batches at the end, too.
        point = self._summed("curve", losses[:few], tallies[:few])
        tokens = self.options["batch"] * self.job["model"]["context"]
        now = point["operations"]
        if self.rows:
            before = self.rows[-1]
            self.operations += (self.step - before["step"]) * tokens * (now + before["operations"]) / 2
        point["spent"] = self.operations
        self.rows.append(point)
        if end:
            self.rows.append({**self._summed("end", losses, tallies), "spent": self.operations})
            for i, tally in enumerate(tallies):
                for p in self.model.gates():
                    delta = None if self.arm["thresholds"] == "dense" or p.gate is None else p.gate.delta()
                    self.rows.append(
                        self._row("batch")
                        | {
                            "projection": p.name,
                            "batch": i,
                            "loss": losses[i],
                            "zeros": tally.zeros[p.name],
                            "elements": tally.elements[p.name],
                            "zero_rate": tally.zeros[p.name] / tally.elements[p.name],
                            "delta": None if delta is None else float(delta.detach().mean()),
                        }
                    )

    def held_out(self) -> Iterator[torch.Tensor]:
        """Batches of held-out windows, always the same."""
        return held_out(self.text[1], self.job["model"]["context"], self.options["batch"])

    def _row(self, kind: str) -> dict[str, Any]:
        return row(self.job, self.arm) | {"kind": kind, "step": self.step, "weight": self.weight}

    def _summed(self, kind: str, losses: list[float], tallies: list[Tally]) -> dict[str, Any]:
        elements = sum(sum(t.elements.values()) for t in tallies)
        zeros = sum(sum(t.zeros.values()) for t in tallies)
        tokens = len(tallies) * self.options["batch"] * self.job["model"]["context"]
        return self._row(kind) | {
            "loss": sum(losses) / len(losses),
            "zeros": zeros,
            "elements": elements,
            "zero_rate": zeros / elements,
            "operations": sum(sum(t.effective.values()) for t in tallies) / tokens,
            "full_operations": sum(sum(t.full.values()) for t in tallies) / tokens,
        }


#: Every row has these columns, None where they have no meaning.
COLUMNS: dict[str, Any] = dict.fromkeys(
    (
        "family", "seed", "arm", "kind", "step", "loss", "zeros", "elements", "zero_rate", "target", "weight",
        "operations", "full_operations", "spent", "projection", "batch", "delta", "tokens", "dense_seconds",
        "sparse_seconds",
    )
)  # fmt: skip


def row(job: Mapping[str, Any], arm: Mapping[str, Any]) -> dict[str, Any]:
    """An empty row of an arm."""
    return COLUMNS | {
        "family": job["family"],
        "seed": job["seed"],
        "arm": arm["name"],
        "target": arm["target"],
    }


def run(job: Mapping[str, Any], kept: Kept, text: Text) -> list[Row]:
    """The arms of a job, one after another; the target of one may be the rate at which the last one ended."""
    from gateproof.kernels.runs.two_sided_parts.wallclock import timed

    state = kept.load()
    done, rows, ended = (state["done"], list(state["rows"]), state["ended"]) if state else (0, [], None)
    steps = job["training"]["steps"]
    for index, given in enumerate(job["arms"]):
        if index < done:
            continue
        arm = given | {"target": ended} if given["match"] else given
        training = Training(job, arm, text)
        if state and index == done and state["training"] is not None:
            training.restore(state["training"])
        while training.step < steps:
            training.forward_step()
            if kept.due():
                kept.save({"done": index, "rows": rows, "ended": ended, "training": training.state()})
            if training.step % 20 == 0:
                loss = training.rows[-1]["loss"]
                kept.say(
                    (index + training.step / steps) / len(job["arms"]), f"{arm['name']}, loss {loss:.3f}"
                )
        rows += training.rows
        if arm["timed"]:
            rows += timed(training.model, next(training.held_out()), row(job, arm))
        ended = training.end_rate()
        kept.save({"done": index + 1, "rows": rows, "ended": ended, "training": None})
    return rows
