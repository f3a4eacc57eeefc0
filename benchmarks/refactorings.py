"""Changes that keep a script's meaning must keep the analyser's verdict.

python -m benchmarks.refactorings --programs 500 --seed 1
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.trees import Body, own_loop_exits, unparse, walk_in_function
from benchmarks.verdict import verdict

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_EXITS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


@dataclass(frozen=True)
class Place:
    """A list of statements and the function it lies in; None at module level."""

    statements: Body
    function: ast.FunctionDef | None
    bound: frozenset[str]
    """Local names that surely have a value where the list begins."""


def _targets(statement: ast.stmt) -> set[str]:
    """List the names that a statement is sure to bind."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return {name}
        case ast.AugAssign(target=ast.Name(id=name)):
            return {name}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
    return set()


def _places(tree: ast.Module) -> Iterator[Place]:
    """Give every list of statements that is executed, with what is bound there."""

    def visit(
        statements: Body, function: ast.FunctionDef | None, bound: frozenset[str]
    ) -> Iterator[Place]:
        yield Place(statements, function, bound)
        for statement in statements:
            inner = bound
            if isinstance(statement, ast.FunctionDef):
                arguments = [*statement.args.posonlyargs, *statement.args.args]
                names = frozenset(each.arg for each in [*arguments, *statement.args.kwonlyargs])
                yield from visit(statement.body, statement, names)
            elif isinstance(statement, ast.ClassDef):
                for method in statement.body:
                    if isinstance(method, ast.FunctionDef):
                        names = frozenset(each.arg for each in method.args.args)
                        yield from visit(method.body, method, names)
            else:
                if isinstance(statement, ast.For):
                    inner = bound | {
                        node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)
                    }
                for name in ("body", "orelse", "finalbody"):
                    if child := getattr(statement, name, None):
                        yield from visit(child, function, inner if name == "body" else bound)
                for handler in getattr(statement, "handlers", ()):
                    yield from visit(handler.body, function, bound)
                for case in getattr(statement, "cases", ()):
                    yield from visit(case.body, function, bound)
            bound = bound | _targets(statement)

    yield from visit(tree.body, None, frozenset())


@dataclass(frozen=True)
class Site:
    """One statement in its place."""

    place: Place
    index: int

    @property
    def statement(self) -> ast.stmt:
        return self.place.statements[self.index]

    @property
    def bound(self) -> frozenset[str]:
        """Names that surely have a value just before the statement."""
        before = self.place.statements[: self.index]
        return self.place.bound.union(*(_targets(each) for each in before))

    def replace(self, *statements: ast.stmt) -> None:
        self.place.statements[self.index : self.index + 1] = statements


def _sites(tree: ast.Module) -> list[Site]:
    """List the statements that a refactoring may touch."""
    return [
        Site(place, index)
        for place in _places(tree)
        for index, statement in enumerate(place.statements)
        if not isinstance(statement, (*_DEFINITIONS, ast.Global, ast.Nonlocal))
        and not (isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test))
    ]


def _pick_if(tree: ast.Module, rng: random.Random) -> tuple[Site, ast.If] | None:
    sites = [(site, s) for site in _sites(tree) if isinstance(s := site.statement, ast.If)]
    return rng.choice(sites) if sites else None


def _fresh(tree: ast.Module, stem: str) -> str:
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return next(name for n in range(1000) if (name := f"{stem}_{n}") not in taken)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


Refactoring = Callable[[ast.Module, random.Random], bool]
"""Changes the tree in place; False when it found no place to."""


def invert_condition(tree: ast.Module, rng: random.Random) -> bool:
    """Negate a condition and exchange its arms."""
    if not (found := _pick_if(tree, rng)):
        return False
    _, branch = found
    branch.test = ast.UnaryOp(ast.Not(), branch.test)
    branch.body, branch.orelse = branch.orelse or [ast.Pass()], branch.body
    return True


def name_condition(tree: ast.Module, rng: random.Random) -> bool:
    """Give a condition a name before it is tested."""
    if not (found := _pick_if(tree, rng)):
        return False
    site, branch = found
    name = _fresh(tree, "condition")
    assignment = ast.Assign([ast.Name(name, ast.Store())], branch.test)
    branch.test = ast.Name(name, ast.Load())
    site.replace(assignment, branch)
    return True


def nest_conjunction(tree: ast.Module, rng: random.Random) -> bool:
    """Write ``if a and b`` as two branches."""
    sites = [
        s
        for site in _sites(tree)
        if isinstance(s := site.statement, ast.If)
        and not s.orelse
        and isinstance(s.test, ast.BoolOp)
        and isinstance(s.test.op, ast.And)
    ]
    if not sites:
        return False
    branch = rng.choice(sites)
    assert isinstance(branch.test, ast.BoolOp)
    first, *rest = branch.test.values
    inner = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
    branch.test = first
    branch.body = [ast.If(inner, branch.body, [])]
    return True


def else_after_exit(tree: ast.Module, rng: random.Random) -> bool:
    """Put what follows ``if c: return`` under ``else``."""
    sites = [
        (site, s)
        for site in _sites(tree)
        if isinstance(s := site.statement, ast.If)
        and isinstance(s.body[-1], _EXITS)
        and not s.orelse
        and site.place.function is not None
        and site.index + 1 < len(site.place.statements)
    ]
    if not sites:
        return False
    site, branch = rng.choice(sites)
    branch.orelse = site.place.statements[site.index + 1 :]
    del site.place.statements[site.index + 1 :]
    return True


def duplicate_tail(tree: ast.Module, rng: random.Random) -> bool:
    """Copy the statement after a branch into both of its arms."""
    sites = [
        (site, s)
        for site in _sites(tree)
        if isinstance(s := site.statement, ast.If)
        and site.index + 1 < len(site.place.statements)
        and not isinstance(site.place.statements[site.index + 1], _DEFINITIONS)
    ]
    if not sites:
        return False
    site, branch = rng.choice(sites)
    tail = site.place.statements.pop(site.index + 1)
    branch.body.append(tail)
    branch.orelse.append(copy.deepcopy(tail))
    return True


def wrap_in_uniform(tree: ast.Module, rng: random.Random) -> bool:
    """Put a statement into both arms of a branch on something all ranks agree on."""
    sites = _sites(tree)
    if not sites:
        return False
    site = rng.choice(sites)
    test = "dist.get_world_size() > 1"
    if "args" in site.bound:
        test = "args.always"
    elif "self" in site.bound and "self.args." in ast.unparse(tree):
        method = site.place.function
        if method is not None and method.name == "run":
            test = "self.args.always"
    statement = site.statement
    site.replace(ast.If(_expression(test), [statement], [copy.deepcopy(statement)]))
    return True


def wrap_in_nothing(tree: ast.Module, rng: random.Random) -> bool:
    """Put a statement into a branch or loop that runs exactly once."""
    sites = _sites(tree)
    if not sites:
        return False
    site = rng.choice(sites)
    statement = site.statement
    kinds = ["if"] if own_loop_exits([statement]) else ["if", "for", "while", "try", "with"]
    match rng.choice(kinds):
        case "if":
            wrapped: ast.stmt = ast.If(ast.Constant(True), [statement], [])
        case "for":
            loop = ast.parse("for _ in range(1):\n    pass").body[0]
            assert isinstance(loop, ast.For)
            loop.body = [statement]
            wrapped = loop
        case "while":
            wrapped = ast.While(ast.Constant(True), [statement, ast.Break()], [])
        case "try":
            wrapped = ast.Try([statement], [], [], [ast.Pass()])
        case _:
            region = ast.parse("with torch.no_grad():\n    pass").body[0]
            assert isinstance(region, ast.With)
            region.body = [statement]
            wrapped = region
    site.replace(wrapped)
    return True


def rename(tree: ast.Module, rng: random.Random) -> bool:
    """Give every variable, parameter, function and attribute of the script another name."""
    names = _own_names(tree)
    order = rng.sample(sorted(names), len(names))
    renamer = _Renamer(
        names={name: f"v{number}" for number, name in enumerate(order)},
        attributes={
            name: f"a{number}" for number, name in enumerate(sorted(_own_attributes(tree)))
        },
        methods=_methods(tree),
    )
    renamer.visit(tree)
    return bool(names)


def _methods(tree: ast.Module) -> set[str]:
    return {
        method.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("__")
    }


def _own_names(tree: ast.Module) -> set[str]:
    """List the names that the script binds itself."""
    methods = _methods(tree)
    names: set[str] = set()
    imported: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name not in methods:
                names.add(name)
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                imported |= {(each.asname or each.name).partition(".")[0] for each in aliases}
    own = names - imported - set(dir(builtins)) - {"self"}
    return {name for name in own if not name.startswith("__")}


def _own_attributes(tree: ast.Module) -> set[str]:
    """List the attributes and methods that only objects of the script's classes have."""
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    objects = {"self", "super()"}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=made))
            ) if made in classes:
                objects.add(name)
    own, foreign = _methods(tree), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if ast.unparse(node.value) not in objects:
                foreign.add(node.attr)
            elif isinstance(node.ctx, ast.Store):
                own.add(node.attr)
    return own - foreign


class _Renamer(ast.NodeTransformer):
    def __init__(
        self, names: dict[str, str], attributes: dict[str, str], methods: set[str]
    ) -> None:
        self._names = names
        self._attributes = attributes
        self._methods = methods

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._attributes.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        names = self._attributes if node.name in self._methods else self._names
        node.name = names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._names.get(node.name or "", node.name)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node.func:
            case ast.Name(id=name) if name in self._names:
                own = True
            case ast.Attribute(attr=name):
                own = name in self._methods
            case _:
                own = False
        if own:
            for keyword in node.keywords:
                keyword.arg = self._names.get(keyword.arg or "", keyword.arg)
        return self.generic_visit(node)


def extract_function(tree: ast.Module, rng: random.Random) -> bool:
    """Move a few statements into a function of their own."""
    sites = _sites(tree)
    rng.shuffle(sites)
    for site in sites:
        last = site.index + rng.choice((1, 1, 2, 3))
        chosen = site.place.statements[site.index : last]
        if _extractable(chosen) and _extract(tree, site, chosen):
            return True
    return False


def _extractable(statements: Body) -> bool:
    stop = (
        ast.Return,
        ast.Yield,
        ast.FunctionDef,
        ast.ClassDef,
        ast.Import,
        ast.ImportFrom,
        ast.Global,
        ast.Nonlocal,
    )
    for node in walk_in_function(statements):
        if isinstance(node, stop):
            return False
        if isinstance(node, ast.ExceptHandler) and node.name:
            return False
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super":
            return False
    return not own_loop_exits(statements)


def _names(statements: Body, context: type[ast.expr_context]) -> set[str]:
    """List names read or written, without the variables of comprehensions."""
    hidden = {
        node.id
        for outer in walk_in_function(statements)
        if isinstance(outer, ast.comprehension)
        for node in ast.walk(outer.target)
        if isinstance(node, ast.Name)
    }
    return {
        node.id
        for node in walk_in_function(statements)
        if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    } - hidden


def _extract(tree: ast.Module, site: Site, chosen: Body) -> bool:
    written = sorted(_names(chosen, ast.Store))
    sure = set().union(*(_targets(each) for each in chosen))
    if not set(written) <= sure | site.bound:
        return False  # a name that may be unbound afterwards cannot be returned
    read = _names(chosen, ast.Load)
    augmented = {
        node.target.id
        for node in walk_in_function(chosen)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    needed = read | augmented | (set(written) - sure)
    if site.place.function is None:
        parameters = sorted(needed & set(written) & site.bound)
    else:
        local = _names(site.place.function.body, ast.Store) | set(site.place.bound)
        local |= {each.arg for each in site.place.function.args.args}
        wanted = (needed & local) - (sure - site.bound)
        if not wanted <= site.bound:
            return False
        parameters = sorted(wanted)
    name = _fresh(tree, "part")
    body = list(chosen)
    targets = ", ".join(written)
    if written:
        body.append(ast.parse(f"return {targets}").body[0])
    made = ast.parse(f"def {name}({', '.join(parameters)}):\n    pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    call = f"{name}({', '.join(parameters)})"
    site.place.statements[site.index : site.index + len(chosen)] = ast.parse(
        f"{targets} = {call}" if written else call
    ).body
    imports = [n for n, s in enumerate(tree.body) if isinstance(s, ast.Import | ast.ImportFrom)]
    tree.body.insert(imports[-1] + 1 if imports else 0, made)
    return True


def extract_closure(tree: ast.Module, rng: random.Random) -> bool:
    """Move statements that bind nothing into a function defined on the spot."""
    sites = _sites(tree)
    rng.shuffle(sites)
    for site in sites:
        chosen = [site.statement]
        if _extractable(chosen) and not _names(chosen, ast.Store):
            name = _fresh(tree, "inner")
            made = ast.parse(f"def {name}():\n    pass\n{name}()").body
            assert isinstance(made[0], ast.FunctionDef)
            made[0].body = chosen
            site.replace(*made)
            return True
    return False


REFACTORINGS: tuple[Refactoring, ...] = (
    extract_function,
    extract_closure,
    invert_condition,
    name_condition,
    nest_conjunction,
    else_after_exit,
    duplicate_tail,
    wrap_in_uniform,
    wrap_in_nothing,
    rename,
)


def refactor(source: str, refactoring: Refactoring, rng: random.Random) -> str | None:
    """Apply a refactoring somewhere in a script; None where it does not apply."""
    tree = ast.parse(source)
    return unparse(tree) if refactoring(tree, rng) else None


@dataclass(frozen=True)
class Change:
    """A script whose verdict a refactoring changed."""

    number: int
    refactoring: str
    before: str
    after: str
    source: str


def compare(numbers: Iterable[int], seed: int, counts: Counter[str]) -> Iterator[Change]:
    """Refactor scripts in every way and give those whose verdict changes."""
    for number in numbers:
        script = generate(seed, number)
        before = verdict(script.source)
        if before == "over-budget":
            continue
        for refactoring in REFACTORINGS:
            rng = random.Random(f"{seed}:{number}:{refactoring.__name__}")
            changed = refactor(script.source, refactoring, rng)
            if changed is None:
                continue
            counts[refactoring.__name__] += 1
            after = verdict(changed)
            if after not in (before, "over-budget"):
                yield Change(number, refactoring.__name__, before, after, changed)


def main() -> int:
    """Refactor many scripts; 1 when a verdict changes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refactorings")
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the changed scripts")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    changes = list(compare(range(arguments.programs), arguments.seed, counts))
    changed = Counter(change.refactoring for change in changes)
    for name, count in sorted(counts.items()):
        print(f"{name:20} {count:6} scripts {changed[name]:6} verdicts changed")
    for change in changes:
        print(f"script {change.number}, {change.refactoring}: {change.before} -> {change.after}")
        if arguments.show:
            print(change.source)
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
