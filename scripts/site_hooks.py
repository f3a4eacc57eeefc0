"""What the site leaves out of the pages: remarks for the tests."""

from __future__ import annotations

import re
from typing import Any

_FOR_THE_TESTS = re.compile(r"^ *# not run by the tests: .*\n", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the text of each page."""
    return _FOR_THE_TESTS.sub("", markdown)
