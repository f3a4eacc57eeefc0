"""What the site leaves out of the pages, and what its theme leaves out for some readers."""

from __future__ import annotations

import re
from typing import Any

_FOR_THE_TESTS = re.compile(r"^ *# not run by the tests: .*\n", re.MULTILINE)

_SEARCH = 'data-md-component="search" role="dialog" aria-label="Search"'

_CODE = re.compile(r"(<pre[^>]*>(?:<span></span>)?)<code>")

# The theme names a section that has a page by a label that holds an icon only.
_SECTION = re.compile(
    r'aria-labelledby="\w+"([^>]*>\s*<label class="md-nav__title"[^>]*>\s*<span[^>]*></span>\s*)'
    r"([^<]+?)(\s*</label>)"
)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the text of each page."""
    return _FOR_THE_TESTS.sub("", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Called by mkdocs with each page as HTML: a key scrolls long lines, no heading is empty."""
    return _CODE.sub(r'\1<code tabindex="0">', html).replace("<th></th>", "<td></td>")


def on_post_page(output: str, **_: Any) -> str:
    """Called by mkdocs with each page in its template."""
    named = _SECTION.sub(r'aria-label="\2"\1\2\3', output)
    return named.replace('data-md-component="search" role="dialog"', _SEARCH)
