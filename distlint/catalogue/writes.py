"""What calls write to files, by the rows of ``[[write]]``."""

from __future__ import annotations

from functools import cached_property

from distlint.catalogue.entries import Write


class Writes:
    """The calls that write files, and the methods that do so on any object."""

    def __init__(self) -> None:
        self._rows: dict[str, Write] = {}

    def add(self, row: Write) -> None:
        """Add a row; nothing may have been asked before."""
        self._rows[row.name if row.form == "call" else f".{row.name}"] = row

    def of(self, dotted: str) -> Write | None:
        """What a call of this dotted name writes."""
        return self._rows.get(dotted)

    def of_method(self, name: str) -> Write | None:
        """What a method of an otherwise unknown object writes, by its name."""
        return self._rows.get(f".{name}")

    @cached_property
    def names(self) -> frozenset[str]:
        """The last names of functions and methods that write files, downloads apart."""
        return self.names_of_writers | frozenset(
            _last(row) for row in self._rows.values() if row.what != "download" and not row.by
        )

    @cached_property
    def names_of_writers(self) -> frozenset[str]:
        """The names of methods that write, of objects that are made for one file."""
        return frozenset(name for row in self._rows.values() for name in row.by)

    @cached_property
    def names_of_downloads(self) -> frozenset[str]:
        """The last names of functions that download."""
        return frozenset(_last(row) for row in self._rows.values() if row.what == "download")


def _last(row: Write) -> str:
    return row.name.rpartition(".")[2]
