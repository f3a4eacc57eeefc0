"""The operators of the mutation benchmark: where they find a site, and what they make of it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.mutation.campaign import OPERATORS, Found, Judge, choose, likeness
from benchmarks.mutation.operators import Site
from benchmarks.mutation.repository import Repository
from benchmarks.mutation.source import Source

HEAD = "import time\nimport torch\nimport torch.distributed as dist\n"


def sites(operator: str, body: str, folder: Path) -> list[Site]:
    path = folder / "script.py"
    path.write_text(HEAD + dedent(body))
    repository = Repository(folder)
    source = repository.source(path)
    assert isinstance(source, Source)
    return list(OPERATORS[operator].sites(source, repository))


def broken(operator: str, body: str, folder: Path) -> str:
    """What the only mutant is, its head aside."""
    (site,) = sites(operator, body, folder)
    compile(site.text, "<mutant>", "exec")
    return site.text.removeprefix(HEAD)


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        (
            "collective under a rank test",
            "dist.barrier()  # all\n",
            "if dist.get_rank() == 0:\n    dist.barrier()  # all\n",
        ),
        (
            "return on other ranks",
            "def f(x):\n    for y in x:\n        dist.all_reduce(y)\n",
            "def f(x):\n    if dist.get_rank() != 0:\n        return\n"
            "    for y in x:\n        dist.all_reduce(y)\n",
        ),
        (
            "barrier of a pair deleted",
            "def f(rank):\n  if rank != 0:\n    dist.barrier()\n  if rank == 0:\n    g()\n",
            None,
        ),
        (
            "break on the clock of a rank",
            "for x in xs:\n    dist.all_reduce(x)\n",
            "for x in xs:\n    if time.time() > 2e9:\n        break\n    dist.all_reduce(x)\n",
        ),
        (
            "reduce before a decision dropped",
            "for x in xs:\n    dist.all_reduce(x)\n    if x.item():\n        break\n",
            None,
        ),
        (
            "two collectives swapped",
            "dist.barrier()\ndist.all_reduce(x)\n",
            "if dist.get_rank() == 0:\n    dist.all_reduce(x)\n    dist.barrier()\n"
            "else:\n    dist.barrier()\n    dist.all_reduce(x)\n",
        ),
    ],
)
def test_operator(operator: str, before: str, after: str | None, tmp_path: Path) -> None:
    if after is None:
        assert all(site.text or site.equivalent for site in sites(operator, before, tmp_path))
    else:
        assert broken(operator, before, tmp_path) == after


def test_reduced_flag(tmp_path: Path) -> None:
    body = """
    for x in xs:
        dist.all_reduce(x)
        if x.item() > 3:
            break
        x.backward()
    """
    text = broken("reduce before a decision dropped", body, tmp_path)
    assert "    pass\n    if x.item() > 3:\n" in text
    assert "all_reduce" not in text


def test_a_pair_of_barriers_loses_one_of_them(tmp_path: Path) -> None:
    body = """
    def f(rank):
        if rank != 0:
            dist.barrier()
        load()
        if rank == 0:
            dist.barrier()
    """
    found = sites("barrier of a pair deleted", body, tmp_path)
    assert [site.text.count("dist.barrier()") for site in found] == [1, 1]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("def f(rank):\n    if rank == 0:\n        dist.barrier()\n", "behind a rank test"),
        (
            "def f(rank):\n    if rank:\n        return\n    dist.barrier()\n",
            "behind an exit of some ranks",
        ),
        ("def f():\n    return\n    dist.barrier()\n", "is never reached"),
        ("try:\n    g()\nexcept E:\n    dist.barrier()\n", "runs after an exception"),
    ],
)
def test_equivalent_mutants_are_left_out(body: str, why: str, tmp_path: Path) -> None:
    (site,) = sites("collective under a rank test", body, tmp_path)
    assert (site.text, site.equivalent) == ("", why)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "def keep(state):\n"
            "    with tempfile.TemporaryDirectory() as temp_dir:\n"
            "        path = temp_dir + '/a.pt'\n"
            "        if dist.get_rank() == 0:\n"
            "            torch.save(state, path)\n",
            "each rank has a temporary folder of its own",
        ),
        (
            "def hook(models, weights, folder):\n"
            "    if accelerator.is_main_process:\n"
            "        torch.save(weights, folder)\n"
            "accelerator.register_save_state_pre_hook(hook)\n"
            "if accelerator.is_main_process:\n"
            "    accelerator.save_state('out')\n",
            "a hook of a save that rank 0 alone calls",
        ),
    ],
)
def test_a_save_that_is_no_other_ranks_anyway(body: str, why: str, tmp_path: Path) -> None:
    (site,) = sites("rank guard of a save dropped", "dist.init_process_group()\n" + body, tmp_path)
    assert (site.text, site.equivalent) == ("", why)


def test_the_words_of_the_function_are_used_for_rank_0(tmp_path: Path) -> None:
    body = """
    def f(args):
        if args.rank == 0:
            print()
        dist.barrier()
    """
    assert "    if args.rank == 0:\n        dist.barrier()" in broken(
        "collective under a rank test", body, tmp_path
    )


def test_a_call_of_another_file_counts_by_what_it_does_there(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(
        "import torch.distributed as dist\n"
        "def wait():\n    dist.barrier()\n"
        "def start():\n    dist.init_process_group()\n    dist.barrier()\n"
        "def log():\n    print()\n"
    )
    body = """
    from helpers import log, start, wait
    start()
    log()
    wait()
    """
    text = broken("call under a rank test", body, tmp_path)
    assert text.endswith("log()\nif dist.get_rank() == 0:\n    wait()\n")


SAVE = """
dist.init_process_group("nccl")
{sampler}
model = torch.nn.parallel.DistributedDataParallel(net)
checkpoint = torch.load(path, map_location="cpu")
model.module.load_state_dict(checkpoint)
for epoch in range(9):
    sampler.set_epoch(epoch)
    step(loader)
    if dist.get_rank() == 0 and epoch:
        torch.save(model.module.state_dict(), "last.pt")
"""
SAMPLER = """
from torch.utils.data import DataLoader, DistributedSampler
sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler, batch_size=4)
"""


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        ("`set_epoch` dropped", "    pass"),
        ("`sampler=` dropped", "loader = DataLoader(data, batch_size=4)"),
        ("`map_location` dropped", "checkpoint = torch.load(path)"),
        (
            "`.module` of a state dict dropped",
            '        torch.save(model.state_dict(), "last.pt")',
        ),
        ("rank guard of a save dropped", "    if epoch:"),
    ],
)
def test_data_operator(operator: str, line: str, tmp_path: Path) -> None:
    body = SAVE.format(sampler=SAMPLER)
    before = (HEAD + body).splitlines()
    after = (HEAD + broken(operator, body, tmp_path)).splitlines()
    changed = [new for new, old in zip(after, before, strict=True) if new != old]
    assert changed == [line]


def test_neutral_changes_keep_the_calls(tmp_path: Path) -> None:
    body = """
    def f(x):
        total = x + 1
        if total:
            dist.all_reduce(total)
        else:
            print(total)
    """
    for name in ("local variable renamed", "function extracted", "condition inverted"):
        for site in sites(name, body, tmp_path):
            compile(site.text, "<neutral>", "exec")
            assert site.text.count("dist.all_reduce(") == 1
    (inverted,) = sites("condition inverted", body, tmp_path)
    assert "if not (total):\n        print(total)\n    else:\n        dist.all" in inverted.text


def test_a_mutant_is_judged_against_its_original(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        HEAD + 'dist.init_process_group("gloo")\ndist.barrier()\ndist.all_reduce(torch.ones(1))\n'
    )
    found = Found(tmp_path.name, "script.py", "collective under a rank test", 0, 5, "")
    result = Judge(tmp_path).judge(found)
    assert result.reported == ["DST101 error line 5"]
    assert result.repaired == "the original"


def test_the_choice_is_spread_over_repositories() -> None:
    operator = "two collectives swapped"
    found = [Found("big", "a.py", operator, n, n, str(n)) for n in range(50)]
    found += [
        Found("small", "b.py", operator, 0, 1, "x"),
        Found("e", "c.py", operator, 0, 1, "", "y"),
    ]
    chosen = choose(found, 4, 1)
    assert [each.repository for each in chosen].count("big") == 3
    assert chosen == choose(found, 4, 1)


def test_a_repaired_text_is_compared_by_what_it_does() -> None:
    original = "for x in xs:\n    f(x, a=1, b=2)\n"
    assert likeness(original, "for x in xs:\n    pass\n    f(x, b=2, a=1)\n") == "the original"
    agreed = (
        "from distlint.runtime import any_rank\nfor x in xs:\n    if any_rank(x > 3):\n"
        "        break\n    f(x, a=1, b=2)\n"
    )
    assert likeness(original, agreed) == "all ranks agree"
    assert likeness(original, agreed.replace("any_rank(x > 3)", "x > 3")) == "another text"
