"""Functions of a script are called like those of the source, as far as a script can."""

from __future__ import annotations

import ast

import pytest

from distlint.confirm.names import OWN, Names
from tests.confirm.scripts import written

START = """\
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
"""


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("save", "save"),
        ("Trainer.save", "Trainer_save"),
        ("Trainer.__call__", "Trainer_call"),
        ("<lambda>", "lambda_"),
        ("__import", "import_"),
        ("class_", "class_"),
        ("_None", "None_"),
        ("_2d_step", "_2d_step"),
        ("__", "function"),
        ("match", "match"),
        ("größe", "größe"),
        ("ﬁx", "fix"),
        *((name, f"{name}_") for name in ("print", "range", "iter", "next", "Exception")),
        *((name, f"{name}_2") for name in OWN),
    ],
)
def test_a_name_is_one_that_the_script_does_not_need(wanted: str, given: str) -> None:
    assert Names().free(wanted) == given


def test_no_name_is_given_twice() -> None:
    names = Names()
    wanted = ["a.b", "a_b", "print", "_print", "print_2", "ﬁx", "fix", "line_7", "line_7"]
    assert len({names.free(each) for each in wanted}) == len(wanted)


@pytest.mark.parametrize("name", ["_if", "class_", "_2d", "print", "next", "Failure", "_", "True_"])
def test_a_function_of_any_name_has_a_script(name: str) -> None:
    code = f"def {name}(a):\n    dist.barrier()\n\n\nif rank == 0:\n    {name}(1)\n"
    (found,) = written(START + code)
    assert found.script is not None, found.reason


def test_a_function_that_is_called_like_a_table() -> None:
    code = """\
def line_10(a):
    dist.barrier()


for i in range(4):
    if (i + rank) % 3 == 0:
        line_10(i)
"""
    (found,) = written(START + code)
    assert found.script is not None, found.reason
    bound = [
        node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.targets[0])
        for node in ast.parse(found.script.source).body
        if isinstance(node, (ast.FunctionDef, ast.Assign))
    ]
    assert bound == ["rank", "line_10_2", "line_10"]
