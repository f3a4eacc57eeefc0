"""What the parts of a machine ask of the whole: evaluation and calls are one recursion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.continuations import Continuation
from distlint.analyzer.symbolic.joining import Joining
from distlint.analyzer.symbolic.state import CallRequested, Frame, ResultKey
from distlint.analyzer.symbolic.values import Value
from distlint.catalogue.entries import Entry


class Interpreter(Joining, ABC):
    """A machine as its parts see it."""

    @abstractmethod
    def evaluate(self, node: ir.Expr) -> Value:
        """The value of an expression here and now."""

    @abstractmethod
    def evaluate_statically(self, module: Module, node: ir.Expr) -> Value:
        """The value of a module-level expression that is not being executed."""

    @abstractmethod
    def quietly(self, frame: Frame, thunk: Callable[[], Value]) -> Value | None:
        """Evaluate in another frame; None when that would take a collective or a decision."""

    @abstractmethod
    def by_name(self, module: Module, name: str, otherwise: Value) -> Value:
        """The last resort for a parameter, option or attribute that nothing defines."""

    @abstractmethod
    def ev_call(self, node: ir.Call) -> Value:
        """What a call that is written in the program returns."""

    @abstractmethod
    def call(
        self,
        target: Value,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        """What a value returns when it is called."""

    @abstractmethod
    def call_function(
        self,
        target: v.Func,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        key: ResultKey,
    ) -> Value:
        """What a function of the project returns; the key is that of its result."""

    @abstractmethod
    def run_quietly(self, enter: CallRequested) -> Value | None:
        """Run a function to its end; None if it meets a collective or an open question."""

    @abstractmethod
    def collective(
        self,
        entry: Entry,
        args: list[Value],
        keywords: dict[str, Value],
        node: ir.Call | None,
        site: int,
        receiver: Value | None,
        value: Value | None = None,
    ) -> Value:
        """What a rank has when it has called a collective."""

    @abstractmethod
    def is_stopped(self, k: Continuation | None, raised: str = "") -> bool:
        """Does anything on the way out catch an exception, or communicate?"""
