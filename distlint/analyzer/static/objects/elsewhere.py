"""What other files have to do with the values of one: calls, classes, imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.origins import Origins

Callee = ir.Function | ir.Class
"""What a call may call: for a class, its constructor."""


class Elsewhere:
    """What the other files of the project have to do with the values of one: here, nothing."""

    def origins_in(self, origins: Origins, module: Module) -> Origins:
        """Those of another file; of the same one where other files are not looked at."""
        return origins

    def called(self, site: CallSite) -> tuple[Module, Callee] | None:
        """The function or class of another file that a name at a call stands for."""
        return None

    def calls(self, function: ir.Function) -> list[CallSite]:
        """The calls in other files of a function of this one."""
        return []

    def bases(self, cls: ir.Class) -> list[tuple[Module, ir.Class]]:
        """The classes of other files that a class of this one derives from."""
        return []

    def derived(self, cls: ir.Class) -> list[tuple[Module, ir.Class]]:
        """The classes of other files that derive from a class of this one."""
        return []

    def variable(self, path: Path) -> tuple[Module, Path, Path] | None:
        """The variable of another file that a path begins with, and what is left of the path."""
        return None


NOTHING_ELSE = Elsewhere()
