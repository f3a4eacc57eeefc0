"""Rules on scripts with values that are made from themselves, and functions that call themselves.

Every assignment of the examples gets a second one, which makes the variable, attribute or item
from itself in some way, once or in a loop.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

import pytest

from distlint.analyzer.project.project import Project
from distlint.rules.base import SourceRule
from distlint.rules.find import Search
from distlint.rules.registry import rules
from distlint.source.document import Document
from tests.support import SCRIPT

RULES = [rule for rule in rules().values() if issubclass(rule, SourceRule)]
EXAMPLES = [each.code for rule in RULES for each in rule.bad]

Make = Callable[[ast.expr, ast.expr], ast.expr]
"""A new value of a variable, from a mention of it and from the value that it had."""


class _Given(ast.NodeTransformer):
    """Calls that are given the variable itself, or are methods of it."""

    def __init__(self, itself: ast.expr, method: bool) -> None:
        self.itself, self.method = itself, method

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if self.method and isinstance(node.func, ast.Attribute):
            node.func.value = copy.deepcopy(self.itself)
        elif not self.method:
            node.args = [copy.deepcopy(self.itself), *node.args[1:]]
        return node


def given(itself: ast.expr, value: ast.expr) -> ast.expr:
    made: ast.expr = _Given(itself, method=False).visit(copy.deepcopy(value))
    return made


def method(itself: ast.expr, value: ast.expr) -> ast.expr:
    made: ast.expr = _Given(itself, method=True).visit(copy.deepcopy(value))
    return made


WAYS: dict[str, Make] = {
    "given to the call": given,
    "method of it": method,
    "module of the call": lambda itself, value: ast.Attribute(given(itself, value), "module"),
    "attribute": lambda itself, _: ast.Attribute(itself, "module"),
    "item": lambda itself, _: ast.Subscript(itself, ast.Constant("model")),
    "dict": lambda itself, _: ast.Dict([ast.Constant("model")], [itself]),
    "list": lambda itself, _: ast.List([itself, itself]),
    "sum": lambda itself, _: ast.BinOp(itself, ast.Add(), itself),
    "conditional": lambda itself, value: ast.IfExp(itself, itself, value),
}


class _Again(ast.NodeTransformer):
    """A second assignment after each, and a recursive call at the start of each function."""

    def __init__(self, make: Make, times: int | None) -> None:
        self.make, self.times = make, times

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        target = node.targets[0]
        itself = target.elts[0] if isinstance(target, (ast.Tuple, ast.List)) else target
        mention = ast.parse(ast.unparse(itself).lstrip("*"), mode="eval").body
        again = ast.Assign([target], self.make(mention, node.value), lineno=node.lineno)
        if self.times is not None:
            return [node, *[again] * self.times]
        steps = ast.parse("range(steps)", mode="eval").body
        return [node, ast.For(ast.Name("_step"), steps, [again], [], lineno=node.lineno)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        names = [arg.arg for arg in node.args.args]
        called = f"self.{node.name}" if names[:1] == ["self"] else node.name
        handed = ", ".join(f"{name}.inner" for name in names if name != "self")
        node.body[:0] = ast.parse(f"if deeper:\n    {called}({handed})").body
        return node


def problems(source: str) -> list[str]:
    search = Search(Document.from_bytes(source.encode(), SCRIPT), Project(SCRIPT.parent))
    return [f"{problem}\n{source}" for problem in search.in_source.problems]


def mutated(code: str, make: Make, times: int | None) -> str:
    tree = _Again(make, times).visit(ast.parse(code))
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.campaign
@pytest.mark.parametrize("times", [1, 200, None], ids=["once", "many times", "in a loop"])
@pytest.mark.parametrize("way", WAYS)
def test_no_rule_stumbles(way: str, times: int | None) -> None:
    first = [*WAYS].index(way)  # each way has a part of the examples, and each of these some ways
    examples = EXAMPLES[first::40] if times == 200 else EXAMPLES[first % 3 :: 3]
    assert [each for code in examples for each in problems(mutated(code, WAYS[way], times))] == []


MODEL_SAVED = """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, model, nets):
        self.model = model
        self.nets = nets
        self.build(nets)

    def build(self, nets):
        {again}

    def save(self, path):
        torch.save(self.model.state_dict(), path)
        torch.save(self.model, path)
        self.model.load_state_dict(strip(torch.load(path)))
"""

OTHERS = [
    "for _ in range(steps):\n    model = torch.compile(model)\nmodel = DDP(model)\nmodel(x)",
    "for _ in range(steps):\n    model = torch.compile(model).inner\nmodel = DDP(model)\nmodel(x)",
    "for _ in range(steps):\n    data = data.map(clean)\nsplit_dataset_by_node(data, rank, 4)",
    "for _ in range(steps):\n    wait = wait * 2\ndist.init_process_group('nccl', timeout=wait)",
    "DDP(net)\nfor _ in range(steps):\n    state = state['model']\n"
    "net.load_state_dict(state, strict=False)",
    "for _ in range(steps):\n    a, b = b, a\nprint(torch.exp(a) / torch.exp(a).sum())",
]


@pytest.mark.parametrize(
    "again",
    [
        "self.model = DDP(self.model).module",
        "self.model = DDP(self.model, device_ids=[0]).module.module",
        "self.model = DDP(self.model.module).module",
        "self.model = torch.compile(self.model)._orig_mod",
        "self.model = {'model': DDP(self.model).module}['model']",
        "nets['a'] = DDP(nets['a']).module; self.model = nets['a']",
        "self.nets['a'] = DDP(self.nets['a']).module; self.model = self.nets['a']",
        "for each in nets: each = DDP(each).module; self.model = each",
        "self.other = DDP(self.model).module; self.model = DDP(self.other).module",
        "self.model = getattr(DDP(self.model), 'module')",
    ],
)
def test_wrapped_model_that_is_assigned_from_itself(again: str) -> None:
    assert problems(MODEL_SAVED.format(again=again)) == []


@pytest.mark.parametrize("code", OTHERS)
def test_loop_that_makes_a_value_from_itself(code: str) -> None:
    imports = "import torch\nimport torch.distributed as dist\n"
    wraps = "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    assert problems(imports + wraps + code) == []


def test_function_that_calls_itself_with_an_attribute_of_what_it_makes() -> None:
    code = """\
import torch

def attention(scores, deeper):
    if deeper:
        attention(scores.inner, deeper)
    e = scores.exp()
    e = scores.exp(e)
    return e / torch.sum(e, dim=-1, keepdim=True)
"""
    assert problems(code + "weights = attention(x, 1)\nweights = attention(weights, 1)\n") == []
