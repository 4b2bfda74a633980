"""Two thousand claims at once: ``python -m scale.many`` writes them, decides them cold and from the cache.

Prints seconds on the wall, seconds of CPU and the memory of the largest process, and fails past the bars:
10 minutes cold on two cores, 10 seconds from the cache, and no more memory than 1,000 claims take but for
what the document holds of each. ``--write`` keeps the figures in ``score.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

SCORE = Path(__file__).resolve().parent / "score.json"
COUNT, FEW = 2000, 1000
COLD, CACHED, GROWTH = 600.0, 10.0, 1.1
#: What the parent keeps of a decided claim until the document is written, in MB.
KEPT = 0.03


def claims(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Ids and statements: identities, bounds, extrema, limits, derivatives, integrals, means, whole numbers.

    One in eight is false. No two are the same.
    """
    rng = random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        a, b, n = rng.randint(1, 40), rng.randint(1, 40), rng.randint(2, 9)
        wrong = rng.random() < 0.125
        slip = rng.randint(1, 3) if wrong else 0
        text = rng.choice((
            f"for x in R: {a}*sigmoid({b}*x) == {a}*(1 + tanh({b}*x/2))/2 + {slip}",
            f"for x in R: ({a}*x + {b})**2 == {a * a}*x**2 + {2 * a * b + slip}*x + {b * b}",
            f"for x in R: silu({a}*x)/{a} >= -0.2785/{a + slip * 9}",
            f"sup(tanh({a}*x)*sech({a}*x), x in R) == 1/{2 + slip}",
            f"limit(({a}*x + {b})/({b}*x + {a}), x, oo) == {a + slip}/{b}",
            f"for x in R: diff(softplus({a}*x), x) == {a + slip}*sigmoid({a}*x)",
            f"integrate(x**{n}*{a}, x, 0, {b}) == {a}*{b}**{n + 1}/{n + 1 + slip}",
            f"for q > 0: gauss(({a}*z + {b})**2, z, q=q) == {a * a}*q + {b * b + slip}",
            f"for n in N1: sum({a}*k + {b}, k in 1..n) == {a}*n*(n + 1)/2 + {b + slip}*n",
            f"taylor(exp({a}*x), x, 0, 3) == 1 + {a}*x + {a * a}*x**2/2 + {a**3 + slip}*x**3/6",
            f"for x in [{a}, {a + b}]: log(x) <= x/{a} - 1 + log({a}) - {slip}",
            f"argmax(x*exp(-x/{a}), x in [0, oo)) == {a + slip}",
            f"zeros(x**2 - {a + b}*x + {a * b + slip}, x in R) == {{{a}, {b}}}",
            f"{a}/{b} + {n}/7 == {7 * a + n * b + slip}/{7 * b}",
        ))  # fmt: skip
        if text not in seen:
            seen.add(text)
            yield f"scale.c{len(seen)}", text


def write(path: Path, count: int) -> None:
    """A claims file."""
    tables = (f'[[claim]]\nid = "{name}"\nformal = "{text}"\n' for name, text in claims(count))
    path.write_text("\n".join(tables), encoding="utf-8")


def measured(path: Path, cache: Path, jobs: int) -> dict[str, float]:
    """One run of the guard: wall and CPU seconds, and the greatest memory of one of its processes in MB."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    command = [sys.executable, "-P", "-m", "gateproof", "check", str(path), "-j", str(jobs), "--json"]
    with tempfile.TemporaryFile() as out:
        done = subprocess.run(command, env=environment, stdout=out, check=False)
        wall = time.monotonic() - began
        out.seek(0)
        counts = json.load(out)["counts"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit code {done.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # The largest of all processes so far, in kB; workers count, as the command waited for them.
    return {
        "wall": round(wall, 1),
        "cpu": round(cpu, 1),
        "mb": round(after.ru_maxrss / 1024),
        **_plain(counts),
    }


def _plain(counts: object) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, value in counts.items() if isinstance(counts, dict) else ():
        if isinstance(value, int):
            found[key] = value
        elif isinstance(value, dict):
            found |= _plain(value)
    return found


def most_memory(at_few: float) -> float:
    """MB that the larger run may take: workers stay as they are, the document grows by the claim."""
    return GROWTH * at_few + KEPT * (COUNT - FEW)


def main(words: Sequence[str] | None = None) -> int:
    """Measure; 0 within the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        write(here / "few.claims.toml", FEW)
        write(here / "many.claims.toml", COUNT)
        rows = {"1000 cold": measured(here / "few.claims.toml", here / "a", options.jobs)}
        rows["2000 cold"] = measured(here / "many.claims.toml", here / "b", options.jobs)
        rows["2000 cached"] = measured(here / "many.claims.toml", here / "b", options.jobs)
    for name, row in rows.items():
        print(f"{name:12} {row}")
    faults = []
    if rows["2000 cold"]["wall"] > COLD:
        faults.append(f"cold: {rows['2000 cold']['wall']} s, at most {COLD:g}")
    if rows["2000 cached"]["wall"] > CACHED:
        faults.append(f"cached: {rows['2000 cached']['wall']} s, at most {CACHED:g}")
    if rows["2000 cold"]["mb"] > most_memory(rows["1000 cold"]["mb"]):
        faults.append(
            f"memory: {rows['2000 cold']['mb']} MB beside {rows['1000 cold']['mb']} at {FEW} claims"
        )
    print("\n".join(faults) or "within the bars")
    if options.write:
        SCORE.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
