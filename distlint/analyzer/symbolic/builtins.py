"""Builtins, the standard library's callables that matter, and methods of plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static.slicing import HARMLESS
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.expressions import EXACT_BOUND, Expressions, is_of_outputs
from distlint.analyzer.symbolic.opaque_calls import handed_over
from distlint.analyzer.symbolic.processes import run_processes
from distlint.analyzer.symbolic.state import Exit, Frame
from distlint.analyzer.symbolic.values import UNEVEN, Const, Unknown, Value, const, unknown

SHORT_RANGE = 8
"""Ranges of a known length up to this are run through in full."""

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": bool,
    "builtins.abs": abs,
    "builtins.round": round,
}
_EMPTY: dict[str, Any] = {
    "builtins.int": 0,
    "builtins.float": 0.0,
    "builtins.str": "",
    "builtins.bool": False,
}
_AT_ONCE = frozenset({"os._exit", "os.abort"})
_COMMAND_LINE = frozenset({"parse_args", "parse_known_args"})
_EXITS = _AT_ONCE | {"sys.exit", "builtins.exit", "builtins.quit"}
_TRANSPARENT = frozenset(
    {
        "builtins.iter",
        "builtins.reversed",
        "torch.as_tensor",
        "torch.autograd.Variable",
        "copy.copy",
        "copy.deepcopy",
        "itertools.cycle",
        "typing.cast",
    }
)
_PROGRESS = frozenset(
    {"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.trange", "tqdm.auto.trange"}
)
_SAFE_METHODS = HARMLESS | frozenset(
    "item size dim cpu cuda detach numel zero_grad add_argument parse_args write flush".split()
)
"""Methods that do not fail on one rank alone."""

_ALIKE = frozenset("index remove pop split rsplit decode encode format partition".split())
"""Methods that fail by their arguments alone: on all ranks, if these are the same there."""

_STRING_METHODS = frozenset(
    [
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "replace",
        "isdigit",
        "title",
    ]
)


_NAMESPACE = ir.Class("SimpleNamespace", "", (), {}, {}, (), -1)


class Builtins(Expressions):
    """Calls whose meaning is Python's own."""

    def call_builtin(
        self,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value | None:
        if name in _CONVERSIONS:
            return self.conversion(name, args)
        if name in _EXITS:
            raise Exit(self.exit_is_success(name, args), site, at_once=name in _AT_ONCE)
        if name in _TRANSPARENT:
            return args[-1 if name == "typing.cast" else 0] if args else None
        if name in _PROGRESS or name.lower().endswith(".tqdm"):
            return self.progress_bar(name, args, keywords, site)
        handler = _BUILTIN.get(name)
        return handler(self, args, keywords, site, node) if handler is not None else None

    def conversion(self, name: str, args: list[Value]) -> Value:
        if not args:
            return const(_EMPTY[name]) if name in _EMPTY else unknown("converted")
        value = args[0]
        if name == "builtins.bool" and isinstance(value, (v.Seq, v.Map)):
            return const(bool(value.items))
        if name in {"builtins.int", "builtins.float"} and _may_fail_alone(name, value):
            self.may_fail(self.site)
        if name in {"builtins.int", "builtins.float", "builtins.bool"} and isinstance(
            value, Unknown
        ):
            # the number keeps the identity of what it was made from
            return value if name == "builtins.bool" else unknown("number", value)
        return self.convert(_CONVERSIONS[name], value)

    def exit_is_success(self, name: str, args: list[Value]) -> bool:
        if name == "os.abort":
            return False
        if not args:
            return True
        status = args[0]
        if not isinstance(status, Const):
            self.context.ends = True  # perhaps well
        return isinstance(status, Const) and status.value in {None, 0}

    def progress_bar(
        self, name: str, args: list[Value], keywords: dict[str, Value], site: int
    ) -> Value:
        iterable = args[0] if args else keywords.get("iterable", const(None))
        disable = keywords.get("disable")
        if disable is not None and v.is_ranked(disable) and node_has_no_items(iterable):
            return v.obj("tqdm.tqdm", self.number("new", self.here(site)), iterable)
        if disable is not None and v.is_ranked(disable):
            bar = v.obj("tqdm.tqdm", self.number("new", self.here(site)), iterable)
            self.store[(bar.oid, "[disabled]")] = disable
            return bar
        if name.endswith("trange"):
            return self.make_range(args)
        return iterable

    # ---- numbers and sequences

    def make_range(self, args: list[Value]) -> Value:
        args = [self.resolve(arg) for arg in args]
        if any(arg.local for arg in args):
            return unknown("range", *args, UNEVEN)
        if any(v.is_ranked(arg) for arg in args):
            try:
                columns = [v.vector(arg, self.cluster.size) for arg in args]
                return v.ranked(
                    [
                        range(*(column[rank] for column in columns))
                        for rank in range(self.cluster.size)
                    ]
                )
            except (ValueError, TypeError):
                return unknown("range", *args)
        try:
            columns = [v.vector(arg, self.cluster.size) for arg in args]
            made = range(*(column[0] for column in columns))
            length = len(made)
        except (ValueError, TypeError, OverflowError):
            return unknown("range", *args)
        if length > SHORT_RANGE:
            # long loops are cut short; two that differ by one turn still differ
            return v.seq(v.CUT, [const(item) for item in made[: 2 + length % 3]])
        return v.seq("list", [const(item) for item in made])

    def b_range(self, args: list[Value], *_: object) -> Value:
        return self.make_range(args)

    def b_len(self, args: list[Value], *_: object) -> Value | None:
        if not args:
            return None
        value = self.resolve(args[0])
        if isinstance(value, (v.Seq, v.Map)):
            return const(len(value.items))
        if isinstance(value, v.PerRank):
            return self.convert(len, value)
        if isinstance(value, Const) and hasattr(value.value, "__len__"):
            return const(len(value.value))
        if isinstance(value, v.Obj):
            uneven = "uneven" in value.marks
            return unknown("len", value, local=uneven, clean=True)
        if isinstance(value, Unknown) and not value.local:
            return unknown("len", value)
        # the length of rank-local data is uniform as a rule, unless it is a share of the whole
        return unknown("len", value, local=UNEVEN in getattr(value, "tokens", ()), clean=True)

    def b_extreme(self, function: Callable[..., Any], args: list[Value]) -> Value:
        items = args
        if len(args) == 1:
            whole = self.resolve(args[0])
            if not isinstance(whole, v.Seq):
                return unknown(function.__name__, whole, local=is_of_outputs(whole))
            items = list(whole.items)
        if items and any(isinstance(item, (v.PerRank, v.WorldSizeExpr)) for item in items):
            try:
                columns = [v.vector(item, self.cluster.size) for item in items]
                return v.ranked([function(row) for row in zip(*columns, strict=True)])
            except (ValueError, TypeError):
                pass
        try:
            return const(function(v.plain(item) for item in items))
        except (ValueError, TypeError):
            return unknown(function.__name__, *items)

    def b_min(self, args: list[Value], *_: object) -> Value:
        return self.b_extreme(min, args)

    def b_max(self, args: list[Value], *_: object) -> Value:
        return self.b_extreme(max, args)

    def b_sum(self, args: list[Value], *_: object) -> Value:
        return self.b_extreme(sum, args[:1])

    def b_any(self, args: list[Value], *_: object) -> Value:
        return self.junction(args, True)

    def b_all(self, args: list[Value], *_: object) -> Value:
        return self.junction(args, False)

    def junction(self, args: list[Value], stop: bool) -> Value:
        items = self.resolve(args[0]) if args else const(None)
        if not isinstance(items, v.Seq):
            if isinstance(items, (v.PerRank, v.WorldSizeExpr)):
                return self.convert(any if stop else all, items)
            return unknown("any" if stop else "all", items)
        open_items = []
        for item in items.items:
            if isinstance(item, (Unknown, v.Phi)):
                open_items.append(item)
            elif self._truth(item) == stop:
                return const(stop)
        if not open_items:
            return const(not stop)
        return open_items[0] if len(open_items) == 1 else unknown("any" if stop else "all", items)

    def collection(self, kind: str, args: list[Value]) -> Value:
        if not args:
            return v.seq(kind, [])
        value = self.resolve(args[0])
        if isinstance(value, v.Seq):
            items = list(dict.fromkeys(value.items)) if kind == "set" else value.items
            return v.seq(v.CUT if value.kind == v.CUT else kind, items)
        if isinstance(value, v.PerRank) and kind != "set":
            return self.convert(_as_tuple, value)
        if isinstance(value, v.Map):
            return v.seq(kind, [key for key, _ in value.items])
        if kind == "set" and value.local:
            # which elements there are, and in which order, is each rank's own
            return unknown("set", value, UNEVEN)
        return value

    def b_list(self, args: list[Value], *_: object) -> Value:
        return self.collection("list", args)

    def b_tuple(self, args: list[Value], *_: object) -> Value:
        return self.collection("tuple", args)

    def b_set(self, args: list[Value], *_: object) -> Value:
        return self.collection("set", args)

    def b_sorted(self, args: list[Value], *_: object) -> Value:
        return self.collection("list", args)

    def b_dict(self, args: list[Value], keywords: dict[str, Value], *_: object) -> Value | None:
        if args or "**" in keywords:
            return None
        return v.mapping([(const(name), value) for name, value in keywords.items()])

    def b_enumerate(
        self, args: list[Value], keywords: dict[str, Value], *_: object
    ) -> Value | None:
        if not args:
            return None
        start = args[1] if len(args) > 1 else keywords.get("start", const(0))
        items = self.exact_items(self.resolve(args[0]))
        if items is not None:
            numbers = (
                v.binary("+", start, const(index), self.cluster) for index in range(len(items))
            )
            pairs = zip(numbers, items, strict=True)
            return v.seq("list", [v.seq("tuple", pair) for pair in pairs])
        return unknown("enumerate", args[0], start, clean=True)

    def b_zip(self, args: list[Value], *_: object) -> Value:
        rows = [self.exact_items(self.resolve(arg)) for arg in args]
        if rows and all(row is not None for row in rows):
            known = [row for row in rows if row is not None]
            return v.seq("list", [v.seq("tuple", row) for row in zip(*known, strict=False)])
        return unknown("zip", *args, clean=True)

    def b_islice(self, args: list[Value], _keywords: object, site: int, *_: object) -> Value | None:
        """The first so many items: as many on each rank, unless there are not enough."""
        if len(args) != 2:
            return None
        items = self.exact_items(self.resolve(args[0]))
        if items is not None and isinstance(args[1], Const) and type(args[1].value) is int:
            return v.seq("list", items[: args[1].value])
        return unknown(
            "islice", self.number("islice", self.here(site)), args[1], local=args[0].local
        )

    def b_next(
        self, args: list[Value], _keywords: object, site: int, node: ir.Call | None
    ) -> Value | None:
        if not args:
            return None
        items = self.resolve(args[0])
        items = items if node is None else self.as_loader(node, items)
        return self.loop_item(items, 0, self.here(site))

    # ---- introspection

    def b_isinstance(self, args: list[Value], *_: object) -> Value | None:
        if len(args) != 2:
            return None
        kinds = args[1].items if isinstance(args[1], v.Seq) else (args[1],)
        return self.of_each(args[0], lambda each: self.is_any_instance(each, kinds))

    def is_any_instance(self, value: Value, kinds: Sequence[Value]) -> Value:
        while isinstance(value, Unknown) and value.op in {"part", "shard", "slice"}:
            value = value.args[0]  # a part of a thing is of its type
        verdicts = [self.is_instance(value, kind) for kind in kinds]
        if True in verdicts:
            return const(True)
        if all(verdict is False for verdict in verdicts):
            return const(False)
        # data of one rank has the type that it has on the others
        return unknown("isinstance", value, *kinds, local=False, clean=True)

    def is_instance(self, value: Value, kind: Value) -> bool | None:
        if isinstance(value, v.Instance) and isinstance(kind, v.Cls):
            return kind.cls in list(self.mro(value.cls))
        if isinstance(kind, v.External):
            if isinstance(value, v.Obj):
                if self.catalogue.subclass_of(value.kind, kind.name):
                    return True
                return False if self.catalogue.is_class(kind.name) else None
            if isinstance(value, v.Instance):
                names = [owner for owner in self.mro(value.cls) if isinstance(owner, str)]
                if any(self.catalogue.subclass_of(name, kind.name) for name in names):
                    return True
            return _is_builtin_instance(value, kind.name)
        return None

    def b_getattr(
        self, args: list[Value], _keywords: object, site: int, *_: object
    ) -> Value | None:
        if len(args) < 2 or not isinstance(args[1], Const) or not isinstance(args[1].value, str):
            return None
        name = args[1].value
        return self.of_each(args[0], lambda each: self.attribute(each, name, site))

    def b_hasattr(self, args: list[Value], *_: object) -> Value | None:
        if len(args) != 2 or not isinstance(args[1], Const):
            return None
        name = str(args[1].value)
        return self.of_each(args[0], lambda each: self.has_attribute(each, name))

    def has_attribute(self, value: Value, name: str) -> Value:
        if isinstance(value, v.Obj):
            wrapper = self.context.unwraps(value.kind)
            if wrapper is not None and name == "module":
                return const(wrapper == name)
        owner = value.oid if isinstance(value, (v.Obj, v.Instance)) else value
        if (owner, name) in self.store:
            return const(True)
        return unknown("hasattr", value, name, local=False, clean=True)

    def b_setattr(self, args: list[Value], *_: object) -> Value:
        if len(args) == 3 and isinstance(args[1], Const):
            self.set_attribute(self.resolve(args[0]), str(args[1].value), args[2])
        return const(None)

    def b_type(self, args: list[Value], *_: object) -> Value | None:
        value = self.resolve(args[0]) if len(args) == 1 else None
        if isinstance(value, Unknown) and value.local:
            return unknown("type", value, local=False, clean=True)
        return v.cls_value(value.cls) if isinstance(value, v.Instance) else None

    def b_is_tensor(self, args: list[Value], *_: object) -> Value | None:
        value = self.resolve(args[0]) if len(args) == 1 else None
        if isinstance(value, (v.Seq, v.Map, Const)):
            return const(False)
        if not isinstance(value, Unknown):
            return None
        return unknown("isinstance", value, "torch.Tensor", local=False, clean=True)

    def b_dtype_test(self, args: list[Value], *_: object) -> Value | None:
        value = self.resolve(args[0]) if len(args) == 1 else None
        if not isinstance(value, Unknown):
            return None
        return unknown("dtype", value, self.site, local=False, clean=True)

    def b_silent(self, *_: object) -> Value:
        return const(None)

    # ---- standard library

    def b_partial(self, args: list[Value], keywords: dict[str, Value], *_: object) -> Value | None:
        if not args or "*" in keywords or "**" in keywords:
            return None
        return v.partial(args[0], tuple(args[1:]), tuple(keywords.items()))

    def b_namespace(
        self, args: list[Value], keywords: dict[str, Value], site: int, *_: object
    ) -> Value | None:
        """An object that holds what is assigned to it, as that of a class without methods does."""
        if args or "**" in keywords:
            return None
        made = v.instance(_NAMESPACE, self.number("new", self.here(site), "namespace"))
        for name, value in keywords.items():
            self.store[(made.oid, name)] = value
        return made

    def b_getenv(self, args: list[Value], keywords: dict[str, Value], *_: object) -> Value | None:
        if not args:
            return None
        default = args[1] if len(args) > 1 else keywords.get("default")
        return self.environment(args[0], default)

    def b_setenv(self, args: list[Value], *_: object) -> Value:
        return args[1] if len(args) > 1 else const(None)

    def b_floor(self, args: list[Value], *_: object) -> Value | None:
        return self.convert(int, args[0]) if args else None

    def b_spawn(
        self, args: list[Value], keywords: dict[str, Value], site: int, *_: object
    ) -> Value:
        """``mp.spawn(fn, args=(...))``: one process per local rank runs ``fn(rank, ...)``."""
        target = args[0] if args else keywords.get("fn")
        rest = keywords.get("args", args[1] if len(args) > 1 else v.seq("tuple", []))
        if not isinstance(target, (v.Func, v.Partial)):
            return const(None)
        extra = list(rest.items) if isinstance(rest, v.Seq) else []
        wide = keywords if not isinstance(rest, v.Seq) else {}
        rank = v.ranked(self.cluster.coordinates(self.spawned_scope(target)))
        return run_processes(self, target, [rank, *extra], {"*": rest} if wide else {}, site)

    def b_fork(self, args: list[Value], keywords: dict[str, Value], site: int, *_: object) -> Value:
        """``notebook_launcher(fn, args, num_processes=n)``: each process runs ``fn(*args)``."""
        target = args[0] if args else keywords.get("function")
        rest = keywords.get("args", args[1] if len(args) > 1 else v.seq("tuple", []))
        count = keywords.get("num_processes", args[2] if len(args) > 2 else None)
        if not isinstance(target, (v.Func, v.Partial)) or count == const(1):
            return const(None)
        if isinstance(rest, v.Seq):
            return run_processes(self, target, list(rest.items), {}, site)
        return run_processes(self, target, [], {"*": rest}, site)

    def spawned_scope(self, target: Value) -> str:
        """Is the number that ``mp.spawn`` passes used as the global rank?

        One node is the rule; a function that computes ``node * n + local`` says otherwise.
        """
        function = target.function if isinstance(target, v.Func) else None
        if function is not None and function.params:
            first = function.params[0].name
            stack: list[Any] = list(function.body)
            while stack:
                item = stack.pop()
                if (
                    isinstance(item, ir.Binary)
                    and item.op == "+"
                    and isinstance(item.right, ir.Name)
                    and item.right.id == first
                    and isinstance(item.left, ir.Binary)
                    and item.left.op == "*"
                ):
                    return "local"
                stack.extend(ir.children(item))
        return "global"

    def b_process(
        self, args: list[Value], keywords: dict[str, Value], site: int, *_: object
    ) -> Value:
        """``Process(target=fn, args=(rank, ...))`` in a loop over ranks: an entry point."""
        target = keywords.get("target")
        rest = keywords.get("args")
        mark = ("spawned", str(self.number("spawned", target)))
        if (
            not isinstance(target, v.Func)
            or not isinstance(rest, v.Seq)
            or not self.it
            or mark in self.store
            or not rest.items
            or not self.context.matters(target.function)
        ):
            return unknown("process", site)
        key = (site, "process")
        if key in self.results:
            self.store[mark] = const(True)
            return unknown("process", site)
        first, *others = rest.items
        if not (isinstance(first, Const) and type(first.value) is int) and not isinstance(
            first, Unknown
        ):
            return unknown("process", site)
        return self.call_function(
            target, [v.ranked(self.cluster.coordinates("global")), *others], {}, site, key
        )

    def b_add_argument(self, *_: object) -> Value:
        return const(None)

    # ---- methods of plain data

    def call_data_method(
        self,
        receiver: Value,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        if isinstance(receiver, v.Seq):
            value = self.sequence_method(receiver, name, args, node)
            if value is not None:
                return value
        elif isinstance(receiver, v.Map):
            value = self.dict_method(receiver, name, args, keywords, node)
            if value is not None:
                return value
        elif isinstance(receiver, Const) and name in _STRING_METHODS:
            try:
                return const(getattr(receiver.value, name)(*[v.plain(arg) for arg in args]))
            except (ValueError, TypeError, AttributeError):
                pass
        elif isinstance(receiver, (v.PerRank, v.WorldSizeExpr)):
            if name in {"item", "__int__"}:
                return receiver
        elif isinstance(receiver, Unknown):
            if name[-1:] == "_" and name[-2:] != "__" and node is not None:
                return self.in_place_method(receiver, name, args, node)
            return self.unknown_method(receiver, name, args, keywords, site)
        return unknown("method", receiver, name, *args, *keywords.values())

    def in_place_method(
        self, receiver: Unknown, name: str, args: list[Value], node: ir.Call
    ) -> Value:
        """``tensor.fill_(x)`` and the like change the tensor and return it."""
        value = unknown("changed", receiver, name, *args)
        if isinstance(node.func, ir.Attribute) and name != "requires_grad_":
            self.assign_place(node.func.value, value)
        return value

    def unknown_method(
        self,
        receiver: Unknown,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
    ) -> Value:
        if name == "item" and not (args or keywords):
            return _number_held(receiver)
        attribute = self.unknown_attribute(receiver, name)
        if isinstance(attribute, v.PerRank) and is_group(receiver):
            numbers = self.coordinates("group", None, receiver)
            return attribute if numbers is None else v.ranked(numbers)
        if isinstance(attribute, (v.Func, v.PerRank, v.Partial, v.Obj)):
            return (
                attribute
                if isinstance(attribute, v.PerRank)
                else self.call(attribute, args, keywords, site, None)
            )
        kind = self.catalogue.telltale(name)
        if kind is not None:
            made = v.obj(kind, self.number("telltale", receiver))
            return self.call(v.method(made, name), args, keywords, site, None)
        method = self.only_method(receiver, name)
        if method is not None:
            return self.call(method, args, keywords, site, None)
        values = [*args, *keywords.values()]
        if name not in _SAFE_METHODS and not (name in _ALIKE and v.are_uniform(receiver, *values)):
            self.may_fail(site)
        if name in {"items", "keys", "values", "named_parameters", "parameters"} and receiver.local:
            # the keys of rank-local data are the same everywhere as a rule
            return unknown("method", receiver, name, local=False, clean=True)
        if receiver.local and (name == "dim" or (name == "size" and values in ([], [const(0)]))):
            held = self.unknown_attribute(receiver, "ndim" if name == "dim" else "shape")
            return self.subscript(held, values[0]) if values else held
        if name in _COMMAND_LINE and not receiver.local:
            # an option for this rank alone says nothing of the others
            return unknown("method", receiver, name, *values, clean=True)
        if name in {"get", "pop", "setdefault"} and values and v.is_process_id(values[0]):
            return unknown("method", receiver, name, "process", clean=True)
        result = unknown("method", receiver, name, *values, wrapped=self.run_inside(values))
        return handed_over(self, values, name, result)

    def only_method(self, receiver: Unknown, name: str) -> v.Func | None:
        """The one method of this name in sight, of an object that came as parameter or attribute.

        The name has to be of several words and none that is known of a framework, and the method
        one that may communicate.
        """
        if receiver.local or receiver.op not in {"param", "attr"}:
            return None
        if "_" not in name.strip("_") or name in self.catalogue.known_names:
            return None
        graph = self.context.effects.graph
        found = graph.callable_from(self.frame.module.key).get(name, ())
        if len(found) != 1 or not found[0].owner or not self.context.may_communicate(found[0]):
            return None
        cls = self.context.module_by_key(found[0].module).class_of(found[0])
        if cls is None or found[0].decorators or not graph.is_short(found[0]):
            return None
        bound = v.instance(cls, self.number("only", receiver, cls))
        return v.func(found[0], self.context.module_scope(self.context.module_of(cls)), bound)

    def run_inside(self, values: list[Value]) -> frozenset[int]:
        """Wrapped models that a function may run: its result may be their loss."""
        return frozenset(
            leaf.oid
            for value in values
            for leaf in v.leaves(value)
            if isinstance(leaf, v.Obj) and self.catalogue.arms_backward(leaf.kind)
        )

    def sequence_method(
        self, receiver: v.Seq, name: str, args: list[Value], node: ir.Call | None
    ) -> Value | None:
        place = (
            node.func.value if node is not None and isinstance(node.func, ir.Attribute) else None
        )
        if name in {"append", "add", "extend", "insert", "remove", "clear"} and place is not None:
            if name in {"append", "add"} and len(receiver.items) < EXACT_BOUND and args:
                self.assign_place(place, v.seq(receiver.kind, (*receiver.items, args[0])))
            elif name == "extend" and args and isinstance(args[0], v.Seq):
                self.assign_place(place, v.seq(receiver.kind, receiver.items + args[0].items))
            elif name == "clear":
                self.assign_place(place, v.seq(receiver.kind, []))
            else:
                self.assign_place(place, unknown("changed", receiver, *args))
            return const(None)
        if name == "index" and args:
            try:
                rows = v.vector(receiver, self.cluster.size)
                wanted = v.vector(args[0], self.cluster.size)
                return v.ranked([row.index(item) for row, item in zip(rows, wanted, strict=True)])
            except (ValueError, AttributeError):
                return unknown("method", receiver, name, *args)
        if name == "pop" and place is not None and receiver.items:
            self.assign_place(place, v.seq(receiver.kind, receiver.items[:-1]))
            return receiver.items[-1]
        return receiver if name == "copy" else None

    def dict_method(
        self,
        receiver: v.Map,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        node: ir.Call | None,
    ) -> Value | None:
        if name == "get" and args:
            found = self.pick_or_default(receiver, args)
            if found is not None:
                return found
        if name == "items":
            return v.seq("list", [v.seq("tuple", pair) for pair in receiver.items])
        if name == "keys":
            return v.seq("list", [key for key, _ in receiver.items])
        if name == "values":
            return v.seq("list", [value for _, value in receiver.items])
        if name in {"update", "pop", "clear", "setdefault"} and node is not None:
            value: Value = unknown("method", receiver, name, *args)
            after: Value = unknown("changed", receiver, *args, *keywords.values())
            popped = self.pop_key(receiver, args) if name == "pop" else None
            if name == "update":
                value = const(None)
                after = updated(receiver, args, keywords) or after
            elif popped is not None:
                value = popped
                after = v.mapping([pair for pair in receiver.items if pair[0] != args[0]])
            if isinstance(node.func, ir.Attribute):
                self.assign_place(node.func.value, after)
            return value
        return None

    def pop_key(self, receiver: v.Map, args: list[Value]) -> Value | None:
        """``d.pop(key)`` of a key that is there; ``d.pop(key, default)`` of one that is not."""
        if not args or not isinstance(args[0], Const):
            return None
        found = self.pick_key(receiver, args[0])
        if found is None and len(args) == 2:
            return args[1] if all(isinstance(key, Const) for key, _ in receiver.items) else None
        return found

    def pick_or_default(self, receiver: v.Map, args: list[Value]) -> Value | None:
        """``d.get(key, default)``, also where each rank has a key of its own."""
        default = args[1] if len(args) > 1 else const(None)
        if v.is_ranked(args[0]) and all(isinstance(key, Const) for key, _ in receiver.items):
            table = {v.plain(key): value for key, value in receiver.items}
            try:
                wanted = v.vector(args[0], self.cluster.size)
                return v.ranked(
                    [
                        v.vector(table.get(item, default), self.cluster.size)[rank]
                        for rank, item in enumerate(wanted)
                    ]
                )
            except ValueError:
                return table.get(self.on_this_rank(args[0]), default)
        found = self.pick_key(receiver, args[0])
        if found is None and isinstance(args[0], Const):
            return default
        return found

    # ---- assignment

    def assign_place(self, place: ir.Expr, value: Value) -> None:
        """Give a variable, attribute or container a new value."""
        if isinstance(place, ir.Name):
            self.rebind(place.id, value)
        elif isinstance(place, ir.Attribute):
            receiver = self.resolve(self.evaluate(place.value))
            if place.attr in {"data", "grad"}:
                self.assign_place(place.value, value)
            else:
                self.set_attribute(receiver, place.attr, value)
        elif isinstance(place, ir.Subscript):
            self.assign_item(place, value)
        elif isinstance(place, ir.Call) and isinstance(place.func, ir.Attribute):
            # a view shares its memory with what it was made from; `torch.ones(1)` is no view
            if not isinstance(self.resolve(self.evaluate(place.func.value)), v.External):
                self.assign_place(place.func.value, value)
        for item, each in items_with(place, value):
            self.assign_place(item, each)

    def assign_item(self, place: ir.Subscript, value: Value) -> None:
        base = self.resolve(self.evaluate(place.value))
        index = (
            const(None)
            if isinstance(place.index, ir.Slice)
            else self.resolve(self.evaluate(place.index))
        )
        if isinstance(base, v.External) and base.name == "os.environ":
            if isinstance(index, Const) and not isinstance(value, Const):
                self.store[(base, str(index.value))] = value
        elif isinstance(base, v.Seq) and isinstance(index, Const) and type(index.value) is int:
            items = list(base.items)
            if -len(items) <= index.value < len(items):
                items[index.value] = value
                self.assign_place(place.value, v.seq(base.kind, items))
        elif isinstance(base, v.Map) and isinstance(index, Const):
            others = [pair for pair in base.items if pair[0] is not index]
            self.assign_place(place.value, v.mapping([*others, (index, value)]))
        elif isinstance(base, v.Map):
            self.assign_place(place.value, unknown("item set", base, index, value))
        elif isinstance(base, Unknown):
            if not (isinstance(index, Const) and isinstance(index.value, str)):
                # a tensor or a list: one item of this rank's own makes the whole so
                base = unknown("item set", base, value)
                self.assign_place(place.value, base)
            self.store[(base, self.slot(index))] = value
        elif isinstance(base, v.Seq):
            self.assign_place(place.value, unknown("changed", base, value))

    def rebind(self, name: str, value: Value) -> None:
        """Change what a name stands for where it is bound: the object was changed."""
        frame: Frame | None = self.frame
        while frame is not None and frame.function is not None:
            if (frame.scope, name) in self.store:
                self.store[(frame.scope, name)] = value
                return
            frame = frame.outer
        self.store[(self.context.module_scope(self.frame.module), name)] = value

    def set_name(self, name: str, value: Value) -> None:
        frame = self.frame
        if frame.function is None:
            self.store[(frame.scope, name)] = value
            return
        if name in frame.function.outer:
            outer = frame.outer
            while outer is not None and outer.function is not None:
                if (outer.scope, name) in self.store:
                    self.store[(outer.scope, name)] = value
                    return
                outer = outer.outer
            self.store[(self.context.module_scope(frame.module), name)] = value
            return
        self.store[(frame.scope, name)] = value

    def set_attribute(self, receiver: Value, attr: str, value: Value) -> None:
        if isinstance(receiver, (v.Obj, v.Instance)):
            self.store[(receiver.oid, attr)] = value
        elif isinstance(receiver, v.Cls):
            self.store[(receiver.cls, attr)] = value
        elif isinstance(receiver, v.ModuleRef):
            module = self.context.module(receiver.name)
            if module is not None:
                self.store[(self.context.module_scope(module), attr)] = value
        elif isinstance(receiver, (Unknown, v.External, v.Func)):
            self.store[(receiver, attr)] = value


_BUILTIN_TYPES = {
    "builtins." + each.__name__: each for each in (bool, bytes, dict, float, int, list, str, tuple)
}


def _is_builtin_instance(value: Value, kind: str) -> bool | None:
    """Is a value of a builtin type, such as ``builtins.dict``? None where that is not known."""
    wanted = _BUILTIN_TYPES.get(kind)
    if wanted is None:
        return None
    if isinstance(value, Const):
        return isinstance(value.value, wanted)
    if isinstance(value, v.Map):
        return wanted is dict
    if isinstance(value, v.Seq):  # a list may stand for a ModuleList
        return None if wanted in {list, tuple} else False
    return None


def items_with(place: ir.Expr, value: Value) -> Iterable[tuple[ir.Expr, Value]]:
    """What stands in a list that is written out, and what each is given with the list."""
    items = place.items if isinstance(place, ir.Display) else ()
    if isinstance(value, v.Seq) and len(value.items) == len(items):
        return zip(items, value.items, strict=True)
    return ((item, value) for item in items)


def updated(before: v.Map, args: list[Value], keywords: dict[str, Value]) -> v.Map | None:
    """What ``d.update(other, key=value)`` leaves, where both are known key by key."""
    given: list[tuple[Value, Value]] = [(const(name), value) for name, value in keywords.items()]
    for other in args:
        if not isinstance(other, v.Map):
            return None
        given = [*other.items, *given]
    if "**" in keywords or "*" in keywords:
        return None
    merged = dict(before.items) | dict(given)
    return v.mapping(list(merged.items())) if len(merged) <= EXACT_BOUND * 2 else None


def is_group(value: Value | None) -> bool:
    """Is it a process group, or called one, as a parameter or an attribute?"""
    if not isinstance(value, Unknown):
        return isinstance(value, v.Group)
    name = value.args[-1] if value.op in {"param", "attr"} else ""
    return isinstance(name, str) and name.endswith(("group", "pg"))


def node_has_no_items(iterable: Value) -> bool:
    return isinstance(iterable, Const) and iterable.value is None


def _as_tuple(items: Any) -> tuple[Any, ...]:
    return tuple(sorted(items)) if isinstance(items, frozenset) else tuple(items)


_BUILTIN: dict[str, Callable[..., Value | None]] = {
    "builtins.range": Builtins.b_range,
    "builtins.len": Builtins.b_len,
    "builtins.min": Builtins.b_min,
    "builtins.max": Builtins.b_max,
    "builtins.sum": Builtins.b_sum,
    "builtins.any": Builtins.b_any,
    "builtins.all": Builtins.b_all,
    "builtins.list": Builtins.b_list,
    "builtins.tuple": Builtins.b_tuple,
    "builtins.set": Builtins.b_set,
    "builtins.frozenset": Builtins.b_set,
    "builtins.sorted": Builtins.b_sorted,
    "builtins.dict": Builtins.b_dict,
    "builtins.enumerate": Builtins.b_enumerate,
    "builtins.zip": Builtins.b_zip,
    "builtins.next": Builtins.b_next,
    "itertools.islice": Builtins.b_islice,
    "builtins.isinstance": Builtins.b_isinstance,
    "builtins.getattr": Builtins.b_getattr,
    "builtins.hasattr": Builtins.b_hasattr,
    "builtins.setattr": Builtins.b_setattr,
    "builtins.type": Builtins.b_type,
    "torch.is_tensor": Builtins.b_is_tensor,
    "torch.is_floating_point": Builtins.b_dtype_test,
    "torch.is_complex": Builtins.b_dtype_test,
    "builtins.print": Builtins.b_silent,
    "functools.partial": Builtins.b_partial,
    "types.SimpleNamespace": Builtins.b_namespace,
    "argparse.Namespace": Builtins.b_namespace,
    "os.getenv": Builtins.b_getenv,
    "os.environ.get": Builtins.b_getenv,
    "os.environ.setdefault": Builtins.b_setenv,
    "math.floor": Builtins.b_floor,
    "torch.multiprocessing.spawn": Builtins.b_spawn,
    "torch.multiprocessing.start_processes": Builtins.b_spawn,
    "accelerate.notebook_launcher": Builtins.b_fork,
    "accelerate.debug_launcher": Builtins.b_fork,
    "torch.multiprocessing.Process": Builtins.b_process,
    "multiprocessing.Process": Builtins.b_process,
}


def _number_held(tensor: Unknown) -> Value:
    """The number in a tensor: the one that it was made of, or else it keeps the identity."""
    number = v.number_in(tensor)
    return number if isinstance(number, (Unknown, v.Phi, Const, v.PerRank)) else tensor


def _may_fail_alone(name: str, value: Value) -> bool:
    """May a conversion to a number raise on one rank, and not on another?"""
    if isinstance(value, v.PerRank):
        return not all(_converts(name, mine) for mine in value.values)
    if isinstance(value, Const):  # what this rank has, perhaps after a rank test
        return not _converts(name, value.value)
    return value.local and not v.is_comparison(value)


def _converts(name: str, value: object) -> bool:
    try:
        _CONVERSIONS[name](value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
