"""The pretrained networks, converted: none misses a nonlinearity, none moves by more than rounding."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "examples" / "networks" / "run.py"
NAMES = sorted(path.stem for path in RUN.parent.glob("*.py") if path != RUN)


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_converted_exactly(name):
    # An own process: the packages' data is read, and some of them change torch's settings.
    ran = subprocess.run(
        [sys.executable, RUN, name, "--json"], capture_output=True, text=True, timeout=3600, check=False
    )
    if ran.returncode == 2:
        pytest.skip(ran.stderr.strip().splitlines()[-1])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads(ran.stdout)
    assert found["faults"] == []
    assert found["reverted"] is True
    assert all(seen > 1e-6 for seen in found["controls"].values())


def test_a_network_that_is_not_there():
    ran = subprocess.run([sys.executable, RUN, "nothing"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "nothing" in ran.stderr
    assert "Traceback" not in ran.stderr
