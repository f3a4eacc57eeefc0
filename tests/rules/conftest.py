"""Scripts are no tests, whatever they are called."""

from __future__ import annotations

collect_ignore = ["cases", "fixes"]
