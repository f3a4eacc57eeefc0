"""What a page is to a browser: strictly parsed, or opened in Chromium where that is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest


def parsed(page: str) -> Element:
    """The page as a tree; a page that no validator would pass raises."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree: Element = parser.parse(page)
    return tree


def stands_alone(page: str) -> bool:
    """Does the page load nothing?"""
    loads = re.compile(
        r"""<link|@import|url\(|\ssrc=|<(?:img|iframe|object|embed|form [^>]*action)"""
    )
    return loads.search(page) is None and "default-src 'none'" in page


def opened(file: Path, fragment: str = "") -> str:
    """What Chromium makes of a page once its script has run."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    options = (
        "--headless --no-sandbox --disable-gpu --disable-background-networking "
        "--disable-component-update --disable-sync"
    )
    address = f"file://{file}{fragment}"
    profile = f"--user-data-dir={file.parent / 'profile'}"
    command = [chromium, *options.split(), profile, "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
