"""What all tests of training runs share."""

from __future__ import annotations

from typing import Any

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """As in a worker; sums of one thread have one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def right() -> Any:
    """What the walks are by their definition, in Python's own numbers but for the noise."""
    found = []
    for seed in (0, 1, 2):
        draw, w, v = torch.Generator().manual_seed(seed), 1.0, None
        for _ in range(20):
            noise = torch.randn((), generator=draw).item()
            found.append((w + noise) ** 2 / 2)
            v = w + noise if v is None else 0.9 * v + (w + noise)
            w -= 0.1 * v
    return found
