"""flint's precision is process-global: no test may leave it changed."""

from __future__ import annotations

from collections.abc import Iterator

import flint
import pytest


@pytest.fixture(autouse=True)
def precision_is_left_alone() -> Iterator[None]:
    before = flint.ctx.prec
    yield
    assert flint.ctx.prec == before
