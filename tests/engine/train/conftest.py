"""Lets these tests import each other's networks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode adds no folder
