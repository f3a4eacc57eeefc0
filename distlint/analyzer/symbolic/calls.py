"""What a call does on one rank: functions of the project, and what the catalogue knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static import hooks
from distlint.analyzer.static.batches import is_agreement
from distlint.analyzer.static.slicing import fails_alone
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.builtins import is_group
from distlint.analyzer.symbolic.collectives import (
    BUILT_WITH_GROUP,
    MODEL,
    SYNC_BUFFERS,
    WORLD,
    Collectives,
)
from distlint.analyzer.symbolic.continuations import Continuation, ReturnToCaller
from distlint.analyzer.symbolic.expressions import is_seldom_uneven
from distlint.analyzer.symbolic.gradient_mode import arms_backward
from distlint.analyzer.symbolic.state import (
    OPAQUE,
    BranchUndecided,
    CallRequested,
    Disagreement,
    Frame,
    ResultKey,
)
from distlint.analyzer.symbolic.values import (
    SAME,
    SELDOM_UNEVEN,
    UNEVEN,
    Const,
    Unknown,
    Value,
    const,
    unknown,
)
from distlint.analyzer.symbolic.view import IN_PROCESSES, RISKY, SEEDED
from distlint.catalogue.entries import Agreement, Argument, Entry, Guard, Returns, Seed
from distlint.source.incomplete import Reason

SHARDED = "torch.utils.data.DistributedSampler"
SELF_RETURNING = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "train",
        "eval",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "type",
        "apply",
        "compile",
    ]
)
"""Methods of a module that return the module."""

_NOT_FILLED = frozenset({"even_batches=False", "dataloader_config.even_batches=False"})
"""Marks of an Accelerator whose prepared loaders do not fill up the last round."""

_PARALLEL = frozenset({"ddp", "fsdp", "deepspeed", "strategy", "torchrun"})
"""Words of a module that trains on many ranks."""

_COMPUTING = frozenset({"torch", "numpy", "jax", "tensorflow", "einops", "functools", "scipy"})
"""Packages whose functions work on what one process has."""

EVALUATING = ("eval", "valid", "test", "infer")
"""How names of functions begin that run a model without training it."""

CHAIN = "chain"
"""Kind of a collection of modules that runs one after the other."""

RECURSION = 2
"""How deep a function is followed into itself."""

COUNTED_RECURSION = 6
"""The same when it is handed a known number, which may count the levels."""

_GROUP = "torch.distributed.ProcessGroup"
_OWN_PACE = Argument("synced_gpus", False)
"""The argument of ``generate`` with which each rank stops at the end of its own text."""


class Calls(Collectives):
    """The call part of a machine."""

    def ev_call(self, node: ir.Call) -> Value:
        key = (node.site, self.inner)
        done = self.results.get(key)
        if done is not None:
            return done
        try:
            return self.call_at(node)
        except BranchUndecided as need:
            need.within.append(key)
            raise

    def call_at(self, node: ir.Call) -> Value:
        self.site = node.site
        func = node.func
        if isinstance(func, ir.Attribute):
            receiver = self.generating(func) or self.evaluate(func.value)
            if isinstance(receiver, v.Phi) and _is_data(receiver):
                args, keywords = self.arguments(node)
                return self.of_each(
                    receiver,
                    lambda each: self.call_method(each, func.attr, args, keywords, node.site, node),
                )
            receiver = self.resolve(receiver)
            if isinstance(
                receiver, (Const, v.PerRank, v.WorldSizeExpr, v.Seq, v.Map, Unknown, v.Obj)
            ) and not (isinstance(receiver, v.Obj) and (receiver.oid, func.attr) in self.store):
                args, keywords = self.arguments(node)
                self.site = node.site
                return self.call_method(receiver, func.attr, args, keywords, node.site, node)
            target = self.attribute(receiver, func.attr, func.site)
        elif isinstance(func, ir.Name) and func.id == "super" and not node.args:
            return self.super_here()
        else:
            target = self.evaluate(func)
        args, keywords = self.arguments(node)
        self.site = node.site  # that of the last call among the arguments until now
        return self.call(target, args, keywords, node.site, node)

    def generating(self, func: ir.Attribute) -> v.Obj | None:
        """The sharded wrapper of ``wrapper.module.generate``: its forwards communicate."""
        inner = func.value
        if func.attr != "generate" or not isinstance(inner, ir.Attribute) or inner.attr != "module":
            return None
        outer = self.resolve(self.evaluate(inner.value))
        known = isinstance(outer, v.Obj) and self.catalogue.member(outer.kind, func.attr)
        return outer if isinstance(outer, v.Obj) and known else None

    def arguments(self, node: ir.Call) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        keywords: dict[str, Value] = {}
        for argument in node.args:
            value = self.evaluate(argument.value)
            if argument.star == "*":
                items = self.resolve(value)
                if isinstance(items, v.Seq):
                    args.extend(items.items)
                else:
                    keywords["*"] = items
            elif argument.star == "**":
                if isinstance(value, v.Map):
                    for key, item in value.items:
                        if isinstance(key, Const) and isinstance(key.value, str):
                            keywords[key.value] = item
                else:
                    keywords["**"] = value
            elif argument.keyword is not None:
                keywords[argument.keyword] = value
            else:
                args.append(value)
        return args, keywords

    def super_here(self) -> Value:
        function = self.frame.function
        if function is not None and function.owner and function.params:
            bound = self.store.get((self.frame.scope, function.params[0].name))
            cls = self.context.module_by_key(function.module).classes.get(function.owner)
            if bound is not None and cls is not None:
                return v.super_value(cls, bound)
        return unknown("super")

    def call(
        self,
        target: Value,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        target = self.resolve(target)
        if isinstance(target, v.Func):
            return self.call_function(target, args, keywords, site, (site, self.inner))
        if isinstance(target, v.Cls):
            return self.instantiate(target.cls, args, keywords, site)
        if isinstance(target, v.External):
            return self.call_external(target.name, args, keywords, site, node)
        if isinstance(target, v.Partial):
            merged = {**dict(target.keywords), **keywords}
            return self.call(target.target, [*target.args, *args], merged, site, None)
        if isinstance(target, v.Method):
            return self.call_method(target.receiver, target.name, args, keywords, site, node)
        if isinstance(target, v.Obj):
            return self.invoke(target, args, keywords, site, node)
        if isinstance(target, v.Instance):
            return self.call_instance(target, args, keywords, site)
        if isinstance(target, v.Seq) and target.kind == CHAIN:
            return self.run_chain(target.items, args, keywords, site)
        if isinstance(target, v.PerRank) and node is not None:
            # a rank number or predicate of the name table that turns out to be a function
            return target
        self.may_fail(site)
        values = [*args, *keywords.values()]
        if isinstance(target, Unknown) and target.op == "global" and node is not None:
            self.run_unseen(getattr(node.func, "id", ""), values, site, node)
        return unknown("call", target, *values, wrapped=self.run_inside(values))

    def run_unseen(self, name: str, values: list[Value], site: int, node: ir.Call) -> None:
        """A function that is defined nowhere and evaluates a model runs its forward."""
        if name.lower().lstrip("_").startswith(EVALUATING):
            for value in values:
                if isinstance(value, v.Obj) and self.catalogue.arms_backward(value.kind):
                    self.invoke(value, [], {}, site, node)

    # ---- functions of the project

    def call_function(
        self,
        target: v.Func,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        key: ResultKey,
    ) -> Value:
        done = self.results.get(key)
        function = target.function
        if done is None and function.decorators and is_cached(function):
            done = self.store.get(("once", function))
            if done is None and self.context.is_entered_late:
                # it may have been called before
                done = unknown("cached", function.name, function.module)
                if self.context.returns_all_ranks(function):
                    done = v.group("world")
        if done is not None:
            return done
        if target.guards is None and function.decorators:
            handled = self.call_decorated(target, args, keywords, site, key)
            if handled is not None:
                return handled
        if target.bound is not None:
            args = [target.bound, *args]
        label = (function.name, function.site, function.module)
        given = (*args, *keywords.values())
        if self.only_yields(function):
            passed = self.context.hands_on(function)
            if passed is not None and passed < len(args):
                return args[passed]
            if passed is not None and function.params[passed].name in keywords:
                return keywords[function.params[passed].name]
            return unknown("call", *label, *given)
        if self.skips(function, args, keywords, self.captured(target)):
            for stream in sorted(self.context.effects.seeds(function)):
                self.store[(SEEDED, stream)] = const(True)
            return unknown("call", *label, *self.weighed(function, given, keywords))
        depth = self.frame.depth + 1
        is_counted = any(isinstance(arg, Const) and type(arg.value) is int for arg in args)
        most = COUNTED_RECURSION if is_counted else RECURSION
        follows = self.context.follows(function, depth)
        if not follows and self.context.does_something(function):
            self.context.incomplete.add(Reason.CALLS)
        if not follows or self.active(function) >= most:
            return self.pass_over(function, label, unknown("call", *label, *given), key)
        self.context.enter(function)
        frame = self.activation(target, site)
        self.bind_arguments(frame, function, args, keywords)
        raise CallRequested(frame, function.body, key)

    def run_processes(
        self, target: Value, args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        """Run a function in processes of its own: what fails in one of them ends them all."""
        while isinstance(target, v.Partial):
            args = [*target.args, *args]
            keywords = {**dict(target.keywords), **keywords}
            target = self.resolve(target.target)
        if not isinstance(target, v.Func):
            return self.call(target, args, keywords, site, None)
        result = self.call_function(target, args, keywords, site, (site, IN_PROCESSES))
        self.store.pop(RISKY, None)  # they have all come to their end
        return result

    def activation(self, target: v.Func, site: int) -> Frame:
        """The frame of a function that is called at a site in this turn of the loops."""
        function = target.function
        scope = self.number("call", self.here(site), function.site, function.module)
        frame = self.context.frames.get(scope)
        if frame is None or frame.function is not function:
            module = self.context.module_by_key(function.module)
            outer = self.context.frames.get(target.scope)
            depth = self.frame.depth + 1
            frame = Frame(scope, module, function, depth, outer, target.bound, self.turns())
            self.context.frames[scope] = frame
        return frame

    def pass_over(
        self, function: ir.Function, label: tuple[str, int, str], value: Value, key: ResultKey
    ) -> Value:
        """A call that is not followed: where it may communicate, all ranks have to make it."""
        if not self.context.may_communicate(function):
            return value
        match = (OPAQUE, *map(str, label))
        raise self.for_all(function.label, match, self.site, key, certain=False, value=value)

    def handed_over(self, values: list[Value], name: str, result: Value) -> Value:
        """A call that cannot be looked into and that is given functions which may communicate.

        Such as a server's: what this rank does there, it does in those functions.
        """
        key = (self.site, self.inner)
        if key in self.results or not any(map(self.may_run_collectives, values)):
            return self.results.get(key, result)
        match = (OPAQUE, name, str(self.site), self.frame.module.key)
        raise self.for_all(name, match, self.site, key, certain=False, value=result)

    def may_run_collectives(self, value: Value) -> bool:
        while isinstance(value, v.Partial):
            value = value.target
        return isinstance(value, v.Func) and self.context.may_communicate(value.function)

    def skips(
        self,
        function: ir.Function,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        captured: Iterable[Value] = (),
    ) -> bool:
        """Need the body not be run? True if no rank can be seen to differ in it.

        What is worked out from a value of this rank's own, and nothing else, is its own as well.
        """
        if hooks.may_be_hook(function) or self.context.does_something(function):
            return False
        if (
            ir.RAISE in function.tokens
            and self.context.effects.shows_ranks(function)
            and (self.context.refuses(function) or self.is_stopped(self.k))
        ):
            return False
        given = (*args, *keywords.values())
        read = chain(given, captured)
        telling = [each for each in read if self.telling(each) and not v.is_own_number(each)]
        if telling and not self.keeps_ranks(function, args, keywords, telling):
            return False
        if self.log is not None and function in self.context.entered:
            return False  # in a replay all ranks run what one of them has run
        if not any(map(v.is_own_number, given)):
            return not self.context.matters(function)
        if self.context.asks_for_kind(function):
            return False
        if not self.context.changes_something(function):
            return True
        own = _params_with(v.is_own_number, function, args, keywords)
        return (
            own is not None
            and not self.context.lets_out(function, own)
            and not self.context.matters(function)
        )

    def keeps_ranks(
        self,
        function: ir.Function,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        telling: Sequence[Value],
    ) -> bool:
        """Are these numbers of the rank, which the function keeps to itself?"""
        if not all(isinstance(value, v.PerRank) for value in telling):
            return False
        ranked = _params_with(v.is_ranked, function, args, keywords)
        return ranked is not None and not self.context.leaks(function, ranked)

    def captured(self, target: v.Func) -> Iterator[Value]:
        """What a function in a function reads of the variables of that one."""
        if target.function.nested:
            for name in sorted(target.function.tokens - target.function.locals):
                value = self.store.get((target.scope, name))
                if value is not None:
                    yield value

    def is_stopped(self, k: Continuation | None, raised: str = "") -> bool:
        """Does anything on the way out catch an exception, or communicate?"""
        raise NotImplementedError

    def weighed(
        self, function: ir.Function, given: tuple[Value, ...], keywords: dict[str, Value]
    ) -> tuple[Value, ...]:
        """The arguments on which the result of a function that is not run may depend."""
        if not any(map(v.is_own_number, given)):
            return given
        own = _params_with(v.is_own_number, function, given[: len(given) - len(keywords)], keywords)
        if own is None or not self.context.ignores(function, own):
            return given
        return tuple(const(None) if v.is_own_number(value) else value for value in given)

    def only_yields(self, function: ir.Function) -> bool:
        """Is it a generator that does not communicate? Calling it runs nothing."""
        return function.generator and not self.context.may_communicate(function)

    def telling(self, value: Value) -> bool:
        """Can a value make a difference to what a function does?"""
        if isinstance(value, (v.PerRank, v.Group, v.Partial)):
            return True
        if isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
            return self.catalogue.member_is_telling(value.receiver.kind, value.name)
        if isinstance(value, v.Method):
            return True
        if isinstance(value, v.Obj):
            inner = value.inner
            return (
                self.catalogue.is_telling(value.kind)
                or (inner is not None and self.telling(inner))
                or self.holds_telling(value)
            )
        if isinstance(value, v.Func):
            return self.context.matters(value.function)
        if isinstance(value, v.External):
            entry = self.catalogue.lookup(value.name)
            return entry is not None and entry.tells
        if isinstance(value, v.Instance):
            return self.holds_telling(value)
        if isinstance(value, v.Phi):
            return value.local or self.telling(value.then) or self.telling(value.orelse)
        if isinstance(value, v.Seq):
            return any(self.telling(item) for item in value.items)
        if isinstance(value, v.Map):
            return any(self.telling(item) for _, item in value.items)
        return value.local

    def holds_telling(self, value: v.Instance | v.Obj) -> bool:
        """Has one of the attributes of an object a value that can make a difference?"""
        if value.oid in self.asking:
            return False  # it holds itself
        self.asking.append(value.oid)
        try:
            return any(
                key[0] == value.oid and not isinstance(held, v.Instance) and self.telling(held)
                for key, held in self.store.items()
            )
        finally:
            self.asking.pop()

    def active(self, function: ir.Function) -> int:
        """How often the function is being run, one call in another."""
        count = int(self.frame.function is function)
        k = self.k
        while k is not None:
            if isinstance(k, ReturnToCaller) and k.caller.function is function:
                count += 1
            k = k.next
        return count

    def bind_arguments(
        self,
        frame: Frame,
        function: ir.Function,
        args: list[Value],
        keywords: dict[str, Value],
    ) -> None:
        rest = dict(keywords)
        open_call = "*" in rest or "**" in rest
        position = 0
        for param in function.params:
            slot = (frame.scope, param.name)
            if param.star == "*":
                self.store[slot] = v.seq("tuple", args[position:])
                position = len(args)
            elif param.star == "**":
                items = [(const(name), value) for name, value in rest.items() if name[0] != "*"]
                # it is not known what an entry point is given beside its parameters
                others = rest.get("**", unknown("param", param.name))
                self.store[slot] = others if open_call and not items else v.mapping(items)
            elif not param.keyword_only and position < len(args):
                self.store[slot] = args[position]
                position += 1
            elif param.name in rest:
                self.store[slot] = rest.pop(param.name)
            elif param.default is not None and not open_call:
                self.store[slot] = self.evaluate_statically(frame.module, param.default)
            else:
                self.store[slot] = self.unbound_param(frame.module, function, param)

    # ---- decorators

    def call_decorated(
        self,
        target: v.Func,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        key: ResultKey,
    ) -> Value | None:
        """Handle the decorators of a function that is called; None if they change nothing."""
        raw = v.func(target.function, target.scope, target.bound, ())
        module = self.context.module_by_key(target.function.module)
        current: Value = raw
        for index, decorator in enumerate(reversed(target.function.decorators)):
            node = decorator.func if isinstance(decorator, ir.Call) else decorator
            found = self.decorator_value(module, target, node)
            guard = self.guard_of(found)
            if guard is not None:
                if guard.communicates:
                    continue
                numbers = self.guard_ranks(guard, decorator)
                if not self.guarded(numbers, target.function, module, -1 - index, site):
                    return const(None)
            elif isinstance(found, v.Func) and self.context.matters(found.function):
                current = self.apply_decorator(found, decorator, module, current, site, index)
        if current is raw:
            return self.call_function(raw, args, keywords, site, key)
        if isinstance(current, v.Func):
            bound = [] if target.bound is None else [target.bound]
            return self.call_function(current, [*bound, *args], keywords, site, key)
        return None

    def guarded(
        self, numbers: Value, function: ir.Function, module: Module, index: int, site: int
    ) -> bool:
        """Does a decorator let this rank into the function?

        Decided at the call; a function that only a framework calls, where the decorator stands.
        """
        if self.frame.function is not None or site != function.site:
            return self.truth(numbers, site)
        sites = function.decorator_sites
        scope = self.number("decorators", module.key)
        frame = self.context.frames.setdefault(scope, Frame(scope, module, None, 0))
        caller, self.frame = self.frame, frame
        try:
            return self.truth(numbers, sites[index] if sites else site)
        finally:
            self.frame = caller

    def decorator_value(self, module: Module, target: v.Func, node: ir.Expr) -> Value:
        outer = self.context.frames.get(target.scope)
        if outer is not None and outer.function is not None:
            value = self.quietly(outer, lambda: self.evaluate(node))
            return unknown("decorator") if value is None else value
        return self.evaluate_statically(module, node)

    def apply_decorator(
        self,
        found: v.Func,
        decorator: ir.Expr,
        module: Module,
        current: Value,
        site: int,
        index: int,
    ) -> Value:
        target: Value = found
        if isinstance(decorator, ir.Call):
            args = [self.evaluate_statically(module, argument.value) for argument in decorator.args]
            target = self.call_function(
                found, args, {}, site, (site, self.inner, "decorator factory", index)
            )
        if isinstance(target, v.Func):
            bare = current
            if isinstance(current, v.Func) and current.bound is not None:
                bare = v.func(current.function, current.scope, None, ())
            result = self.call_function(
                v.func(target.function, target.scope, target.bound, ()),
                [bare],
                {},
                site,
                (site, self.inner, "decorator", index),
            )
            if isinstance(result, v.Func):
                return result
        return current

    def guard_of(self, value: Value) -> Guard | None:
        """The catalogue's word on a decorator that runs a function on some ranks only."""
        entry = None
        if isinstance(value, v.External):
            entry = self.catalogue.lookup(value.name)
        elif isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
            entry = self.catalogue.member(value.receiver.kind, value.name)
        return entry.guard if entry is not None else None

    def guard_ranks(self, guard: Guard, decorator: ir.Expr) -> Value:
        scope = "local" if guard.runs_on.startswith("local") else "global"
        numbers = self.cluster.coordinates(scope)
        wanted: object = 0
        if guard.runs_on.endswith("last"):
            wanted = max(numbers)
        elif guard.runs_on == "process":
            wanted = None
            if isinstance(decorator, ir.Call):
                for argument in decorator.args:
                    if isinstance(argument.value, ir.Literal):
                        wanted = argument.value.value
        if wanted is None:
            return const(True)
        return v.ranked([number == wanted for number in numbers])

    # ---- classes of the project

    def instantiate(
        self, cls: ir.Class, args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        oid = self.number("new", self.here(site), cls.module, cls.site)
        created = v.instance(cls, oid)
        for owner in self.mro(cls):
            if isinstance(owner, str):
                continue
            function = owner.methods.get("__init__")
            if function is None:
                continue
            target = v.func(
                function,
                self.context.module_scope(self.context.module_of(owner)),
                created,
                (),
            )
            try:
                if self.skips(function, [created, *args], keywords):
                    return created
                self.call_function(target, args, keywords, site, (site, self.inner))
            except CallRequested as enter:
                enter.value = created
                raise
            return created
        for name, value in keywords.items():
            self.store[(oid, name)] = value
        return created

    def call_instance(
        self, target: v.Instance, args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        for name in ("__call__", "forward"):
            method = self.instance_attribute(target, name, site)
            if isinstance(method, v.Func):
                return self.call(method, args, keywords, site, None)
            if isinstance(method, v.Method):
                return self.call(method, args, keywords, site, None)
        return unknown("output", target, *args, *keywords.values())

    # ---- what the catalogue knows

    def call_external(
        self,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        if name in {hooks.BACKWARD, hooks.GO_ON}:
            return self.after_hook(name, args[0], site)
        special = self.call_builtin(name, args, keywords, site, node)
        if special is not None:
            return special
        entry = self.catalogue.lookup(name)
        if entry is not None:
            self.note_agreement(entry.agreement, args, keywords, site)
            value = self.call_entry(entry, args, keywords, site, node, None)
            if value is not None:
                return value
        if fails_alone(name):
            self.may_fail(site)
        if name.partition(".")[0] not in _COMPUTING and is_agreement(name):
            return unknown("call", name, *args, *keywords.values(), local=False, clean=True)
        return unknown("call", name, *args, *keywords.values())

    def after_hook(self, name: str, result: Value, site: int) -> Value:
        """What a framework does after a hook: the backward of a loss, or the next step."""
        key = (site, self.inner)
        if key in self.results:
            return self.results[key]
        if name == hooks.BACKWARD:
            due = _is_given(result)
        else:
            flags = [value for slot, value in self.store.items() if slot[1] in hooks.STOP_FLAGS]
            due = v.negate(_is_set(flags[-1])) if flags else const(True)
        if not (self._truth(due) if isinstance(due, Const) else self.truth(due, site)):
            return const(None)
        backward = name == hooks.BACKWARD
        words = self.frame.module.tokens
        known = self.frame.module.is_of_several_ranks or not words.isdisjoint(_PARALLEL)
        raise self.for_all(
            "torch.Tensor.backward" if backward else hooks.NEXT_STEP,
            ("backward",) if backward else ("train_loop",),
            site,
            key,
            value=const(None),
            tags=() if known else ("ddp",),
        )

    def call_entry(
        self,
        entry: Entry,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
        receiver: Value | None,
    ) -> Value | None:
        """Apply the catalogue's word on a callable; None when it says nothing of the result."""
        value: Value | None = None
        if entry.seed is not None:
            self.note_seed(entry.seed, args, keywords)
        if entry.rank is not None:
            arguments = self.named(entry.rank.params, args, keywords)
            value = self.rank_value(
                entry.rank, arguments.get(entry.rank.group) if entry.rank.group else None
            )
        elif entry.uniform is not None:
            value = self.uniform_value(
                entry.uniform.value, unknown("call", entry.name, *args, *keywords.values())
            )
        elif entry.local is not None:
            value = self.local_value(entry, args, keywords, site, node)
        elif entry.group is not None:
            value = self.group_from(
                entry.group, self.named(entry.group.params, args, keywords), receiver
            )
        elif entry.returns is not None:
            value = self.returned(entry.returns, args, keywords, site, receiver)
            if entry.returns.in_place and value is not None:
                place = self.argument_node(entry.returns.params, entry.returns.in_place, node)
                if place is not None:
                    self.assign_place(place, value)
        elif entry.cls is not None:
            value = self.constructed(entry, args, keywords, site)
        if entry.collective is not None and entry.collective.form in {
            "call",
            "construct",
            "invoke",
        }:
            return self.collective(entry, args, keywords, node, site, receiver, value)
        return value

    def agreement_of(self, receiver: Value | None, method: str) -> Agreement | None:
        """What a method of an object, or of what that wraps, has to be given alike on all ranks."""
        while isinstance(receiver, v.Obj):
            entry = self.catalogue.member(receiver.kind, method)
            if entry is not None and entry.agreement is not None:
                return entry.agreement
            receiver = receiver.inner
        return None

    def note_agreement(
        self, agreement: Agreement | None, args: list[Value], keywords: dict[str, Value], site: int
    ) -> None:
        """Note arguments that have to be the same on all ranks and are rank-local."""
        if agreement is None or self.log is not None:
            return
        arguments = self.named(agreement.params, args, keywords)
        for param in agreement.agree:
            value = arguments.get(param)
            if value is not None and value.local and not getattr(value, "weak", False):
                found = Disagreement(agreement, param, site, self.frame.module.key)
                self.context.disagreements.setdefault((found.module, site), found)

    def local_value(
        self,
        entry: Entry,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        source = entry.local
        assert source is not None
        arguments = self.named(source.params, args, keywords)
        kinds = [value for value in keywords.values() if isinstance(value, v.External)]
        if source.form == "handler":
            self.note_handler(arguments.get(source.handler) if source.handler else None)
            return unknown("call", entry.name, *args)
        seeded = self.store.get((SEEDED, source.stream), const(False))
        alike = unknown("call", entry.name, self.here(site), *kinds, fresh=True)
        if seeded is const(True):
            return alike
        if source.in_place:
            place = self.argument_node(source.params, source.in_place, node)
            if place is not None:
                old = arguments.get(source.in_place, const(None))
                new = unknown("changed", old, self.here(site), local=True, fresh=True)
                self.assign_place(place, _drawn(seeded, old, new))
            return const(None)
        if source.share:
            whole = args[:1]
            told = {token for each in whole for token in getattr(each, "tokens", ())}
            even = not told.isdisjoint(source.even_from)
            uneven = (UNEVEN, SELDOM_UNEVEN) if source.weak else (UNEVEN,)
            return unknown("shard", *whole, self.here(site), *(() if even else uneven))
        if source.weak:
            # a probe of the same file gives the same answer again
            return unknown("call", entry.name, *args, local=True, weak=True)
        own = unknown("call", entry.name, self.here(site), *args, *kinds, local=True, fresh=True)
        return _drawn(seeded, alike, own)

    def note_handler(self, handler: Value | None) -> None:
        """What a signal handler writes is written at another time on each rank."""
        if not isinstance(handler, v.Func):
            return
        function = handler.function
        flag = unknown("signal", function.name, local=True)
        stack: list[Any] = list(function.body)
        while stack:
            node = stack.pop()
            if isinstance(node, ir.Assign):
                for target in node.targets:
                    if isinstance(target, ir.Name) and target.id in function.outer:
                        self.set_name(target.id, flag)
                    elif isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name):
                        owner = handler.bound or self.name(target.value.id)
                        self.set_attribute(self.resolve(owner), target.attr, flag)
            elif (
                isinstance(node, ir.Call)
                and isinstance(node.func, ir.Attribute)
                and node.func.attr == "set"
                and isinstance(node.func.value, ir.Name)
            ):
                self.set_name(node.func.value.id, flag)
            stack.extend(ir.children(node))

    def note_seed(self, seed: Seed, args: list[Value], keywords: dict[str, Value]) -> None:
        arguments = self.named(seed.params, args, keywords)
        value = arguments.get(seed.seed, args[0] if args else const(0))
        if not value.local and not v.is_ranked(value) and not _mentions_rank(value):
            for stream in seed.streams:
                self.store[(SEEDED, stream)] = const(True)

    def constructed(
        self, entry: Entry, args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        info = entry.cls
        assert info is not None
        arguments = self.named(info.params, args, keywords)
        inner = arguments.get(info.wraps) if info.wraps else None
        marks = {
            f"{name}={value.value!r}"
            for name, value in arguments.items()
            if isinstance(value, Const)
        }
        marks |= {
            f"{name}=?"
            for name in SYNC_BUFFERS
            if not isinstance(arguments.get(name, const(None)), Const)
        }
        for name, value in arguments.items():
            if isinstance(value, v.Obj):
                marks |= {f"{name}.{mark}" for mark in value.marks if "=" in mark}
        if self.catalogue.subclass_of(entry.name, "torch.utils.data.DataLoader"):
            sampler = arguments.get("sampler") or arguments.get("batch_sampler")
            if isinstance(sampler, v.Obj) and self.catalogue.subclass_of(sampler.kind, SHARDED):
                marks.add("sharded")
            uneven = [value for value in (*args, *keywords.values()) if self.is_uneven(value)]
            if uneven:
                marks.update({"uneven", "sharded"})
                if all(is_seldom_uneven(value) for value in uneven):
                    marks.add(SELDOM_UNEVEN)
        if any(each.shared for each in self.catalogue.classes(entry.name)):
            return v.obj(self.catalogue.canonical(entry.name), self.number("shared", entry.name))
        made = v.obj(
            self.catalogue.canonical(entry.name),
            self.number("new", self.here(site), entry.name),
            inner,
            frozenset(marks),
        )
        group = arguments.get("process_group", arguments.get("group", const(None)))
        if not (isinstance(group, Const) and group.value is None):
            self.store[(made.oid, BUILT_WITH_GROUP)] = group
        return made

    def returned(
        self,
        returns: Returns,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        receiver: Value | None,
    ) -> Value | None:
        kinds = returns.kinds
        if returns.like:
            parts = [self.call_external(name, [], {}, site, None) for name in returns.like]
            return v.seq("tuple", parts)
        if kinds == "self":
            return receiver
        if kinds == "inner":
            target = args[0] if args else next(iter(keywords.values()), None)
            return self.unwrapped(target) if target is not None else None
        if kinds in {"parts", "chain"}:
            return self.collection_of(args, kinds)
        if kinds == "same":
            items = [
                self.converted(value, returns, index, site, receiver)
                for index, value in enumerate(args)
            ]
            if "*" in keywords or not items:
                return None
            return items[0] if len(items) == 1 else v.seq("tuple", items)
        if isinstance(kinds, str):
            return v.obj(
                kinds, self.number("new", self.here(site), kinds), args[0] if args else None
            )
        arguments = self.named(returns.params, args, keywords)
        inner = arguments.get("model") or (args[0] if args else None)
        made: list[Value] = []
        for index, kind in enumerate(kinds):
            oid = self.number("new", self.here(site), index)
            made.append(
                v.obj(kind, oid, inner if index == 0 else None)
                if kind
                else unknown("returned", oid)
            )
        return made[0] if len(made) == 1 else v.seq("tuple", made)

    def collection_of(self, args: list[Value], kind: str) -> Value | None:
        """A collection of modules; None if the project defines none of them."""
        whole = args[0] if len(args) == 1 else None
        if isinstance(whole, v.Map) and kind == "parts":
            return whole if any(isinstance(part, v.Instance) for _, part in whole.items) else None
        parts = whole.items if isinstance(whole, v.Seq) else tuple(args)
        if not any(isinstance(part, (v.Instance, v.Seq)) for part in parts):
            return None
        return v.seq("list" if kind == "parts" else CHAIN, parts)

    def run_chain(
        self, parts: tuple[Value, ...], args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        """Call modules one after the other, each with what the one before has returned."""
        for number, part in enumerate(parts):
            with self.again(f"part {number}"):
                args, keywords = [self.call(part, args, keywords, site, None)], {}
        return args[0]

    def converted(
        self, value: Value, returns: Returns, index: int, site: int, receiver: Value | None
    ) -> Value:
        """What ``prepare`` makes of one of its arguments."""
        kind = self.kind_of(value)
        if kind is None and isinstance(value, Unknown) and returns.model is not None:
            kind = MODEL if index == returns.params.index(returns.model) else None
        if kind is None or not returns.converts:
            return value
        for base, result in returns.converts.items():
            if kind == base or self.catalogue.subclass_of(kind, base):
                if self.catalogue.subclass_of(kind, result):
                    return value
                marks = value.marks if isinstance(value, v.Obj) else frozenset()
                if self.catalogue.subclass_of(result, "torch.utils.data.DataLoader"):
                    marks = marks | {"sharded"}
                    if isinstance(receiver, v.Obj) and not _NOT_FILLED.isdisjoint(receiver.marks):
                        marks = marks | {"uneven"}
                oid = self.number("new", self.here(site), index)
                return v.obj(result, oid, value, marks)
        return value

    def unwrapped(self, value: Value) -> Value:
        value = self.resolve(value)
        while (
            isinstance(value, v.Obj)
            and value.inner is not None
            and self.context.unwraps(value.kind)
        ):
            value = value.inner
        return value

    # ---- objects of framework classes

    def invoke(
        self,
        target: v.Obj,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        """Call an object: a forward of a wrapped model, an update of a metric."""
        entry = self.catalogue.member(target.kind, "__call__")
        arms = self.catalogue.arms_backward(target.kind)
        result: Value = (
            unknown(
                "forward",
                target.oid,
                self.here(site),
                local=self.is_own_batch(args),
                fresh=True,
                wrapped=frozenset({target.oid}),
            )
            if arms or (entry and entry.collective and entry.collective.kind == "forward")
            else unknown("output", target.kind, target.oid, *args, *keywords.values())
        )
        if entry is not None and entry.collective is not None:
            result = self.collective(entry, args, keywords, node, site, target, result)
            if entry.collective.after_gradients:
                self.note_gradients(target, site, result)
        if arms:
            self.may_fail(site)
        return result

    def note_gradients(self, target: v.Obj, site: int, result: Value) -> None:
        """After a forward with gradients, the next forward communicates again."""
        if self.is_cached(target.oid) and not self.quiet and arms_backward(self, target):
            del self.store["once", target.oid]
            self.results[site, self.inner] = result  # the statement may be evaluated again

    def is_own_batch(self, args: list[Value]) -> bool:
        """Is the input this rank's own? Not if all ranks read the same data in the same order."""
        if any(arg.local for arg in args):
            return True
        return not any(SAME in getattr(arg, "tokens", ()) for arg in args)

    def call_method(
        self,
        receiver: Value,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        if isinstance(receiver, v.Obj):
            return self.call_object_method(receiver, name, args, keywords, site, node)
        if is_group(receiver):
            entry = self.catalogue.member(_GROUP, name)
            if entry is not None and entry.collective is not None:
                return self.collective(entry, args, keywords, node, site, receiver)
        if name == "backward":
            # of the loss, or of an optimizer that is given the loss
            for value in (receiver, *args[:1]):
                wrapped = getattr(value, "wrapped", None)
                if wrapped:
                    return self.backward(wrapped, site)
        return self.call_data_method(receiver, name, args, keywords, site, node)

    def call_object_method(
        self,
        receiver: v.Obj,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        entry = self.catalogue.member(receiver.kind, name)
        self.note_agreement(self.agreement_of(receiver, name), args, keywords, site)
        once = self.store.get(("once", receiver.oid))
        if self.is_cached(receiver.oid) and isinstance(once, Const) and name in once.value:
            del self.store[("once", receiver.oid)]
        if entry is not None:
            if name == "generate" and self.argument_is(keywords, _OWN_PACE):
                return self.generated(entry, args, keywords, site, node, receiver)
            value = self.call_entry(entry, args, keywords, site, node, receiver)
            if value is not None:
                return value
        if name in SELF_RETURNING:
            return receiver
        attribute = self.object_attribute(receiver, name, site)
        inner = attribute
        while isinstance(inner, v.Partial):
            inner = inner.target
        # a method may stand in for itself, with some of its arguments
        if not isinstance(attribute, v.Method) and inner is not v.method(receiver, name):
            return self.call(attribute, args, keywords, site, node)
        if name == "forward" and self.catalogue.arms_backward(receiver.kind):
            return self.invoke(receiver, args, keywords, site, node)
        values = [*args, *keywords.values()]
        return self.handed_over(values, name, unknown("method", receiver, name, *values))

    def generated(
        self,
        entry: Entry,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
        receiver: v.Obj,
    ) -> Value:
        """A text that may be longer on this rank: forwards that the others do not join."""
        with self.again("text"):
            value = self.call_entry(entry, args, keywords, site, node, receiver)
        atom = unknown("trip", "generate", self.here(site), local=True, fresh=True)
        if self.decide_at(site, atom):
            with self.again("longer"):
                self.call_entry(entry, args, keywords, site, node, receiver)
        return value if value is not None else unknown("text", self.here(site), local=True)

    def backward(self, wrapped: frozenset[int], site: int) -> Value:
        """``loss.backward()`` reduces the gradients of the wrapped models it came from."""
        key = (site, self.inner)
        done = self.results.get(key)
        if done is not None:
            return done
        if all(("nosync", oid) in self.store for oid in wrapped):
            return const(None)
        groups = {self.store.get((oid, BUILT_WITH_GROUP)) for oid in wrapped}
        group = groups.pop() if len(groups) == 1 else None
        members = self.members_of(self.resolve(group)) if group is not None else WORLD
        if members[0] is not None and self.rank not in members[0]:
            return const(None)
        name = "torch.Tensor.backward"
        raise self.for_all(name, ("backward",), site, key, value=const(None), members=members)


def is_cached(function: ir.Function) -> bool:
    """Is what it returns first returned ever after?"""
    return any(
        not ir.tokens_of(decorator).isdisjoint({"lru_cache", "cache", "cached_property"})
        for decorator in function.decorators
    )


def _is_data(value: Value) -> bool:
    """Is it a number, a text, a collection or unknown, whichever way led here?"""
    kinds = (Const, v.PerRank, v.WorldSizeExpr, v.Seq, v.Map, Unknown)
    return all(isinstance(leaf, kinds) for leaf in v.leaves(value))


def _drawn(seeded: Value, alike: Value, own: Value) -> Value:
    """What is drawn where the generator has been seeded alike, and where it has not."""
    if isinstance(seeded, v.Phi):
        ways = (_drawn(way, alike, own) for way in (seeded.then, seeded.orelse))
        return v.phi(seeded.test, *ways)
    return alike if seeded is const(True) else own


def _params_with(
    holds: Callable[[Value], bool],
    function: ir.Function,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> frozenset[str] | None:
    """The parameters that are given values of a kind; None if that cannot be told."""
    params = {param.name: param for param in function.params if not param.star}
    places = [name for name, param in params.items() if not param.keyword_only]
    named = chain(zip(chain(places, repeat("*")), args, strict=False), keywords.items())
    own = frozenset(name for name, value in named if holds(value))
    return own if own <= params.keys() else None


def _mentions_rank(value: Value) -> bool:
    if isinstance(value, Unknown):
        return any(isinstance(arg, Value) and _mentions_rank(arg) for arg in value.args)
    return v.is_ranked(value)


def _is_given(value: Value) -> Value:
    """Is it anything but None?"""
    if isinstance(value, v.Phi):
        return v.phi(value.test, _is_given(value.then), _is_given(value.orelse))
    return const(not (isinstance(value, Const) and value.value is None))


def _is_set(value: Value) -> Value:
    """The value of a flag; what has not been written is not set."""
    if isinstance(value, v.Phi):
        return v.phi(value.test, _is_set(value.then), _is_set(value.orelse))
    return const(False) if isinstance(value, Unknown) and value.op == v.UNSET else value
