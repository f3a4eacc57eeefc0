"""Names in a script: valid, like those of the source, and given once."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from dataclasses import dataclass, field

FAILURE = "Failure"
"""An exception of its own: what gloo raises, when a rank has waited in vain, is not caught."""

OWN = ("contextlib", "datetime", "dist", "groups", "rank", "sys", "torch", FAILURE)
"""Names that a script uses itself."""

_PYTHON = frozenset({*keyword.kwlist, *dir(builtins)})


@dataclass
class Names:
    """The names of a script that are in use."""

    given: set[str] = field(default_factory=lambda: {*OWN})

    def free(self, wanted: str) -> str:
        """A name like the one that is wanted, which nothing else has from now on."""
        # what is not ASCII is one name for Python, however it is composed
        name = re.sub(r"\W+_*", "_", unicodedata.normalize("NFKC", wanted)).strip("_") or "function"
        if name in _PYTHON:
            name += "_"
        elif not name.isidentifier():
            name = f"_{name}"
        number, unique = 2, name
        while unique in self.given:
            unique, number = f"{name.rstrip('_')}_{number}", number + 1
        self.given.add(unique)
        return unique
