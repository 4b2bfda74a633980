"""Lets the tests of this folder import its module of random formulas."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
