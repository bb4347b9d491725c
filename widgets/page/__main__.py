"""Write the page's generated modules and types for a type checker: `python -m hookscope.widgets.page FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from hookscope.widgets.page import write_for_checks

write_for_checks(Path(sys.argv[1]))
