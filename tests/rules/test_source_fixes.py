"""What the fixes of rules about one file's source make of it, and where none is offered."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.rules.test_source_rules import reported
from tests.support import repaired


def fixed(source: str) -> str:
    return repaired(dedent(source).lstrip("\n"))


def unchanged(source: str, code: str) -> None:
    """The rule speaks, and offers nothing."""
    source = dedent(source).lstrip("\n")
    assert reported(source, code), "nothing to repair: the test says nothing"
    assert repaired(source) == source


RETRIED = """\
import torch
from accelerate.utils import find_executable_batch_size


def main(flag):
    model = torch.nn.Linear(2, 1)
    steps = torch.optim.SGD(model.parameters(), lr=0.1)

    @find_executable_batch_size(starting_batch_size=8)
    def train(batch_size):
        {inside}

    {behind}
"""


def retried(inside: str, behind: str) -> str:
    work = "model(torch.ones(batch_size, 2)).mean().backward()\nsteps.step()\n"
    return RETRIED.format(
        inside=(work + inside).replace("\n", "\n        ").rstrip(),
        behind=behind.replace("\n", "\n    ").rstrip(),
    )


@pytest.mark.parametrize(
    ("inside", "behind", "last", "call"),
    [
        ("", "train()\nprint(model)", "return model", "model = train()"),
        ("", "train()\nprint(steps, model)", "return model, steps", "model, steps = train()"),
        ("return 7", "size = train()\nprint(model)", "return 7, model", "size, model = train()"),
        ("return 7", "train()\nprint(model)", "return 7, model", "_, model = train()"),
        (
            "return 7, 8",
            "a, b = train()\nprint(model)",
            "return (7, 8), model",
            "(a, b), model = train()",
        ),
        (
            "if flag:\n    return\nprint(1)",
            "if flag:\n    train()\n    print(model)",
            "return model",
            "model = train()",
        ),
        (
            "if flag:\n    return 7",
            "size = train()\nprint(model)",
            "return None, model",
            "size, model = train()",
        ),
    ],
)
def test_what_is_needed_behind_a_retry_comes_back(
    inside: str, behind: str, last: str, call: str
) -> None:
    text = repaired(retried(inside, behind))
    function, _, rest = text.partition("def train(batch_size):")[2].partition("\n\n")
    assert function.splitlines()[-1].strip() == last
    assert (
        rest.strip().splitlines()[call.startswith("model = ") and "if flag" in behind].strip()
        == call
    )
    assert "return\n" not in function
    compile(text, "<text>", "exec")


@pytest.mark.parametrize(
    ("inside", "behind"),
    [
        pytest.param("", "print(model)\ntrain()", id="used before the call"),
        pytest.param("", "train()\ntrain()\nprint(model)", id="called twice"),
        pytest.param("", "for _ in range(2):\n    train()\n    print(model)", id="in a loop"),
        pytest.param("", "if flag:\n    train()\nprint(model)", id="used where nothing was called"),
        pytest.param("", "size = train()\nprint(model)", id="a result that is None"),
        pytest.param("", "print(train(), model)", id="a call inside something else"),
        pytest.param("", "train()\ndef later():\n    print(model)", id="used by a function"),
        pytest.param("return 7", "_ = train()\nprint(_, model)\ntrain()", id="called again"),
        pytest.param("del model", "train()\nprint(model)", id="given away inside"),
    ],
)
def test_nothing_is_moved_where_that_is_not_legal(inside: str, behind: str) -> None:
    unchanged(retried(inside, behind), "DST301")
