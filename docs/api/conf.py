"""The API reference: pages made of the engine's own docstrings, by Sphinx.

make api        # build/api/index.html
"""

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import write_pages

project = "Hookscope"
copyright = "the Hookscope authors, Apache-2.0"
extensions = ["sphinx.ext.napoleon"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1000px", "sidebar_width": "260px", "fixed_sidebar": True}
html_copy_source = False
add_module_names = False
suppress_warnings = ["ref.python"]  # of a class that several modules offer, each is a right answer


def setup(app: Sphinx) -> None:
    """Write the pages where Sphinx reads them from."""
    write_pages(Path(app.srcdir))
