"""Which findings survive changes of form that keep what a script does.

    python -m benchmarks.survival [--select DST6] [--show] [--count 2] [--seed 1]

Every bad example of the rules, and every script of ``tests/rules/cases`` with a finding, is changed
in one place: a value is made by a function, here or in another file; a statement is moved into a
function, here or in another file; a variable becomes an attribute or an item of a dict, or gets a
name that says nothing. A finding survives if its rule still reports something in one of the files.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from distlint.engine.run import check_paths
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from distlint.rules import registry

CASES = Path(__file__).parent.parent / "tests" / "rules" / "cases"
_EXPECTED = re.compile(r"# expect: (DST\d+)")
_HELPER = "helpers"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global)
Body = list[ast.stmt]


@dataclass(frozen=True)
class Script:
    """A script and the codes of the rules that report something in it."""

    name: str
    text: str
    codes: tuple[str, ...]


@dataclass(frozen=True)
class Changed:
    """The files of a script after a change, and what was changed."""

    script: Script
    form: str
    files: dict[str, str]


def scripts(select: str) -> Iterator[Script]:
    """The bad examples of the rules, and the scripts of the cases with findings."""
    for rule in registry.rules().values():
        for index, example in enumerate(getattr(rule, "bad", ())):
            yield from _script(f"{rule.code}/bad{index}", example.code, select)
    for path in sorted(CASES.glob("*/*.py")):
        yield from _script(f"{path.parent.name}/{path.stem}", path.read_text("utf-8"), select)


def _script(name: str, text: str, select: str) -> Iterator[Script]:
    codes = tuple(dict.fromkeys(_EXPECTED.findall(text)))
    if codes and name.startswith(select) and _is_python(text):
        yield Script(name, text, codes)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


# ---- what a change may touch


@dataclass(frozen=True)
class Place:
    """A statement in the block that holds it, in a function or in the module's body."""

    block: Body
    index: int
    scope: ast.AST

    @property
    def statement(self) -> ast.stmt:
        return self.block[self.index]


def _places(scope: ast.AST, body: Body) -> Iterator[Place]:
    for index, statement in enumerate(body):
        yield Place(body, index, scope)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _places(statement, statement.body)
        elif isinstance(statement, ast.ClassDef):
            for each in statement.body:
                if isinstance(each, ast.FunctionDef):
                    yield from _places(each, each.body)
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _places(scope, getattr(statement, name, []))
            for handler in getattr(statement, "handlers", []):
                yield from _places(scope, handler.body)


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, context)
    }


def _imports(tree: ast.Module) -> list[ast.stmt]:
    return [each for each in tree.body if isinstance(each, (ast.Import, ast.ImportFrom))]


def _defined(tree: ast.Module) -> set[str]:
    return {each.name for each in ast.walk(tree) if isinstance(each, _DEFINITIONS)}


def _imported(tree: ast.Module) -> set[str]:
    return {
        (alias.asname or alias.name).partition(".")[0]
        for each in ast.walk(tree)
        if isinstance(each, (ast.Import, ast.ImportFrom))
        for alias in each.names
    }


def _free(tree: ast.Module, node: ast.AST) -> list[str] | None:
    """The variables that a part of a script needs; None if it needs one of its functions."""
    used = _names(node, ast.Load)
    inner = [each for each in ast.walk(node) if isinstance(each, (ast.Lambda, *_DEFINITIONS))]
    if inner or used & _defined(tree) or "self" in used or "super" in used:
        return None
    comprehended = {
        name
        for each in ast.walk(node)
        if isinstance(each, ast.comprehension)
        for name in _names(each.target, ast.Store)
    }
    known = _imported(tree) | set(dir(builtins)) | comprehended
    return sorted(used - known)


# ---- the changes


Files = dict[str, str]
Change = Callable[[ast.Module, Place], Files | None]


def _function(name: str, params: list[str], body: Body) -> ast.FunctionDef:
    made = ast.parse(f"def {name}({', '.join(params)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    return made


def _placed(tree: ast.Module, function: ast.FunctionDef, *, elsewhere: bool) -> Files:
    """The files with a new function, in the script or in another file."""
    imports = _imports(tree)
    if elsewhere:
        helper = ast.Module([*copy.deepcopy(imports), function], [])
        tree.body.insert(
            _after_imports(tree), ast.parse(f"from {_HELPER} import {function.name}").body[0]
        )
        return {"train.py": _text(tree), f"{_HELPER}.py": _text(helper)}
    tree.body.insert(_after_imports(tree), function)
    return {"train.py": _text(tree)}


def _after_imports(tree: ast.Module) -> int:
    last = [n for n, each in enumerate(tree.body) if isinstance(each, (ast.Import, ast.ImportFrom))]
    docstring = bool(tree.body) and ast.get_docstring(tree) is not None
    return last[-1] + 1 if last else int(docstring)


def _text(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _made_by_function(tree: ast.Module, place: Place, *, elsewhere: bool) -> Files | None:
    statement = place.statement
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    free = _free(tree, statement.value)
    if free is None:
        return None
    function = _function("make", free, [ast.Return(statement.value)])
    statement.value = ast.parse(f"make({', '.join(free)})").body[0].value  # type: ignore[attr-defined]
    return _placed(tree, function, elsewhere=elsewhere)


def _moved_to_function(tree: ast.Module, place: Place, *, elsewhere: bool) -> Files | None:
    statement = place.statement
    if isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) or place.index == 0:
        return None
    if any(isinstance(each, _LEAVES) for each in ast.walk(statement)):
        return None
    free, stored = _free(tree, statement), sorted(_names(statement, ast.Store))
    if free is None or any(isinstance(each, ast.NamedExpr) for each in ast.walk(statement)):
        return None
    later = set[str]()
    for each in ast.walk(place.scope):
        if isinstance(each, ast.stmt) and each is not statement:
            later |= _names(each, ast.Load)
    if set(stored) & later or isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return None
    params = [name for name in free if name not in stored]
    if set(free) & set(stored) - _bound_inside(statement):
        return None
    function = _function("perform", params, [statement])
    place.block[place.index] = ast.parse(f"perform({', '.join(params)})").body[0]
    return _placed(tree, function, elsewhere=elsewhere)


def _bound_inside(statement: ast.stmt) -> set[str]:
    """The targets of loops and ``with``, which are bound before they are read."""
    return {
        name
        for each in ast.walk(statement)
        if isinstance(each, (ast.For, ast.withitem))
        for name in _names(
            each.target if isinstance(each, ast.For) else each.optional_vars or ast.Pass(),
            ast.Store,
        )
    }


class _Renamer(ast.NodeTransformer):
    def __init__(self, name: str, other: Callable[[ast.expr_context], ast.expr]) -> None:
        self._name, self._other = name, other

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._other(node.ctx) if node.id == self._name else node


def _renamed(
    tree: ast.Module, place: Place, other: Callable[[ast.expr_context], ast.expr], before: str
) -> Files | None:
    statement = place.statement
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    if not isinstance(statement.value, ast.Call) or len(statement.targets) > 1:
        return None
    name, scope = statement.targets[0].id, place.scope
    assert isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))
    inner = [
        n for n in ast.walk(scope) if isinstance(n, (ast.Lambda, *_DEFINITIONS)) and n is not scope
    ]
    if any(name in _names(each, ast.Load) or name in _params(each) for each in inner):
        return None
    if name in _params(scope) or any(
        isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(scope)
    ):
        return None
    for each in scope.body:
        if not isinstance(each, _DEFINITIONS):
            _Renamer(name, other).visit(each)
    if before:
        start = _after_imports(tree) if isinstance(scope, ast.Module) else 0
        scope.body[start:start] = ast.parse(before).body
    return {"train.py": _text(tree)}


def _params(node: ast.AST) -> set[str]:
    args = getattr(node, "args", None)
    return {each.arg for each in ast.walk(args) if isinstance(each, ast.arg)} if args else set()


def _as_attribute(tree: ast.Module, place: Place) -> Files | None:
    name = _target(place)
    return _renamed(
        tree,
        place,
        lambda ctx: ast.Attribute(ast.Name("parts", ast.Load()), name, ctx),
        "from types import SimpleNamespace\nparts = SimpleNamespace()",
    )


def _as_item(tree: ast.Module, place: Place) -> Files | None:
    name = _target(place)
    return _renamed(
        tree,
        place,
        lambda ctx: ast.Subscript(ast.Name("parts", ast.Load()), ast.Constant(name), ctx),
        "parts = {}",
    )


def _as_other_name(tree: ast.Module, place: Place) -> Files | None:
    return _renamed(tree, place, lambda ctx: ast.Name("thing", ctx), "")


def _target(place: Place) -> str:
    statement = place.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


CHANGES: dict[str, Change] = {
    "made by a function": lambda t, p: _made_by_function(t, p, elsewhere=False),
    "made in another file": lambda t, p: _made_by_function(t, p, elsewhere=True),
    "done by a function": lambda t, p: _moved_to_function(t, p, elsewhere=False),
    "done in another file": lambda t, p: _moved_to_function(t, p, elsewhere=True),
    "kept in an attribute": _as_attribute,
    "kept in a dict": _as_item,
    "another name": _as_other_name,
}


def changed(script: Script, count: int, rng: random.Random) -> Iterator[Changed]:
    """The script with each change, in as many places as ``count`` allows."""
    tree = ast.parse(script.text)
    places = len(list(_places(tree, tree.body)))
    for form, change in CHANGES.items():
        made = 0
        for index in rng.sample(range(places), places):
            again = ast.parse(script.text)
            place = list(_places(again, again.body))[index]
            files = change(again, place)
            if files is not None:
                yield Changed(script, form, files)
                made += 1
            if made == count:
                break


def reported(files: Files, codes: tuple[str, ...]) -> set[str]:
    """Those of some codes that are reported in these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, "utf-8")
        settings = Overrides(layer=Layer(select=codes), preview=True, isolated=True)
        report = check_paths([Path(folder)], Resolver(settings), jobs=1)
    return {finding.code for finding in report.findings}


def _judged(job: tuple[Script, int, int]) -> list[tuple[Changed, str, bool]]:
    script, count, seed = job
    rng = random.Random(f"{script.name} {seed}")
    before = reported({"train.py": _text(ast.parse(script.text))}, script.codes)
    found: list[tuple[Changed, str, bool]] = []
    for each in changed(script, count, rng):
        after = reported(each.files, script.codes)
        found += [(each, code, code in after) for code in script.codes if code in before]
    return found


def main() -> int:
    """Print how many findings survive, by change and by rule."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--select", default="", help="names of scripts that begin so")
    parser.add_argument("--count", type=int, default=1, help="places for each change of a script")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="list what does not survive")
    parser.add_argument("--write", type=Path, help="a folder for what does not survive")
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    jobs = [(script, options.count, options.seed) for script in scripts(options.select)]
    by_form: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    by_rule: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    with ProcessPoolExecutor(options.jobs) as pool:
        for judged in pool.map(_judged, jobs, chunksize=4):
            for each, code, survives in judged:
                by_form[each.form][survives] += 1
                by_rule[code][survives] += 1
                if not survives and options.show:
                    print(f"lost {code} {each.script.name}: {each.form}")
                if not survives and options.write:
                    folder = options.write / f"{each.script.name}.{each.form}".replace(
                        "/", "_"
                    ).replace(" ", "_")
                    folder.mkdir(parents=True, exist_ok=True)
                    for name, text in each.files.items():
                        (folder / name).write_text(text, "utf-8")
    for table in (by_rule, by_form):
        for key, counts in sorted(table.items()):
            total = counts.total()
            print(f"{key}: {counts[True]} of {total} survive ({counts[True] / total:.0%})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
