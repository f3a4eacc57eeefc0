"""Rules look only at files with words of what writes: each row of the catalogue has one."""

from __future__ import annotations

import re

from distlint.catalogue.catalogue import Catalogue, frameworks
from distlint.rules.registry import rules


def test_files_that_write_are_looked_at() -> None:
    catalogue = Catalogue.load([root for roots in frameworks().values() for root in roots])
    words = [re.compile(each) for each in rules()["DST406"].shared]
    opened = {"export", "File", "ZipFile", "TarFile", "open"}
    names = sorted(catalogue.writes.names - opened)
    assert len(names) > 40
    assert [name for name in names if not any(word.search(f".{name}(") for word in words)] == []
