"""Training with two-sided gates: events, loss and operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gateproof.proofs_check.figures import runs
from gateproof.proofs_check.figures.labels import spread

SIZE = (10.4, 6.4)


def made(found: dict[str, Any]) -> Any:
    figure = runs.made(found, SIZE)
    for zeros in figure.axes[1::3]:
        _side_by_side(zeros)
        # The names and colours are those of the panel on the left.
        zeros.get_legend().remove()
        zeros.set_title("zeros by projection, range")
    spread(figure)
    return figure


def _side_by_side(axes: Any) -> None:
    """Move the marks of the arms apart at each projection."""
    for k, container in enumerate(axes.containers):
        step = 0.16 * (k - (len(axes.containers) - 1) / 2)
        line, caps, bars = container.lines
        for one in (line, *caps):
            one.set_xdata([x + step for x in one.get_xdata()])
        for one in bars:
            one.set_segments([np.add(part, [step, 0]) for part in one.get_segments()])
    axes.set_xlim(-0.5, len(axes.get_xticks()) - 0.5)


def numbers() -> dict[str, Any]:
    return runs.run("two-sided")


def caption(found: dict[str, Any]) -> str:
    return f"""
    A transformer above, a state-space model below. Left: held-out loss in nats a token over the forward
    multiply-adds that training has spent on values that are not zero, mean and 95 % bands over seeds.
    Middle: the share of zeros before each projection, mean and range over batches and seeds, in the same
    colours. Right: the loss above the dense
    model's over the share of zeros, with 95 % intervals over paired seeds; the bars are those that the
    claims fix beforehand. Grey: arms that only this panel has.

    {runs.said(found)}
    """
