"""The ``gateproof`` command."""

from gateproof.proofs_check.cli.entry import main

__all__ = ["main"]
