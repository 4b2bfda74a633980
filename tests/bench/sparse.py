"""``sparse_linear`` beside the dense product, at several rates of zeros: ``python -m bench.sparse``.

Prints docs/benchmarks-kernels-sparse.md; with ``--write`` writes it.
"""

from __future__ import annotations

import argparse
import platform
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch.nn.functional import linear

from gateproof.kernels.sparse import FEATURES, TOKENS, sparse_linear

RATES = (0.0, 0.2, 0.3, 0.5, 0.75, 0.95)
SIZE, RUNS = 4096, 7
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-kernels-sparse.md"

HEAD = """# A linear map that skips zeros beside the dense one

`cd tests && python -m bench.sparse` measures this page (`tests/bench/sparse.py`). Each number is the time of
`sparse_linear` over that of the dense product of the same matrices (`torch.nn.functional.linear`, the faster
of both layouts of the weight): **below 1 it wins**. {size} features, {size} outputs, forward only, the search
for zeros included. CPU time of one thread, the least of {runs} interleaved runs; ratios within 5 % of 1 mean
nothing.

- *random*: entries are 0 one by one, as behind a two-sided gate with one threshold.
- *blocks*: {features} features are 0 at once for {tokens} tokens, as where channels die together.
- *outputs first*: the weight's outputs follow one another in memory, as `SparseLinear` keeps them in float32;
  else the weight is as `nn.Linear` keeps it.
- *wins from*: the rate at which the ratio falls below 1 for good, by a straight line between measured
  rates.

{machine}

"""

TAIL = """
In float16 and bfloat16 the CPU form is the dense product.

What the table says beyond blocks that win from 20 % zeros or less:

{findings}
The Triton form skips tiles of {features} features that are 0 for {tokens} tokens. It is checked in Triton's
interpreter; its speed on a GPU is not measured. A tile of random zeros at rate r is all zero with probability
r^{area}, so random zeros save it nothing.
"""


def zeros(tokens: int, rate: float, blocks: bool, dtype: torch.dtype) -> torch.Tensor:
    """Normal numbers of which the share ``rate`` is 0."""
    y = torch.randn(tokens, SIZE)
    if blocks:
        alive = torch.rand(-(-tokens // TOKENS), SIZE // FEATURES) >= rate
        mask = alive.repeat_interleave(TOKENS, 0)[:tokens].repeat_interleave(FEATURES, 1)
    else:
        mask = torch.rand(tokens, SIZE) >= rate
    return (y * mask).to(dtype)


def least(*calls: Callable[[], object]) -> list[float]:
    """The least CPU time of this thread for each call, taken in turns."""
    found = [float("inf")] * len(calls)
    for run in range(RUNS + 1):
        for k, call in enumerate(calls):
            start = time.thread_time()
            call()
            if run:
                found[k] = min(found[k], time.thread_time() - start)
    return found


def ratio(y: torch.Tensor, plain: torch.Tensor, turned: torch.Tensor, first: bool) -> float:
    """Ours over the faster dense product."""
    given = turned if first else plain
    a, b, ours = least(lambda: linear(y, plain), lambda: linear(y, turned), lambda: sparse_linear(y, given))
    return ours / min(a, b)


def wins_from(ratios: list[float]) -> float | None:
    """Where the ratio passes 1 for good; None where it does not."""
    if ratios[-1] >= 1:
        return None
    last = max((k for k, r in enumerate(ratios) if r >= 1), default=None)
    if last is None:
        return RATES[0]
    high, low = ratios[last], ratios[last + 1]
    return RATES[last] + (RATES[last + 1] - RATES[last]) * (high - 1) / (high - low)


def rows() -> Iterator[tuple[str, int, bool, list[float]]]:
    """The kind, tokens, whether zeros come in blocks, and the ratios."""
    kinds = (
        ("float32, outputs first", True, torch.float32),
        ("float32", False, torch.float32),
    )
    for name, first, dtype in kinds:
        plain = torch.randn(SIZE, SIZE).to(dtype)
        turned = plain.t().contiguous().t()
        for blocks in (False, True):
            for tokens in (1, 8, 64, 512):
                yield (
                    name,
                    tokens,
                    blocks,
                    [ratio(zeros(tokens, r, blocks, dtype), plain, turned, first) for r in RATES],
                )


def machine() -> str:
    """The machine and what ran."""
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    libc = " ".join(platform.libc_ver())
    return (
        f"Machine: {model[1] if model else platform.machine()}, one thread, PyTorch {torch.__version__}, "
        f"allocator of {libc}."
    )


def page() -> str:
    """The whole page."""
    text = HEAD.format(size=SIZE, runs=RUNS, features=FEATURES, tokens=TOKENS, machine=machine())
    text += (
        "| weight | zeros | tokens | " + " | ".join(f"{100 * r:.0f} %" for r in RATES) + " | wins from |\n"
    )
    text += "| --- | --- | ---: | " + "---: | " * len(RATES) + "---: |\n"
    findings = []
    for name, tokens, blocks, found in rows():
        start, kind = wins_from(found), "blocks" if blocks else "random"
        said = "nowhere" if start is None else f"{100 * start:.0f} %"
        cells = " | ".join(f"{f:.2f}" for f in found)
        text += f"| {name} | {kind} | {tokens} | {cells} | {said} |\n"
        case = f"{name}, {kind}, {tokens} token{'s' if tokens > 1 else ''}"
        if start is None:
            findings.append(f"- {case}: **it does not win at any rate measured**.\n")
        elif not blocks or start > 0.2:
            findings.append(f"- {case}: wins from {said} zeros.\n")
    return text + TAIL.format(
        findings="".join(findings), features=FEATURES, tokens=TOKENS, area=FEATURES * TOKENS
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    made = page()
    if parser.parse_args().write:
        PAGE.write_text(made)
    print(made)
