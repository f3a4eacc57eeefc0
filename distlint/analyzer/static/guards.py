"""Which processes come to a statement, judged by what stands around it.

For rules about files and other things that processes share, where a finding needs two answers:
nothing keeps the other ranks away, and there are other ranks. Both are asked in favour of the code:
a test that may be about the rank counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.project.project import Imported
from distlint.analyzer.static.callers import (
    called_elsewhere,
    calls_elsewhere,
    known_as,
    objects_in,
    overrides_elsewhere,
)
from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.names import (
    Around,
    Scope,
    calls_of,
    expressions_in,
    expressions_of,
    placed,
)
from distlint.analyzer.static.objects import CallSite, Objects, objects_of
from distlint.analyzer.static.reaching_definitions import Point, Search, path_of
from distlint.catalogue import shipped
from distlint.catalogue.entries import Collective
from distlint.source.notebook import SUFFIX
from distlint.source.requirements import is_beside

if TYPE_CHECKING:
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue

_RANK = re.compile(
    r"rank|main_process|main_proc\b|is_main|master(?!_?(addr|port))|global_zero|process_zero|primary"
    r"|chief|process_i|procid|proc_id|coordinator|leader|to_disk|is_first|is_head|is_root|saver"
    r"|^gpu$|gpu_id|on_main|main_only|zero_only|node_id",
    re.IGNORECASE,
)
_OTHER_RANK = re.compile(r"lora|low_?rank|(?:^|_)re_?rank|ranking|ranked|ranker", re.IGNORECASE)
"""Words with a rank in them that is not that of a process."""
_MANY = re.compile(
    r"distrib|ddp|world|multi_?(gpu|proc|node)|n_?gpus?\b|num_gpus|initialized|parallel|num_proc"
    r"|num_machines|no_cuda|^gpu|^standalone$",
    re.IGNORECASE,
)
"""Words of a test that tells a run of one process from a run of many."""
_DEVICE_NUMBER = "current_device"
"""What tells the ranks of a node apart, once each has set its device."""
_NAMES_GPU = re.compile(r"^gpu$|gpu_id", re.IGNORECASE)
_OWN = re.compile(
    r"rank|process_i|procid|uuid|getpid|hostname|mkdtemp|mkstemp|temp|tmp|worker|shard|gpu|device"
    r"|node|BytesIO|StringIO|stdout|stderr|buffer|mpu",
    re.IGNORECASE,
)
"""Words of a path, or of what it is made of, that may differ between processes."""
_DRAWN = frozenset({"random", "secrets", "choices", "randint", "token_hex", "getrandbits"})
"""Words of what is drawn in each process for itself, as long as nothing is seeded."""
_COUNTER = re.compile(r"(?:^|_)(?:steps?|epochs?|iters?|iterations?)(?:_|$)")
"""Words of what counts the training: the same in each process, whatever it was reckoned from."""
_BUFFER = re.compile(r"BytesIO|buffer|stream|fileobj|bytes", re.IGNORECASE)
_DEVICE = re.compile(r"gpu|cuda|device|cpu|distrib|world|\bn_?proc|data_?parallel", re.IGNORECASE)
_RANK_PARAM = re.compile(r"^((local|global|proc|process|worker|ddp)_?)?rank$|^gpu$|^local_process")
_RANK_ITSELF = re.compile(r"^((local|global)_)?rank$|^get_(global_)?rank$|^process_index$")
_DEVICES = frozenset({"num_nodes", "devices", "strategy"})
_RANK_OPTION = frozenset({"--local_rank", "--local-rank"})
_LOGS = frozenset({"print", "debug", "info", "warning"})
WAITS = frozenset({"barrier", "wait_for_everyone", "synchronize", "monitored_barrier"})
_IN_TURN = re.compile(r"(?:process|zero|rank_?0|master)_first$|^first_rank_first$")
"""Contexts that all ranks enter, the first one before the others: ``main_process_first()``."""
_FORKING = frozenset({"notebook_launcher", "debug_launcher"})
_STARTERS = _FORKING | {"spawn", "launch", "start_processes"}
_WRITES = re.compile(r"save|write|dump|log|checkpoint|ckpt", re.IGNORECASE)
_FORKS_TO_FIT = re.compile(r"^ddp_(?:spawn|fork|notebook)")
"""Strategies of Lightning by which the other processes live no longer than ``fit``."""
_DEPTH = 4
_MOST_CALLERS = 64
"""Functions that are looked at for what leads to one, at most."""
_MOST_CALLED = 64
"""Functions that are looked at for one that joins the processes, at most."""


_JOINS = re.compile(
    r"init_process_group|init.*(?:dist|ddp|group|nccl|mpi|env)|(?:dist|ddp|nccl|mpi).*init|setup"
    r"|set_up|launch|spawn|initialize|accelerat|PartialState|Fabric|Trainer|deepspeed|horovod|hvd"
    r"|lightning|mpu|ignite",
    re.IGNORECASE,
)
"""Words of what may make a process group, here or in a library."""
_JOIN = "init_process_group"
_STARTS = frozenset({_JOIN, "DistributedDataParallel", "DDP", "FSDP", "LOCAL_RANK"})


def is_distributed(module: Module) -> bool:
    """Does a file have to do with several processes, by its words?"""
    if not (shipped.words().signs | _RANK_OPTION).isdisjoint(module.words):
        return True
    return {"save_checkpoint", "tag"} <= module.tokens  # DeepSpeed's engine in other hands


def tells_devices(point: Point) -> bool:
    """Does a statement stand in a branch for one device, or for one way to use several?"""
    return any(
        isinstance(here.owner, ir.If)
        and any(_DEVICE.search(token) for token in ir.tokens_of(here.owner.test))
        and not _has_gpu(here.owner, here.block)
        for here in point.around
    )


def in_turn(point: Point) -> ir.With | None:
    """The region around a statement that all ranks go through, the first one before the others."""
    for here in reversed(point.around):
        if isinstance(here.owner, ir.With) and isinstance(here.owner.context, ir.Call):
            if _IN_TURN.search(ir.last_name(here.owner.context.func)):
                return here.owner
    return None


def _has_gpu(branch: ir.If, block: ir.Block) -> bool:
    """Is it the arm of ``if torch.cuda.is_available()``, or of ``if args.gpu``, with a GPU?"""
    test, arms = branch.test, (branch.body, branch.orelse)
    if isinstance(test, ir.Call) and ir.last_name(test.func) == "is_available":
        return block is arms[0]
    if isinstance(test, ir.Compare) and test.ops in {("is",), ("is not",)}:
        is_none = isinstance(test.rights[0], ir.Literal) and test.rights[0].value is None
        names_gpu = _NAMES_GPU.search(ir.last_name(test.left)) is not None
        return is_none and names_gpu and block is arms[test.ops == ("is",)]
    return False


class Guards:
    """What keeps processes away from the statements of one module."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.names = objects.names
        self._everywhere: dict[int, bool] = {}
        self._elsewhere: dict[ir.Function, list[tuple[Guards, CallSite]]] = {}
        self._joined: dict[int, tuple[bool, list[tuple[Guards, Scope]]]] = {}
        self._left: dict[tuple[int, int], int] = {}

    # -- does anything keep ranks away?

    def may_be_some_ranks(self, point: Point, besides: ir.Stmt | None = None) -> bool:
        """May a test, an early return, a decorator or a context keep ranks from a statement?

        The test of the statement ``besides`` does not count.
        """
        around = tuple(here for here in point.around if not besides or here.owner is not besides)
        return self._guarded(point.scope, around) or self._in_its_statement(point.statement)

    def _in_its_statement(self, statement: ir.Stmt) -> bool:
        """``rank == 0 and save()``, ``save() if is_main() else None``, ``save(is_main=...)``."""
        return any(_RANK.search(token) for token in ir.tokens_of(_own_part(statement)))

    def _guarded(self, scope: Scope, around: tuple[Around, ...]) -> bool:
        function = scope.function
        if function is not None and any(
            self._says_rank(decorator, scope) for decorator in function.decorators
        ):
            return True
        for here in around:
            if self._owner_guards(here, scope):
                return True
            if self._first_left(here.block, scope) < here.index:
                return True
        if function is not None and function.nested and scope.outer is not None:
            return self._nested_guarded(function, scope.outer)
        return False

    def _first_left(self, block: ir.Block, scope: Scope) -> int:
        """The first statement of a block that sends some ranks away; its length if none does."""
        key = (id(block), id(scope))
        if key not in self._left:
            left = (i for i, each in enumerate(block) if self._leaves(each, scope))
            self._left[key] = next(left, len(block))
        return self._left[key]

    def _nested_guarded(self, function: ir.Function, outer: Scope) -> bool:
        for statement, around in placed(outer.body):
            if isinstance(statement, ir.Define) and statement.function is function:
                return self._guarded(outer, around)
        return False

    def _owner_guards(self, here: Around, scope: Scope) -> bool:
        owner = here.owner
        if isinstance(owner, ir.If) and _has_gpu(owner, here.block):
            return False  # each rank has one
        if isinstance(owner, (ir.If, ir.While)):
            return self._tells_ranks(owner.test, scope)
        if isinstance(owner, ir.With):
            return self._says_rank(owner.context, scope)
        if isinstance(owner, ir.For):
            return any(_RANK.search(token) for token in ir.tokens_of(owner.iterable))
        return False

    def _leaves(self, statement: ir.Stmt, scope: Scope) -> bool:
        """Is it a test that sends some ranks away?"""
        if isinstance(statement, ir.Assert):
            return self._tells_ranks(statement.test, scope)
        if not isinstance(statement, ir.If):
            return False
        if asks_rank(statement.test) and not WAITS.isdisjoint(ir.tokens_of(statement)):
            return True  # the others wait there until the first one has been here
        if not (ir.is_left(statement.body) or ir.is_left(statement.orelse)):
            return self._leaves_inside(statement, scope)
        return self._tells_ranks(statement.test, scope) or _asserts_rank(statement.body)

    def _leaves_inside(self, statement: ir.If, scope: Scope) -> bool:
        """Does each arm send some ranks away, or the one for a run of many processes?"""
        arms = [
            any(isinstance(each, ir.If) and self._leaves(each, scope) for each in block)
            for block in (statement.body, statement.orelse)
        ]
        return all(arms) or (any(arms) and self._tells_ranks(statement.test, scope))

    def _tells_ranks(self, test: ir.Expr, scope: Scope) -> bool:
        """May a condition hold on some ranks only, or in a run of one process only?"""
        if isinstance(test, ir.Name) and self._is_function(test.id):
            return False  # forgot to call it: it always holds
        tokens = ir.tokens_of(test)
        if asks_rank(test) or _DEVICE_NUMBER in tokens or any(map(_MANY.search, tokens)):
            return True
        return any(self._flag_tells(flag, scope, _DEPTH) for flag in _flags(test))

    def _flag_tells(self, flag: ir.Expr, scope: Scope, depth: int) -> bool:
        """May a name that is tested for truth stand for a rank test?"""
        name = ir.last_name(flag)
        if isinstance(flag, ir.Name) and _is_param(name, scope):
            return "best" not in name and not self._is_given_alike(name, scope, depth)
        if (name, id(scope.function)) in self._raised:
            return True
        for value, where in self._assigned.get(name, ()):
            if any(_RANK.search(t) or _MANY.search(t) for t in ir.tokens_of(value)):
                return True
            if isinstance(value, ir.Name) and _is_param(value.id, where.scope):
                return True
            if depth and isinstance(value, (ir.Name, ir.Attribute)) and ir.last_name(value) != name:
                if self._flag_tells(value, where.scope, depth - 1):
                    return True
        path = path_of(flag)
        if path is not None and len(path) > 1 and _is_param(path[0], scope):
            if name not in self._assigned and self._is_raised_beside(name):
                return True
        return any(
            _RANK.search(token)
            for function in self.names.module.functions
            if function.name == name
            for token in function.tokens
        )

    def _is_given_alike(self, name: str, scope: Scope, depth: int) -> bool:
        """Is a parameter the same on all ranks: by each caller, or as there are none yet?

        They begin to be where the function makes the process group, itself or by a helper.
        """
        function = scope.function
        assert function is not None
        if _rank_words((name,)):
            return False
        passed = [self._passed(each, name, function) for each in self.callers(scope)]
        told = [
            value is not None and self._value_tells(value, point, depth) for value, point in passed
        ]
        if self._joins(function):
            return not any(told)
        return bool(passed) and not any(told) and all(value is not None for value, _ in passed)

    def _passed(
        self, caller: CallSite, name: str, function: ir.Function
    ) -> tuple[ir.Expr | None, Point]:
        """What a call passes for a parameter, or its default; None where that is not known."""
        param = next(each for each in function.params if each.name == name)
        places = [each.name for each in function.params if not each.star]
        position = None if param.keyword_only or param.star else places.index(name)
        if position is not None and function.owner:
            position -= 1
        given = self.objects.argument(caller, name, position)
        if given.absent:
            return param.default, caller.point
        return given.value, caller.point

    def _value_tells(self, value: ir.Expr, point: Point, depth: int) -> bool:
        """May a value that is passed for a flag be that of some ranks?"""
        if isinstance(value, ir.Literal):
            return False
        if isinstance(value, (ir.Name, ir.Attribute)) and depth:
            if _rank_words(ir.tokens_of(value)):
                return True
            return self._flag_tells(value, point.scope, depth - 1)
        return True

    def _joins(self, function: ir.Function) -> bool:
        """Does a function make the process group, or one that it calls?"""
        return _JOIN in function.tokens or any(
            _JOIN in other.tokens and not other.owner and other.name in function.tokens
            for other in self.names.module.functions
        )

    def _is_raised_beside(self, name: str) -> bool:
        """Does a script beside it, which imports the file, set an option to write by the rank?"""
        if not _WRITES.search(name):
            return False
        path = self.objects.module.path
        imports = rf"(?m)^\s*(?:from|import)\s[^\n#]*\b{re.escape(path.stem)}\b"
        sets = rf"(?i)\.{re.escape(name)}\s*=[^=\n][^\n]*(?:{_RANK.pattern})"
        return is_beside(path, imports, sets)

    def _says_rank(self, node: ir.Expr, scope: Scope) -> bool:
        """Does a decorator or a context manager choose among ranks, by its name or its body?"""
        if any(_RANK.search(token) for token in ir.tokens_of(node)):
            return True
        callee = node.func if isinstance(node, ir.Call) else node
        return any(
            _RANK.search(token)
            for function in self.names.module.functions
            if function.name == ir.last_name(callee)
            for token in function.tokens
        )

    def _is_function(self, name: str) -> bool:
        """Is it a function, by its definition, or as an import that is called ``is_...``?"""
        definitions = self.names.module.definitions.get(name, ())
        return bool(definitions) and all(
            isinstance(definition.node, ir.Function)
            or (isinstance(definition.node, Imported) and name.startswith("is_"))
            for definition in definitions
        )

    # -- do several ranks come here at all?

    def on_many_ranks(self, scope: Scope) -> bool:
        """Do several processes run a scope, as it or what calls it shows, here or elsewhere?"""
        known = self._everywhere.get(id(scope))
        if known is None:
            led = self.led_from(scope)
            known = any(guards.is_shown(each) for guards, each in led)
            self._everywhere[id(scope)] = known
        return known

    def led_from(self, scope: Scope) -> Iterator[tuple[Guards, Scope]]:
        """A scope, and those from which calls lead to it that nothing keeps any rank from.

        Those of the module come first.
        """
        found: list[tuple[Guards, Scope]] = []
        known = {id(scope)}
        waiting: list[tuple[Guards, Scope]] = [(self, scope)]
        gone_on = 0
        while waiting:
            for guards, each in waiting:  # grows meanwhile
                if not guards._begins_alone(each):
                    yield guards, each
                    found.append((guards, each))
                    _go_on(((guards, site) for site in guards.callers(each)), known, waiting)
            waiting = []
            while not waiting and gone_on < len(found):
                guards, each = found[gone_on]
                gone_on += 1
                if len(known) <= _MOST_CALLERS:
                    _go_on(guards.callers_elsewhere(each), known, waiting)

    def _begins_alone(self, scope: Scope) -> bool:
        """Is a scope for one process, whatever calls it?"""
        if scope.function is None:  # the processes begin with the function that they are given
            return self._forks or self._is_notebook
        return self._has_distributed_twin(scope.function)

    def is_shown(self, scope: Scope) -> bool:
        """Does a scope itself show that several processes run it, or what starts these?"""
        if scope.function is not None and self._is_spawned(scope.function):
            return True
        shows = is_distributed(self.objects.module) and self._shows_many(scope)
        shows = shows or self._is_joined(scope) or self._trains_wrapped(scope)
        return shows and not self._called_on_some(scope)

    def _trains_wrapped(self, scope: Scope) -> bool:
        """Does a method train what the constructor of its class wraps for several processes?"""
        method = scope.function
        if method is None or not method.owner:
            return False
        classes = self.objects.lineage(method)
        constructors = [each.methods["__init__"] for each in classes if "__init__" in each.methods]
        if not any(
            _wraps(statement) and not under_rank_test(around)
            for constructor in constructors
            for statement, around in placed(constructor.body)
        ):
            return False
        called = (m for cls in classes for name, m in cls.methods.items() if name in method.tokens)
        return any("backward" in each.tokens for each in (method, *called))

    def _is_joined(self, scope: Scope) -> bool:
        """Does a scope join the processes, by itself or by a function that it calls?"""
        found: list[tuple[Guards, Scope]] = [(self, scope)]
        for guards, each in found:  # grows meanwhile
            joins, called = guards._joining(each)
            if joins:
                return True
            found += [other for other in called if other not in found][: _MOST_CALLED - len(found)]
        return False

    def _joining(self, scope: Scope) -> tuple[bool, list[tuple[Guards, Scope]]]:
        """Does a scope itself join the processes, and which functions does it call in any case?"""
        known = self._joined.get(id(scope))
        if known is None:
            statements = [
                (statement, CallSite(call, Point(scope, around)))
                for statement, around in placed(scope.body)
                for call in calls_of(statement)
                if not self._guarded(scope, around)
            ]
            starts = any(True for _ in self.objects.calls_in(scope, _STARTERS))
            alone = starts or self.runs_alone(scope)  # what starts the others is one process
            joins = not alone and any(_wraps(s) or self._is_joining(c) for s, c in statements)
            called = [] if joins or alone else [self._called(site) for _, site in statements]
            known = self._joined[id(scope)] = joins, [each for each in called if each is not None]
        return known

    def _called(self, site: CallSite) -> tuple[Guards, Scope] | None:
        """The function of the project that a call calls, also the constructor of a class."""
        callee = self.objects.callee(site) or self.objects.super_callee(site)
        guards: Guards = self
        if isinstance(callee, ir.Class):
            callee = callee.methods.get("__init__")
        elif callee is None:
            there = called_elsewhere(self.objects.module, site.call.func)
            if there is not None:
                guards, callee = guards_in(there[0]), there[1]
        inner = guards.objects.scope_of(callee) if callee is not None else None
        return (guards, inner) if inner is not None else None

    def _is_spawned(self, function: ir.Function) -> bool:
        """Is a function handed to something that starts processes, here or elsewhere?"""
        module = self.objects.module
        return function.name in self._spawned or (
            not function.owner
            and not function.nested
            and any(
                path_of(argument.value) == path
                for other, path in known_as(module, function.name)
                for site in objects_in(other).calls(_STARTERS)
                for argument in site.call.args
            )
        )

    def starts_behind(self, site: CallSite) -> bool:
        """Are the other processes started behind a call, in the same function?"""
        return any(
            each.call.site > site.call.site
            for each in self.objects.calls_in(site.point.scope, _STARTERS)
        )

    def _has_distributed_twin(self, method: ir.Function) -> bool:
        """Does a subclass for many ranks bring a method of its own, which asks for the rank?"""
        if not method.owner or _asks_rank_inside(method):
            return False
        if any(map(_asks_rank_inside, self.objects.overrides(method))):
            return True
        elsewhere = overrides_elsewhere(self.objects.module, method)
        return any(_asks_rank_inside(each) for _, each in elsewhere)

    def _shows_many(self, scope: Scope) -> bool:
        function = scope.function
        if function is not None and any(_RANK_PARAM.search(p.name) for p in function.params):
            return True
        if self.runs_alone(scope):
            return False
        return any(
            (self._is_sign(Point(scope, around)) and not self._guarded(scope, around))
            or (_wraps(statement) and not under_rank_test(around))
            for statement, around in placed(scope.body)
        )

    def runs_alone(self, scope: Scope) -> bool:
        """Is there one process by a scope's own words: ``Fabric(devices=1)``, ``DataParallel``?"""
        if self._is_group_of_one or self._never_joins:
            return True
        return not _ALONE.isdisjoint(self.objects.module.tokens) and any(
            (
                ir.last_name(call.func) == "Fabric"
                and self._on_one_device(call, Point(scope, around))
            )
            or self._takes_all_gpus(call, scope, around)
            for statement, around in placed(scope.body)
            for call in calls_of(statement)
        )

    @cached_property
    def _is_group_of_one(self) -> bool:
        """Is every process group of the module told that there is one process, under no test?"""
        sites = list(self.objects.calls({"init_process_group"}))
        return bool(sites) and all(
            self.is_told_one(site)
            and not any(
                isinstance(here.owner, ir.If) and "__name__" not in ir.tokens_of(here.owner.test)
                for here in site.point.around
            )
            for site in sites
        )

    @cached_property
    def _never_joins(self) -> bool:
        """Is it a script that wraps a model in torch's or apex's DDP, and nothing makes a group?

        Nor does a file that it imports. With several processes it ends at the wrap.
        """
        module = self.objects.module
        if "__main__" not in module.tokens:
            return False
        wraps = any(
            _wraps(statement) for scope in self.names.scopes for statement, _ in placed(scope.body)
        )
        starting = self.objects.catalogue.starting_names
        return wraps and not any(
            each.star_imports
            or not starting.isdisjoint(each.words)
            or any(map(_JOINS.search, each.words))
            for each in reached(module)
        )

    def is_told_one(self, site: CallSite) -> bool:
        """Is a call that makes a process group told that there is one process?"""
        size = self.objects.argument(site, "world_size", 3)
        if size.absent:
            return self._sets_size_to_one
        if self.objects.constant(size, site.point) == 1:
            return True
        return self._is_one_everywhere(size.value, site.point)

    @cached_property
    def _sets_size_to_one(self) -> bool:
        """Is ``environ["WORLD_SIZE"] = "1"`` all that the module says about it, under no test?"""
        written = [each for each in environment_writes(self.objects) if each.name == "WORLD_SIZE"]
        return bool(written) and all(
            isinstance(each.value, ir.Literal)
            and each.value.value == "1"
            and not each.default
            and not any(isinstance(here.owner, ir.If) for here in each.point.around)
            for each in written
        )

    def _is_one_everywhere(self, size: ir.Expr | None, point: Point) -> bool:
        """Is a number 1 by all that it may come from: constants, the options of a namespace?"""
        if size is None:
            return False
        imported = imported_options(self.objects.module, size)
        if imported:
            return all(map(_is_one, imported))
        found = self.objects.origins(size, point)
        return bool(found) and all(
            _is_one(_option(each.node, each.attributes[0]) if each.attributes else each.node)
            and each.item is None
            and len(each.attributes) < 2
            for each in found
        )

    def _takes_all_gpus(self, call: ir.Call, scope: Scope, around: tuple[Around, ...]) -> bool:
        """Is it ``DataParallel(model)`` under no test, by which one process uses each GPU?"""
        return (
            ir.last_name(call.func) == "DataParallel"
            and len(call.args) == 1
            and self.names.dotted(call.func, scope) in _DATA_PARALLEL
            and not any(isinstance(here.owner, ir.If) for here in around)
        )

    def _on_one_device(self, call: ir.Call, point: Point) -> bool:
        """Does a launcher say that there is one process: ``devices=1``, ``devices=[0]``?"""
        if "num_nodes" in _keywords(call):
            return False
        values = {each.keyword: each.value for each in call.args if each.keyword}
        return all(
            self._is_one_device(accelerator, devices, point)
            for accelerator, devices in _arms(values.get("accelerator"), values.get("devices"))
        )

    def _is_one_device(
        self, accelerator: ir.Expr | None, devices: ir.Expr | None, point: Point
    ) -> bool:
        if devices is None or (isinstance(devices, ir.Literal) and devices.value == "auto"):
            # on the CPU the default is one process
            return isinstance(accelerator, ir.Literal) and accelerator.value == "cpu"
        found = self.objects.origins(devices, point)
        return bool(found) and all(
            _is_one(each.node) and each.item is None and not each.attributes for each in found
        )

    def _forks_to_fit(self, call: ir.Call, point: Point) -> bool:
        """Does Lightning fork the other processes for ``fit`` alone, whatever is around it?"""
        given = self.objects.argument(CallSite(call, point), "strategy")
        strategy = self.objects.constant(given, point)
        return isinstance(strategy, str) and _FORKS_TO_FIT.search(strategy) is not None

    def _is_sign(self, point: Point) -> bool:
        """Is it something that only several processes do: a rank test, a collective, a wrap?"""
        statement, scope = point.statement, point.scope
        if isinstance(statement, ir.If) and _shows_ranks(statement.test):
            if self._is_run_here(scope):
                return True
        if isinstance(statement, ir.Assign) and "LOCAL_RANK" in ir.tokens_of(statement):
            if not _is_for_a_child(statement):
                return True
        for call in calls_of(statement):
            if ir.last_name(call.func) == "add_argument" and _RANK_OPTION & ir.tokens_of(call):
                if not self._replaces_option and not self._leaves_option:
                    return True  # a launcher that passes the rank by an option
            if _is_wait_of_its_own(call):
                return True
            if (
                ir.last_name(call.func) == "Trainer"
                and not self._is_notebook  # there they are forked for ``fit``
                and not _DEVICES.isdisjoint(_keywords(call))
            ):
                if not self._on_one_device(call, point) and not self._forks_to_fit(call, point):
                    return True
            name = ir.last_name(call.func)
            if name == "save_checkpoint" and "tag" in _keywords(call):
                return True  # DeepSpeed's, which all ranks call
            if name.endswith("consolidated_16bit_state_dict"):
                return True  # DeepSpeed's, too
            if self._is_joining(CallSite(call, point)):
                return True
            entry = self.names.entry(call.func, scope) if name in _JOINING else None
            if entry is not None and entry.rank and self._is_run_here(scope):
                return True
        return False

    def _is_joining(self, site: CallSite) -> bool:
        """Does a call make a process group, or something that only processes of one do?"""
        name = site.name
        joining = self.objects.catalogue.joining_names
        if name in _JOINING or name in joining or name.endswith("state_dict"):
            if not self._on_one_device(site.call, site.point):
                entry = self.names.entry(site.call.func, site.point.scope)
                if entry is not None and (entry.collective or entry.cls):
                    return not self._may_be_alone(entry.collective)
        return False

    def _may_be_alone(self, row: Collective | None) -> bool:
        """Does it also work in one process, and uses the module nothing else of its framework?"""
        return row is not None and row.alone and row.framework not in self._frameworks_used

    @cached_property
    def _frameworks_used(self) -> frozenset[str]:
        """The frameworks of which the module uses more than what begins and ends a run."""
        nodes = [(call.func, point) for call, point in self.objects.nodes(ir.Call)]
        found = set()
        for node, point in (*nodes, *self.objects.nodes(ir.Attribute)):
            entry = self.names.entry(node, point.scope)
            for row in (entry.collective, entry.rank, entry.uniform, entry.cls) if entry else ():
                is_end = isinstance(row, Collective) and row.kind in ("init", "destroy")
                if row is not None and not is_end:
                    found.add(row.framework)
        return frozenset(found)

    @cached_property
    def _replaces_option(self) -> bool:
        """Is the option for the rank given a device, whatever a launcher passed?"""
        return any(
            isinstance(statement, ir.Assign)
            and isinstance(statement.value, ir.Call)
            and ir.last_name(statement.value.func) == "device"
            and not asks_rank(statement.value)
            and not any(isinstance(here.owner, ir.If) for here in around)
            and any(
                isinstance(target, ir.Attribute) and target.attr == "local_rank"
                for target in statement.targets
            )
            for scope in self.names.scopes
            for statement, around in placed(scope.body)
        )

    @cached_property
    def _leaves_option(self) -> bool:
        """Is the option for the rank a leftover: declared, and read neither here nor elsewhere?

        The options that another file is handed may be read there.
        """
        if not shipped.words().signs.isdisjoint(self._words_used):
            return False
        parsed = [
            site
            for site in self.objects.calls({"parse_args"})
            if isinstance(site.point.statement, ir.Assign)
            and site.point.statement.value is site.call
        ]
        return bool(parsed) and all(
            not self._hands_out(site)
            and all(
                given.name in _LOGS or self.objects.callee(given) is not None
                for given, _ in self.objects.passed_to(site.call)
            )
            for site in parsed
        )

    def _hands_out(self, made: CallSite) -> bool:
        """Does a function return what a call makes, or keep it in an object?"""
        if made.point.scope.function is None:
            return False
        for point in self.objects.points_in(made.point.scope):
            statement = point.statement
            keeps = isinstance(statement, ir.Assign) and any(
                not isinstance(target, ir.Name) for target in statement.targets
            )
            if (keeps or isinstance(statement, ir.Return)) and any(
                self.objects.is_made_by(made.call, given, point) for given in _given(statement)
            ):
                return True
        return False

    @cached_property
    def _words_used(self) -> frozenset[str]:
        """The names of the module, and of those imports that it uses, component by component."""
        module = self.names.module
        found = set(module.tokens)
        for statement in module.statements():
            for name, dotted, attr in (
                statement.bindings if isinstance(statement, ir.Import) else ()
            ):
                if attr == "*" or name in module.tokens:
                    found.update((*dotted.split("."), attr or ""))
        return frozenset(found)

    def _is_run_here(self, scope: Scope) -> bool:
        """Does the module show who runs a function, or is it one that all ranks run?

        Where only other files call it, it may be for rank 0 alone, whatever it asks itself.
        """
        function = scope.function
        return (
            function is None
            or _RUN_BY_ALL.search(function.name) is not None
            or "backward" in function.tokens
            or function.name in self._handed_on
            or any(True for _ in self.callers(scope))
        )

    @cached_property
    def _handed_on(self) -> frozenset[str]:
        """What calls are given by its name: ``fire.Fire(main)``."""
        return self._given_to(self.objects.called_names)

    def _given_to(self, callees: Iterable[str]) -> frozenset[str]:
        """The names that calls of these functions are given as they are."""
        return frozenset(
            argument.value.id
            for callee in callees
            for site in self.objects.calls({callee})
            for argument in site.call.args
            if isinstance(argument.value, ir.Name)
        )

    def only_some_lead_to(self, point: Point) -> bool:
        """Does each call of its function that leads into the branches around a statement keep
        ranks from it, where a constant sends other calls into other branches?"""
        callers = list(self.callers(point.scope))
        leading = [each for each in callers if self._leads_to(point, each)]
        return 0 < len(leading) < len(callers) and all(
            self.may_be_some_ranks(each.point) for each in leading
        )

    def _leads_to(self, point: Point, call: CallSite) -> bool:
        """May a call lead into branches on a parameter, by the constant that it passes for it?"""
        function = point.scope.function
        params = function.params if function is not None else ()
        skipped = 1 if function is not None and function.owner else 0
        for depth, here in enumerate(point.around):
            if not isinstance(here.owner, ir.If):
                continue
            test, wanted = here.owner.test, here.block is here.owner.body
            while isinstance(test, ir.Not):
                test, wanted = test.value, not wanted
            for position, param in enumerate(params):
                if not isinstance(test, ir.Name) or test.id != param.name:
                    continue
                if Search((test.id,), point.scope).before(point.around[:depth])[0]:
                    continue  # it is something else by then
                given = self.objects.argument(call, param.name, position - skipped)
                default = param.default.value if isinstance(param.default, ir.Literal) else ...
                value = self.objects.constant(given, call.point, default)
                if isinstance(value, bool) and value is not wanted:
                    return False
        return True

    def _called_on_some(self, scope: Scope, depth: int = _DEPTH) -> bool:
        """Do all known calls of it keep ranks from it, whatever it asks itself?"""
        callers = list(self.all_callers(scope)) if depth else []
        return bool(callers) and all(
            under_rank_test(each.point.around)
            or guards._called_on_some(each.point.scope, depth - 1)
            for guards, each in callers
        )

    def callers(self, scope: Scope) -> Iterator[CallSite]:
        """The calls of a function within its module, as far as names tell."""
        function = scope.function
        if function is None:
            return
        known = self.objects.callers(function)
        yield from known
        is_method = bool(function.owner) or [p.name for p in function.params[:1]] == ["self"]
        if known or not is_method or function.name in _GENERIC:
            return
        if [each.name for each in self.names.module.functions].count(function.name) == 1:
            above = {id(site.call) for site in self.objects.super_calls(function)}
            for site in self.objects.calls({function.name}):
                if isinstance(site.call.func, ir.Attribute) and id(site.call) not in above:
                    yield site

    def callers_elsewhere(self, scope: Scope) -> list[tuple[Guards, CallSite]]:
        """The calls of a function in other files of the project, with what guards these."""
        function = scope.function
        if function is None:
            return []
        known = self._elsewhere.get(function)
        if known is None:
            module = self.objects.module
            known = self._elsewhere[function] = [
                (guards_in(other), site) for other, site in calls_elsewhere(module, function)
            ]
        return known

    def is_given(self, node: ir.Expr, scope: Scope, wanted: object) -> bool:
        """Is a parameter this constant, as another file calls the function on several ranks?"""
        function = scope.function
        if function is None or not isinstance(node, ir.Name) or not _is_param(node.id, scope):
            return False
        names = [param.name for param in function.params if not param.star]
        default = function.params[names.index(node.id)].default if node.id in names else None
        absent = default.value if isinstance(default, ir.Literal) else ...
        position = names.index(node.id) - bool(function.owner) if node.id in names else None
        return any(
            guards.objects.constant(
                guards.objects.argument(each, node.id, position), each.point, absent
            )
            == wanted
            and not guards.may_be_some_ranks(each.point)
            and guards.on_many_ranks(each.point.scope)
            for guards, each in self.callers_elsewhere(scope)
        )

    def objects_leading_to(self, scope: Scope) -> list[Objects]:
        """The objects of the files with a scope, and with what leads to it on all ranks."""
        return list(dict.fromkeys(guards.objects for guards, _ in self.led_from(scope)))

    def all_callers(self, scope: Scope) -> Iterator[tuple[Guards, CallSite]]:
        """The calls of a function within its module and in other files of the project."""
        yield from ((self, site) for site in self.callers(scope))
        yield from self.callers_elsewhere(scope)

    @cached_property
    def _spawned(self) -> frozenset[str]:
        """Functions that are handed to something that starts processes."""
        return self._given_to(_STARTERS)

    @cached_property
    def _forks(self) -> bool:
        """Does the module's body fork processes, as notebooks do?"""
        return any(site.point.scope.function is None for site in self.objects.calls(_FORKING))

    @property
    def _is_notebook(self) -> bool:
        """Is it a notebook, which one process runs cell by cell?"""
        return self.objects.module.path.suffix.lower() == SUFFIX

    @cached_property
    def starts_many(self) -> bool:
        """Does the module itself join the processes, or wrap a model for them?"""
        return not _STARTS.isdisjoint(self.names.module.tokens | self.names.module.words)

    @cached_property
    def only_imports_starts(self) -> bool:
        """Is what joins processes imported, and then not used?"""
        module = self.names.module
        used = {source for name, source in module.aliases.items() if name in module.tokens}
        return _STARTS.isdisjoint(module.tokens | used)

    # -- paths

    def is_own(self, path: ir.Expr | None, point: Point) -> bool:
        """May a path (or an open file) be another one in each process?"""
        return path is not None and self._own(path, point, _DEPTH, set())

    def holds_rank(self, node: ir.Expr, scope: Scope) -> bool:
        """Is a name made with the rank, where it is used or where its parts are assigned?"""
        if any(_RANK_ITSELF.search(token) for token in ir.tokens_of(node)):
            return True
        return any(
            any(_RANK_ITSELF.search(token) for token in ir.tokens_of(value))
            for item in expressions_in(node)
            if isinstance(item, ir.Name)
            for value, where in self._assigned.get(item.id, ())
            if where.scope is scope and isinstance(value, (ir.Format, ir.Binary))
        )

    def is_buffer(self, node: ir.Expr, scope: Scope) -> bool:
        """May it be a file in memory?"""
        values = [node, *(value for value, _ in self._assigned.get(ir.last_name(node), ()))]
        return any(_BUFFER.search(token) for value in values for token in ir.tokens_of(value))

    def _own(self, node: ir.Expr, point: Point, depth: int, seen: set[str]) -> bool:
        tokens = ir.tokens_of(node)
        if any(_OWN.search(token) for token in tokens):
            return True
        if not _DRAWN.isdisjoint(tokens) and not self._seeds:
            return True
        if depth == 0:
            return False
        for item in list(expressions_in(node)):
            if not isinstance(item, (ir.Name, ir.Attribute)) or ir.last_name(item) in seen:
                continue
            name = ir.last_name(item)
            seen.add(name)
            if _COUNTER.search(name):
                continue
            for value, where in self._values_of(item, point):
                if self._own(value, where, depth - 1, seen):
                    return True
            if isinstance(item, ir.Name) and self._passed_own(name, point.scope, depth, seen):
                return True
        return False

    def _values_of(
        self, node: ir.Name | ir.Attribute, point: Point
    ) -> Iterable[tuple[ir.Expr, Point]]:
        """What a name may stand for: what reaches it, if that is known, else all that is bound."""
        known = self._assigned.get(ir.last_name(node), ())
        if not isinstance(node, ir.Name):
            return known
        reaching, complete = Search((node.id,), point.scope).before(point.around)
        statements = {each.point.statement for each in reaching}
        if not complete or any(not isinstance(each.node, ir.Expr) for each in reaching):
            return known
        return [(value, where) for value, where in known if where.statement in statements]

    def is_seeded(self, scope: Scope) -> bool:
        """Does a file that leads to a scope on all ranks seed, or one that such a file imports?"""
        return any(
            "seed" in word.lower()
            for objects in self.objects_leading_to(scope)
            for module in reached(objects.module)
            for word in module.words
        )

    @cached_property
    def _seeds(self) -> bool:
        """Does the module seed a generator, so that all processes may draw the same?"""
        return any("seed" in token.lower() for token in self.names.module.words)

    def _passed_own(self, name: str, scope: Scope, depth: int, seen: set[str]) -> bool:
        """Is a parameter given a process's own path by some caller?"""
        function = scope.function
        if function is None or not _is_param(name, scope):
            return False
        if any("shard" in param.name.lower() for param in function.params):
            return True  # it is told whether each process saves a part of its own
        places = [param.name for param in function.params if not param.star]
        position = places.index(name) if name in places else len(places)
        for guards, caller in self.all_callers(scope):
            is_bound = bool(function.owner) and isinstance(caller.call.func, ir.Attribute)
            passed = guards.objects.argument(caller, name, position - is_bound)
            values = [passed.value] if passed.value is not None else []
            if not (values or passed.absent):  # it is in what is spread out
                values = [each.value for each in caller.call.args if each.star]
            known = seen if guards is self else {*seen}
            if any(guards._own(value, caller.point, depth - 1, known) for value in values):
                return True
        return False

    @cached_property
    def _raised(self) -> frozenset[tuple[str, int]]:
        """Flags of a function: what it sets to a constant under a test of the rank."""
        return frozenset(
            (target.id, id(scope.function))
            for scope in self.names.scopes
            for statement, around in placed(scope.body)
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Literal)
            for target in statement.targets
            if isinstance(target, ir.Name) and under_rank_test(around)
        )

    @cached_property
    def _assigned(self) -> dict[str, list[tuple[ir.Expr, Point]]]:
        """What the module binds to each name, and to attributes of that name, and where."""
        table: dict[str, list[tuple[ir.Expr, Point]]] = {}
        for scope in self.names.scopes:
            for statement, around in placed(scope.body):
                for target, value in _bindings(statement):
                    for item, part in _pairs(target, value):
                        bound = (part, Point(scope, around))
                        table.setdefault(ir.last_name(item), []).append(bound)
        return table


_RUN_BY_ALL = re.compile(r"^main|^on_")
"""Names of functions that a launcher or a framework runs on all ranks."""
_GENERIC = frozenset({"save", "load", "step", "update", "run", "forward", "close", "write", "add"})
_JOINING = frozenset(
    {
        "init_process_group", "DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel",
        "Accelerator", "prepare", "barrier", "all_reduce", "all_gather", "broadcast", "get_rank",
        "get_world_size", "wait_for_everyone", "init_distributed", "initialize", "PartialState",
        "fully_shard", "broadcast_object_list", "all_gather_object", "gather", "reduce", "Fabric",
        "init_device_mesh", "new_group",
    }
)  # fmt: skip


_NAMESPACES = frozenset({"Namespace", "SimpleNamespace"})
_ALONE = frozenset({"Fabric", "DataParallel"})
_DATA_PARALLEL = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"})
_WRAPPERS = frozenset({"DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel"})


def guards_of(module: Module, catalogue: Catalogue) -> Guards:
    """The guards of a module, made once for the rules that ask about it in turn."""
    generation = module.project.generation if module.project is not None else 0
    return _guards(module, catalogue, generation)


def guards_in(module: Module) -> Guards:
    """The guards of a module of the project, by what the catalogue says about it."""
    assert module.project is not None
    return guards_of(module, module.project.catalogue_of(module))


@lru_cache(maxsize=32)
def _guards(module: Module, catalogue: Catalogue, _generation: int) -> Guards:
    return Guards(objects_of(module, catalogue))


def forget() -> None:
    """Drop what was found out about modules."""
    _guards.cache_clear()


def _go_on(
    calls: Iterable[tuple[Guards, CallSite]], known: set[int], found: list[tuple[Guards, Scope]]
) -> None:
    """Add the scopes of those calls that nothing keeps any rank from."""
    for guards, site in calls:
        scope = site.point.scope
        if id(scope) not in known and not guards.may_be_some_ranks(site.point):
            known.add(id(scope))
            found.append((guards, scope))


def _wraps(statement: ir.Stmt) -> bool:
    """Is it ``model = DistributedDataParallel(model)``, perhaps in a run of many processes only?"""
    return isinstance(statement, ir.Assign) and any(
        ir.last_name(call.func) in _WRAPPERS for call in calls_of(statement)
    )


def _asks_rank_inside(function: ir.Function) -> bool:
    """Is there a test of the rank in a function?"""
    return any(
        isinstance(statement, ir.If) and asks_rank(statement.test)
        for statement, _ in placed(function.body)
    )


def asks_rank(test: ir.Expr) -> bool:
    """Is a condition about the rank, by its words?"""
    tokens = ir.tokens_of(test)
    if "should_save" in tokens and any(token.endswith("args") for token in tokens):
        return True  # of transformers' arguments; a control's is about the time
    return bool(_rank_words(tokens))


def under_rank_test(around: tuple[Around, ...]) -> bool:
    """Is there a branch around a statement whose condition names the rank?"""
    return any(isinstance(each.owner, ir.If) and asks_rank(each.owner.test) for each in around)


def is_left_to_some(point: Point) -> bool:
    """Does a test that names the rank keep ranks from a statement: around, before or in it?"""
    before = (each for here in point.around for each in here.block[: here.index])
    return (
        under_rank_test(point.around)
        or any(
            isinstance(each, ir.If)
            and asks_rank(each.test)
            and (ir.is_left(each.body) or ir.is_left(each.orelse))
            for each in before
        )
        or any(
            isinstance(node, ir.Conditional) and asks_rank(node.test)
            for node in ir.nodes_of(point.statement)
        )
    )


def _rank_words(tokens: Iterable[str]) -> set[str]:
    return {token for token in tokens if _is_rank_word(token)}


@lru_cache(maxsize=4096)
def _is_rank_word(token: str) -> bool:
    return bool(_RANK.search(token)) and not _OTHER_RANK.search(token)


def _is_for_a_child(statement: ir.Assign) -> bool:
    """Does a launcher put the rank into the variables of a process that it is about to start?"""
    return "LOCAL_RANK" not in ir.tokens_of(statement.value) and all(
        isinstance(target, ir.Subscript) and "environ" not in ir.tokens_of(target.value)
        for target in statement.targets
    )


def _shows_ranks(test: ir.Expr) -> bool:
    """Is a condition about the rank, and not ``args.gpu >= 0``, by which one process has a GPU?"""
    words = _rank_words(ir.tokens_of(test))
    if not all(map(_NAMES_GPU.search, words)):
        return True
    return any(
        isinstance(node, ir.Compare)
        and not words.isdisjoint(ir.tokens_of(node.left))
        and any(
            op in ("==", "!=", "in", "not in") and _may_be_number(right)
            for op, right in zip(node.ops, node.rights, strict=True)
        )
        for node in expressions_in(test)
    )


def _may_be_number(node: ir.Expr) -> bool:
    """May it be the number of a GPU, or a list of them? None and -1 stand for no GPU."""
    if isinstance(node, ir.Literal):
        return type(node.value) is int and node.value >= 0
    return not isinstance(node, ir.Unary)


def _asserts_rank(block: ir.Block) -> bool:
    """Does a block assert which ranks come to it?"""
    return any(isinstance(each, ir.Assert) and asks_rank(each.test) for each in block)


def _is_wait_of_its_own(call: ir.Call) -> bool:
    """Is it ``self.wait_for_everyone()``, in the class of a framework that has such a method?"""
    return (
        isinstance(call.func, ir.Attribute)
        and call.func.attr == "wait_for_everyone"
        and isinstance(call.func.value, ir.Name)
        and call.func.value.id == "self"
    )


def _own_part(statement: ir.Stmt) -> ir.Expr:
    """What a statement itself evaluates, its blocks left out."""
    return ir.Display("tuple", expressions_of(statement))


def _keywords(call: ir.Call) -> frozenset[str]:
    return frozenset(argument.keyword for argument in call.args if argument.keyword)


def imported_options(module: Module, node: ir.Expr) -> list[ir.Expr | None]:
    """What the namespaces of other files that ``args.name`` may mean were made with for it."""
    if not isinstance(node, ir.Attribute) or not isinstance(node.value, ir.Name):
        return []
    return [_option(each, node.attr) for each in module.imported_values(node.value.id)]


def _option(made: object, name: str) -> ir.Expr | None:
    """What a namespace was made with for a name: ``Namespace(world_size=1)``."""
    if not isinstance(made, ir.Call) or ir.last_name(made.func) not in _NAMESPACES:
        return None
    return next((each.value for each in made.args if each.keyword == name), None)


def _arms(
    one: ir.Expr | None, other: ir.Expr | None
) -> Iterator[tuple[ir.Expr | None, ir.Expr | None]]:
    """Two options as they are passed together: both by one test, ``[n] if n >= 0 else "auto"``."""
    if (
        isinstance(one, ir.Conditional)
        and isinstance(other, ir.Conditional)
        and isinstance(one.test, ir.Compare)
        and isinstance(other.test, ir.Compare)
        and one.test.ops == other.test.ops
        and ir.tokens_of(one.test) == ir.tokens_of(other.test)
    ):
        yield one.body, other.body
        yield one.orelse, other.orelse
    else:
        yield one, other


def _is_one(devices: object) -> bool:
    """``1``, or a list of one: ``[0]``."""
    if isinstance(devices, ir.Display):
        return len(devices.items) == 1 and not isinstance(devices.items[0], ir.Starred)
    return isinstance(devices, ir.Literal) and devices.value in (1, "1")


def _flags(test: ir.Expr) -> Iterator[ir.Expr]:
    """The names that a condition takes for true or false."""
    if isinstance(test, (ir.Name, ir.Attribute)):
        yield test
    elif isinstance(test, ir.Call):
        yield test.func
    elif isinstance(test, ir.Not):
        yield from _flags(test.value)
    elif isinstance(test, ir.BoolOp):
        for value in test.values:
            yield from _flags(value)
    elif isinstance(test, ir.Compare) and all(op in ("is", "is not", "==") for op in test.ops):
        if all(map(_may_be_flag, test.rights)):
            yield from _flags(test.left)


def _may_be_flag(value: ir.Expr) -> bool:
    """May what is compared with it be a flag, or the rank: no ``256``?"""
    if not isinstance(value, ir.Literal):
        return False
    return not isinstance(value.value, (int, float)) or value.value in (0, 1)


def reached(module: Module) -> list[Module]:
    """A file and the files of the project that it imports, however far."""
    found = {module.path: module}
    waiting = [module]
    while waiting:
        for each in waiting.pop().imports:
            if each.path not in found:
                found[each.path] = each
                waiting.append(each)
    return list(found.values())


def _given(statement: ir.Stmt) -> Iterator[ir.Expr]:
    """What a statement assigns or returns as it is, also in a tuple or a list."""
    value = statement.value if isinstance(statement, (ir.Assign, ir.Return)) else None
    items = value.items if isinstance(value, ir.Display) else (value,)
    yield from filter(None, items)


def _is_param(name: str, scope: Scope) -> bool:
    function = scope.function
    return function is not None and any(param.name == name for param in function.params)


def _bindings(statement: ir.Stmt) -> Iterable[tuple[ir.Expr, ir.Expr]]:
    if isinstance(statement, ir.Assign):
        return [(target, statement.value) for target in statement.targets]
    if isinstance(statement, ir.AugAssign):
        return [(statement.target, statement.value)]
    if isinstance(statement, ir.With) and statement.target is not None:
        return [(statement.target, statement.context)]
    if isinstance(statement, ir.For):
        return [(statement.target, statement.iterable)]
    return []


def _pairs(target: ir.Expr, value: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The names that a target binds, each with its part of the value where that is written out."""
    if isinstance(target, ir.Display):
        parts: tuple[ir.Expr, ...] = (value,) * len(target.items)
        if isinstance(value, ir.Display) and len(value.items) == len(target.items):
            parts = value.items
        for item, part in zip(target.items, parts, strict=True):
            yield from _pairs(item, part)
    elif isinstance(target, ir.Starred):
        yield from _pairs(target.value, value)
    elif isinstance(target, (ir.Name, ir.Attribute)):
        yield target, value
