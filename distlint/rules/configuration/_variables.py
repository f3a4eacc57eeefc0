"""What rules about environment variables share."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.rules.settings import Page
from distlint.source.settings.shell import Setting

STATIC = "the effect of a variable shows on a cluster"

_REACHES = frozenset({"export", "prefix", "env", "python", "image"})


def settings(page: Page) -> Iterator[Setting]:
    """The variables that reach a process, and not only the shell itself."""
    for setting in page.sheet.script.settings:
        if setting.form in _REACHES:
            yield setting


def whole_bounds(setting: Setting) -> tuple[int, int]:
    return setting.start, setting.end


def is_empty(setting: Setting) -> bool:
    return setting.value is not None and not setting.value.strip()
