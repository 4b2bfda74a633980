"""Ctrl-C while modules are imported is kept until they are whole."""

from __future__ import annotations

import signal

import pytest

from gateproof.__main__ import _Once
from gateproof.proofs_check.cli.clock import whole_imports


@pytest.fixture
def listener():
    before = signal.getsignal(signal.SIGINT)
    made = _Once()
    signal.signal(signal.SIGINT, made)
    yield made
    signal.signal(signal.SIGINT, before)


def test_a_signal_within_the_block_comes_at_its_end(listener):
    steps = []

    def imports():
        with whole_imports():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            steps.append("all was imported")

    with pytest.raises(KeyboardInterrupt):
        imports()
    assert steps == ["all was imported"]
    # One that follows at once is the same key.
    signal.raise_signal(signal.SIGINT)


def test_none_is_none(listener):
    with whole_imports():
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_error_is_not_hidden(listener):
    with pytest.raises(ZeroDivisionError), whole_imports():
        raise ZeroDivisionError


def test_without_the_listener_nothing_is_kept():
    with whole_imports():
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
