"""What the benchmarks share: CPU times, a Sollya process to ask, the machine in words."""

from __future__ import annotations

import functools
import gc
import os
import platform
import re
import selectors
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def cpu_of(work: Callable[[], Any], cold: bool = True) -> tuple[float, Any]:
    """CPU seconds of this process for one call, and its result.

    ``cold``: without what our caches hold of an earlier run. The definitions of the language's functions
    stay: they belong to no problem.
    """
    if cold:
        for found in gc.get_objects():
            if isinstance(found, functools._lru_cache_wrapper) and _of_a_problem(found.__module__):
                found.cache_clear()
    gc.collect()
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _of_a_problem(module: str) -> bool:
    return module.startswith("gateproof.") and not module.startswith("gateproof.theory.formula")


def median(times: list[float]) -> float | None:
    """None for no times at all."""
    return statistics.median(times) if times else None


class SollyaError(Exception):
    """No answer in time, or an error message in its place."""


class Sollya:
    """One process, asked again and again. Its own CPU time is read from the kernel, to nanoseconds."""

    def __init__(self, seconds: float = 60) -> None:
        self.seconds = seconds
        self.process: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            self.process = subprocess.Popen(
                ["stdbuf", "-oL", "-i0", "sollya"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
            )
            self.ask("display=dyadic!; roundingwarnings=off!;")
        return self.process

    def ask(self, text: str) -> str:
        """What it prints for these commands. Raises SollyaError; the process is then a new one."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write((text + '\nprint("that is all");\n').encode())
        said, deadline = b"", time.monotonic() + self.seconds
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while b"that is all\n" not in said:
                if not ready.select(max(0, deadline - time.monotonic())):
                    self.close()
                    raise SollyaError(f"no answer in {self.seconds:.0f} s")
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    self.close()
                    raise SollyaError("it stopped")
                said += part
        return said.decode().replace("that is all\n", "").strip()

    def cpu(self) -> float:
        """CPU seconds since its start."""
        return int(Path(f"/proc/{self._start().pid}/schedstat").read_text().split()[0]) / 1e9

    def timed(self, work: str) -> float:
        """CPU seconds of the commands, less those of a command that does nothing."""
        marks = [self.cpu()]
        for text in ("r = 1;", work):
            self.ask(text)
            marks.append(self.cpu())
        return max(0.0, marks[2] - 2 * marks[1] + marks[0])

    def numbers(self, text: str) -> list[Fraction]:
        """The exact values of expressions, which are printed one a line."""
        said = self.ask(text)
        try:
            return [dyadic(line) for line in said.splitlines()]
        except ValueError:
            raise SollyaError(" ".join(said.split())[:200]) from None

    def close(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def dyadic(text: str) -> Fraction:
    """What Sollya prints with display=dyadic: 5b-3 is 5/8. Raises ValueError."""
    mantissa, _, exponent = text.strip().partition("b")
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent or 0)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def machine() -> dict[str, Any]:
    """The machine and the versions; no paths."""
    import flint

    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    sollya = "not installed"
    if shutil.which("sollya"):
        said = subprocess.run(["sollya", "--version"], capture_output=True, text=True, check=False).stdout
        sollya = next(iter(re.findall(r"sollya ([\d.]+)", said)), "unknown")
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.system(),
        "allocator": "another one by LD_PRELOAD"
        if os.environ.get("LD_PRELOAD")
        else " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "python-flint": f"{flint.__version__}, FLINT {flint.__FLINT_VERSION__}",
        "gmpy2": _version("gmpy2"),
        "sollya": sollya,
        "alkahest": _version("alkahest"),
    }
