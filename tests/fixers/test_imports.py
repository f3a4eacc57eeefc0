"""Imports are reused, extended or added where they belong, and dropped when stale."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distlint.fixers import imports
from distlint.fixers.draft import CannotFix
from tests.fixers.conftest import Bench

Make = Callable[[str], Bench]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("here\n", "from lib import f\nf()\n"),
        ('"""Doc."""\nhere\n', '"""Doc."""\nfrom lib import f\nf()\n'),
        (
            '# coding: utf-8\n"""Doc."""\n\nfrom __future__ import division\nhere\n',
            '# coding: utf-8\n"""Doc."""\n\nfrom __future__ import division\n'
            "from lib import f\nf()\n",
        ),
        ("from lib import f\nhere\n", "from lib import f\nf()\n"),
        ("from lib import f as g\nhere\n", "from lib import f as g\ng()\n"),
        ("import lib\nhere\n", "import lib\nlib.f()\n"),
        ("import lib as l\nhere\n", "import lib as l\nl.f()\n"),
        ("from lib import e\nhere\n", "from lib import e, f\nf()\n"),
        ("from lib import (\n    e,\n)\nhere\n", "from lib import (\n    e,\n    f,\n)\nf()\n"),
        ("from lib import (e,  # e\n    g)\nhere\n", "from lib import (e,  # e\n    g, f)\nf()\n"),
        ("import os\nimport torch\nhere\n", "import os\nimport torch\nfrom lib import f\nf()\n"),
        (
            "import os\n\nfrom a import b\nimport torch\nfrom x import y\n\nimport mine\nhere\n",
            "import os\n\nfrom a import b\nimport torch\nfrom lib import f\nfrom x import y\n\n"
            "import mine\nf()\n",
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import f\nhere\n",
            "from typing import TYPE_CHECKING\nfrom lib import f as lib_f\n"
            "if TYPE_CHECKING:\n    from lib import f\nlib_f()\n",
        ),
        ("import os\r\nhere\r\n", "import os\r\nfrom lib import f\r\nf()\r\n"),
        ("f = 1\nhere\n", "from lib import f as lib_f\nf = 1\nlib_f()\n"),
        ("def g():\n    import lib\n    here\n", "def g():\n    import lib\n    lib.f()\n"),
        (
            "import os\ndef g(f):\n    here\n",
            "import os\nfrom lib import f as lib_f\ndef g(f):\n    lib_f()\n",
        ),
        ("import os\nhere\nimport sys\n", "import os\nfrom lib import f\nf()\nimport sys\n"),
    ],
)
def test_added_where_it_belongs(bench: Make, before: str, after: str) -> None:
    draft = bench(before)
    place = draft.find("here")
    draft.replace(place, imports.imported(draft, "lib", "f", place) + "()")
    assert draft.result() == after


def test_asked_twice_it_is_imported_once(bench: Make) -> None:
    draft = bench("import os\na\nb\n")
    for name in "ab":
        place = draft.find(name)
        draft.replace(place, imports.imported(draft, "lib", "f", place) + "()")
    assert draft.result() == "import os\nfrom lib import f\nf()\nf()\n"


def test_two_names_of_a_module_share_a_line(bench: Make) -> None:
    draft = bench("import os\na\nb\n")
    for name in "ab":
        place = draft.find(name)
        draft.replace(place, imports.imported(draft, "lib", name * 2, place) + "()")
    assert draft.result() == "import os\nfrom lib import aa, bb\naa()\nbb()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import lib\nlib.f()\n", "pass\n"),
        ("from lib import f, g\nlib = f\ng()\n", None),
        ("from a import lib, g\nlib.f()\n", "from a import g\npass\n"),
        ("from a import g, lib\nlib.f()\n", "from a import g\npass\n"),
        ("import lib  # noqa\nlib.f()\n", "import lib  # noqa\npass\n"),
        ("import lib\nlib.f()\nprint(lib)\n", "import lib\npass\nprint(lib)\n"),
        ("import lib\n__all__ = ['lib']\nlib.f()\n", "import lib\n__all__ = ['lib']\npass\n"),
    ],
)
def test_dropped_when_stale(bench: Make, before: str, after: str | None) -> None:
    draft = bench(before)
    place = draft.find("lib.f()" if after else "g()")
    draft.replace(place, "pass")
    imports.drop_if_stale(draft, "lib", gone=(place,))
    assert draft.result() == (after or before.replace("g()", "pass"))


def test_no_import_behind_its_use(bench: Make) -> None:
    draft = bench("if x:\n    here\nimport torch\n")
    place = draft.find("here")
    assert imports.imported(draft, "lib", "f", place) == "f"
    assert draft.result().startswith("from lib import f\nif x")


def test_edits_that_overlap_are_refused(bench: Make) -> None:
    draft = bench("f(a)\n")
    draft.replace(draft.call("f"), "g()")
    draft.replace(draft.call("f").args[0], "b")
    with pytest.raises(CannotFix):
        draft.fix("safe", "Test")
