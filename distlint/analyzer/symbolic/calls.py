"""Calls: what is called at a place in the program, and with which arguments."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.attributes import attribute_of
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.data_methods import run_inside
from distlint.analyzer.symbolic.framework_objects import CHAIN
from distlint.analyzer.symbolic.function_calls import call_function, call_instance, instantiate
from distlint.analyzer.symbolic.library_calls import call_external
from distlint.analyzer.symbolic.method_calls import call_method, invoke
from distlint.analyzer.symbolic.state import BranchUndecided, ResultKey
from distlint.analyzer.symbolic.values import Const, Unknown, Value, unknown

EVALUATING = ("eval", "valid", "test", "infer")
"""How names of functions begin that run a model without training it."""


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
                    lambda each: call_method(
                        self, each, func.attr, args, keywords, node.site, node
                    ),
                )
            receiver = self.resolve(receiver)
            if isinstance(
                receiver, (Const, v.PerRank, v.WorldSizeExpr, v.Seq, v.Map, Unknown, v.Obj)
            ) and not (isinstance(receiver, v.Obj) and (receiver.oid, func.attr) in self.store):
                args, keywords = self.arguments(node)
                self.site = node.site
                return call_method(self, receiver, func.attr, args, keywords, node.site, node)
            target = attribute_of(self, receiver, func.attr, func.site)
        elif isinstance(func, ir.Name) and func.id == "super" and len(node.args) in {1, 2}:
            return self.super_of(*(self.evaluate(each.value) for each in node.args))
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

    def super_of(self, *given: Value) -> Value:
        """``super(Trainer, self)``, or ``super(self)``: above the class of the method at hand."""
        *named, bound = given
        if named:
            cls = named[0].cls if isinstance(named[0], v.Cls) else None
        else:
            function = self.frame.function
            owner = function.owner if function is not None else ""
            cls = self.frame.module.classes.get(owner)
        return v.super_value(cls, bound) if cls is not None else unknown("super")

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
            return instantiate(self, target.cls, args, keywords, site)
        if isinstance(target, v.External):
            return call_external(self, target.name, args, keywords, site, node)
        if isinstance(target, v.Partial):
            merged = {**dict(target.keywords), **keywords}
            return self.call(target.target, [*target.args, *args], merged, site, None)
        if isinstance(target, v.Method):
            return call_method(self, target.receiver, target.name, args, keywords, site, node)
        if isinstance(target, v.Obj):
            return invoke(self, target, args, keywords, site, node)
        if isinstance(target, v.Instance):
            return call_instance(self, target, args, keywords, site)
        if isinstance(target, v.Seq) and target.kind == CHAIN:
            return self.run_chain(target.items, args, keywords, site)
        if isinstance(target, v.PerRank) and node is not None:
            # a rank number or predicate of the name table that turns out to be a function
            return target
        self.may_fail(site)
        values = [*args, *keywords.values()]
        if isinstance(target, Unknown) and target.op == "global" and node is not None:
            self.run_unseen(getattr(node.func, "id", ""), values, site, node)
        return unknown("call", target, *values, wrapped=run_inside(self, values))

    def call_function(
        self,
        target: v.Func,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        key: ResultKey,
    ) -> Value:
        return call_function(self, target, args, keywords, site, key)

    def run_unseen(self, name: str, values: list[Value], site: int, node: ir.Call) -> None:
        """A function that is defined nowhere and evaluates a model runs its forward."""
        if name.lower().lstrip("_").startswith(EVALUATING):
            for value in values:
                if isinstance(value, v.Obj) and self.catalogue.arms_backward(value.kind):
                    invoke(self, value, [], {}, site, node)

    def run_chain(
        self, parts: tuple[Value, ...], args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        """Call modules one after the other, each with what the one before has returned."""
        for number, part in enumerate(parts):
            with self.again(f"part {number}"):
                args, keywords = [self.call(part, args, keywords, site, None)], {}
        return args[0]


def _is_data(value: Value) -> bool:
    """Is it a number, a text, a collection or unknown, whichever way led here?"""
    kinds = (Const, v.PerRank, v.WorldSizeExpr, v.Seq, v.Map, Unknown)
    return all(isinstance(leaf, kinds) for leaf in v.leaves(value))
