"""The process that checks Triton's source in its interpreter: results as lines of JSON on stdout."""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict


def main(words: list[str]) -> None:
    """Check the operations named after the types."""
    from gateproof.kernels import launch
    from gateproof.kernels.check.interpreter import repair
    from gateproof.kernels.check.run import here

    # NumPy's, where infinities meet: they are part of what is checked.
    warnings.simplefilter("ignore")
    repair()
    # A program costs a millisecond here, whatever its size.
    launch.BLOCK, launch.COLUMNS = 8192, 512
    dtypes, *operations = words
    for result in here(operations, "triton", dtypes.split(",")):
        sys.stdout.write(json.dumps(asdict(result)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
