"""The files that run together with one."""

from __future__ import annotations

from distlint.analyzer.project.module import Module

_MOST_FILES = 16
"""Files that import one, at any remove, which are looked at."""


def files_above(module: Module) -> list[Module]:
    """A file, and those that import it at any remove."""
    found = [module]
    for each in found:  # grows meanwhile
        if len(found) < _MOST_FILES:
            found += [other for other in each.all_importers() if other not in found]
    return found


def files_near(module: Module) -> list[Module]:
    """A file, those that import it at any remove, and what all of these import."""
    above = files_above(module)
    return list(dict.fromkeys(other for each in above for other in each.import_closure()))
