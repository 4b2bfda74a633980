"""Convert a pretrained network and hold it against the original.

    python examples/networks/run.py NAME [--json]
    python examples/networks/run.py NAME --mode fit [--branches K] [--calibrate [rms|sup|nelder-mead]]
    python examples/networks/run.py NAME --census
    python examples/networks/run.py --list

Exit codes: 0 done; 1 in mode exact, an output differs more than rounding explains, a planted fault is not
seen, or revert() does not give the original back; 2 refused, or something is not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from typing import Any

import torch
from harness import network as networks
from harness.census import census, one_thread
from harness.measure import Trial, measure
from harness.network import Missing


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Convert a pretrained network and hold it against the original."
    )
    parser.add_argument("name", nargs="?", help="a network: the name of a file beside this one")
    parser.add_argument("--list", action="store_true", help="name the networks")
    parser.add_argument(
        "--census", action="store_true", help="count the original's nonlinear operations, no more"
    )
    parser.add_argument("--mode", choices=("exact", "fit"), default="exact")
    parser.add_argument("--branches", type=int, default=2, metavar="K", help="of a fitted gate (default 2)")
    parser.add_argument(
        "--calibrate",
        nargs="?",
        const="rms",
        choices=("rms", "sup", "nelder-mead"),
        help="fit each gate to the inputs that reach it (default: rms)",
    )
    parser.add_argument("--compile", action="store_true", help="time both networks under torch.compile too")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _print_census(counts: Any, title: str) -> None:
    print(f"\n{title}: nonlinear operations of one call\n")
    print(f"  {'operation':<44} {'kind':<10} {'count':>6}  in")
    for (what, name, place), count in sorted(
        counts.items(), key=lambda item: (item[0][0] == "other", item[0])
    ):
        print(f"  {name:<44} {what:<10} {count:>6}  {place}")
    if not counts:
        print("  none")


def _print_trial(trial: Trial) -> None:
    _print_census(trial.before, "original")
    print(f"\nreport of the conversion\n\n{trial.report}")
    _print_census(trial.after, "converted")
    heads = ("largest", "rms", "relative", "ulps", "equal", "own sums reordered")
    print(f"\n  {'outputs':<10} {''.join(f'{head:>10}' for head in heads[:5])}   {heads[5]}")
    for name, row in trial.rows.items():
        d, own = row.converted, row.reordered
        times = f"{d.largest / own.largest:.2g} x" if own.largest else "-"
        print(
            f"  {name:<10} {d.largest:>10.3g}{d.rms:>10.3g}{d.relative:>10.3g}{d.ulps:>10.3g}{d.same:>10.2%}"
            f"   {own.largest:.3g}: {times}"
        )
        if row.truth and name != "float64":
            print(f"    rms error against float64: {row.truth[1]:.3g} after {row.truth[0]:.3g} before")
        print("".join(f"    {key}: {value}\n" for key, value in row.metric.items()), end="")
    if trial.narrow is not None:
        moved, own = trial.narrow
        print(
            "  float64 by its own code, which rounds to float32 inside (norms, rotations), not to 1e-12: "
            f"{moved:.3g} relative, {own:.3g} where own sums are reordered"
        )
    for name, (moved, own) in trial.gradients.items():
        print(f"  gradients, {name}: {moved:.3g} relative; {own:.3g} where own sums are reordered")
    for name, seen in trial.controls.items():
        print(f"  {name} with half of its results 0.1 % too large: outputs move by {seen:.3g} relative")
    for what, ratio in trial.seconds.items():
        print(f"  time, {what}: {ratio[1]:.4g} s after {ratio[0]:.4g} s before: {ratio[1] / ratio[0]:.3f} x")
    if trial.reference is not None:
        print("  the original beside its reference program")
        print("".join(f"    {key}: {value}\n" for key, value in trial.reference.items()), end="")
    print(f"  revert() gives the original back: {'yes' if trial.reverted else 'NO'}")
    for fault in trial.faults:
        print(f"  FAULT: {fault}")


def main() -> int:
    """The command; returns its exit code."""
    options = _arguments()
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    if options.list:
        for name in networks.names():
            print(f"{name:<14} {networks.load(name).about}")
        return 0
    try:
        if options.name is None:
            raise ValueError(f"name a network: {', '.join(networks.names())}")
        network = networks.load(options.name)
        if options.census:
            with one_thread():
                counts = census(network, network.build(), network.calls()[0])
            if options.json:
                print(json.dumps([[*key, count] for key, count in sorted(counts.items())], indent=1))
            else:
                _print_census(counts, options.name)
            return 0
        trial = measure(
            options.name,
            network,
            mode=options.mode,
            branches=options.branches,
            calibrate=options.calibrate,
            compiled=options.compile,
        )
    except (Missing, ValueError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(trial.as_json(), indent=1))
    else:
        _print_trial(trial)
    return 1 if trial.faults else 0


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.exit(main())
