"""``python -m gateproof``: the same as the ``gateproof`` command."""

from __future__ import annotations

import sys

from gateproof.proofs_check.cli import main

if __name__ == "__main__":
    sys.exit(main())
