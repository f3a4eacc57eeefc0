"""One rank runs out of memory, and all ranks try again with the same smaller size."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.conftest import Ranks

OOM = 'torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")'

TRAIN = f"""
def train(batch_size, where, who):
    total = torch.zeros(1)
    for step in range(3):
        fails = batch_size > 3 and rank in who and step == 1
        if fails and where == "before":
            raise {OOM}
        mine = torch.full((1,), float(batch_size))
        work = dist.all_reduce(mine, async_op=True)
        if fails and where == "inside":
            raise {OOM}
        work.wait()
        total += mine
    if batch_size > 3 and rank in who and where == "after":
        raise {OOM}
    return total.item()
"""


@pytest.mark.parametrize("where", ["before", "inside", "after"])
@pytest.mark.parametrize("size", [2, 4])
def test_all_ranks_shrink_and_sums_are_right(ranks: Ranks, where: str, size: int) -> None:
    outcome = ranks(
        TRAIN
        + f"""
finder = rt.find_executable_batch_size(train, 8, factor=0.5)
assert finder({where!r}, [1]) == 3 * 2 * world
assert (finder.batch_size, finder.tried) == (2, [8, 4])
rest = torch.ones(1)
dist.all_reduce(rest)  # the world that was made anew is whole
assert rest.item() == world
assert rt.from_main(rank) == 0
""",
        size,
    )
    assert "batch size 8 does not fit on rank 1; trying 4" in outcome.ranks[0].err
    assert outcome.ranks[1].err == ""


def test_the_vendored_one_does_as_well(ranks: Ranks, source: str) -> None:
    ranks(
        TRAIN
        + """
finder = rt.find_executable_batch_size(train, 8, factor=0.5)
assert finder("before", [1]) == 3 * 2 * world
"""
    )


def test_accelerates_decorator_fails_where_this_one_does_not(ranks: Ranks) -> None:
    """The control: the same script with the decorator that this one replaces."""
    outcome = ranks(
        "from accelerate.utils import find_executable_batch_size\n"
        + TRAIN
        + """
finder = find_executable_batch_size(train, 8, lambda: 2)
try:
    print("right" if finder("inside", [1]) == 3 * 2 * world else "wrong sum")
except RuntimeError as error:
    print("died:", error)
    raise SystemExit(9)
print("rest", rank)
""",
        needs=("accelerate",),
        exits=(0, 9),
    )
    assert "wrong sum" in outcome.ranks[0].out
    assert "died:" in outcome.ranks[1].out


def test_failing_together_keeps_the_groups(ranks: Ranks) -> None:
    ranks(
        TRAIN
        + """
group = dist.new_group()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
world_before = dist.group.WORLD
assert rt.find_executable_batch_size(train, 8)("before", [0, 1]) == 3 * 3 * world
assert dist.group.WORLD is world_before
assert rt.any_rank(rank == 1, group=group)
model(torch.ones(1)).backward()
"""
    )


@pytest.mark.parametrize(
    ("outer", "named"),
    [
        ("dist.new_group()", "process group"),
        (
            "torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))",
            "a DistributedDataParallel",
        ),
    ],
)
def test_what_was_made_outside_is_named_on_all_ranks(ranks: Ranks, outer: str, named: str) -> None:
    ranks(
        TRAIN
        + f"""
outer = {outer}
start = time.monotonic()
with raises(rt.StaleGroupError, match={named!r}) as caught:
    rt.find_executable_batch_size(train, 8)("before", [1])
assert caught.value.rank == rank and "script.py:" in caught.value.site
assert time.monotonic() - start < 10
rest = torch.ones(1)
dist.all_reduce(rest)
assert rest.item() == world
"""
    )


def test_ddp_and_groups_made_inside_are_fine(ranks: Ranks) -> None:
    ranks(
        """
        @rt.find_executable_batch_size(starting_batch_size=8, factor=0.5)
        def train(batch_size):
            group = dist.new_group()
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
            for step in range(3):
                loss = model(torch.ones(batch_size, 64)).sum()
                if batch_size > 2 and rank == 0 and step == 1:
                    raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried ...")
                loss.backward()
                assert rt.any_rank(step == rank, group=group) == (step < world)
            return sum(p.grad.sum() for p in model.parameters()).item()

        gradients = [train()]
        gradients.append(rt.from_main(gradients[0]))
        assert gradients[0] == gradients[1] == 3 * 2 * (64 * 64 + 64), gradients
        """
    )


def test_ranks_that_fail_at_different_points(ranks: Ranks) -> None:
    ranks(
        f"""
        @rt.find_executable_batch_size(starting_batch_size=16, factor=0.5)
        def train(batch_size):
            total = torch.zeros(1)
            for step in range(6):
                if batch_size > 4 and (rank, step) in ((1, 1), (2, 4), (3, 2)):
                    raise {OOM}
                mine = torch.full((1,), float(batch_size))
                dist.all_reduce(mine)
                total += mine
            if batch_size > 2 and rank == 0:
                raise {OOM}
            return total.item()

        assert train() == 6 * 2 * world
        assert train.tried == [16, 8, 4]
        """,
        4,
    )


def test_a_subgroup_can_only_fail_together(ranks: Ranks) -> None:
    ranks(
        f"""
        groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        mine = groups[rank // 2]

        def train(batch_size, who):
            if batch_size > 4 and rank in who:
                raise {OOM}
            part = torch.ones(1)
            dist.all_reduce(part, group=mine)
            return part.item()

        find = rt.find_executable_batch_size
        assert find(train, 8, factor=0.5, group=mine)(who=[0, 1, 2, 3]) == 2
        if rank < 2:
            assert find(train, 8, factor=0.5, group=mine)(who=[]) == 2
        else:
            with raises(rt.StaleGroupError, match="the group passed as group="):
                find(train, 8, factor=0.5, group=mine)(who=[2])
        """,
        4,
    )


def test_interfaces_of_older_versions(ranks: Ranks) -> None:
    ranks(
        TRAIN.replace("torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError")
        + """
del torch.OutOfMemoryError, dist.ProcessGroup.abort, dist.ProcessGroup.bound_device_id
dist.Store.has_extended_api = lambda store: False
finder = rt.find_executable_batch_size(train, 8, factor=0.5)
assert finder("before", [1]) == 3 * 2 * world
assert rt.from_main(rank) == 0
rt.named_barrier("end")
""",
        4,
    )


@pytest.mark.parametrize("kind", ["FSDP", "fully_shard"])
def test_sharded_models_made_inside_are_fine(ranks: Ranks, kind: str) -> None:
    wrap = {
        "FSDP": "net = FullyShardedDataParallel(net, device_id=torch.device('cpu'))",
        "fully_shard": "fully_shard(net)",
    }[kind]
    ranks(
        f"""
        from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

        @rt.find_executable_batch_size(starting_batch_size=4, factor=0.5)
        def train(batch_size):
            torch.manual_seed(0)
            net = torch.nn.Linear(4, 1)
            {wrap}
            for step in range(2):
                loss = net(torch.ones(batch_size, 4)).sum()
                if batch_size > 2 and rank == 1 and step == 1:
                    raise {OOM}
                loss.backward()
            return loss.item()

        result = train()
        torch.manual_seed(0)
        whole = torch.nn.Linear(4, 1)
        assert abs(result - whole(torch.ones(2, 4)).sum().item()) < 1e-5
        """
    )


def test_another_error_frees_the_others(ranks: Ranks) -> None:
    ranks(
        """
        @rt.find_executable_batch_size(starting_batch_size=8)
        def train(batch_size):
            if rank == 1:
                raise KeyError("mine")
            dist.barrier()

        start = time.monotonic()
        with raises(KeyError if rank == 1 else rt.PeerFailedError) as caught:
            train()
        if rank != 1:
            assert caught.value.peer == 1
            assert "KeyError: 'mine'" in str(caught.value) and "in train" in str(caught.value)
        assert time.monotonic() - start < 8
        """,
        4,
    )


def test_a_rank_that_is_killed_is_named(ranks: Ranks) -> None:
    ranks(
        """
        @rt.find_executable_batch_size(starting_batch_size=8)
        def train(batch_size):
            if rank == 1:
                os.kill(os.getpid(), 9)

        with raises(rt.MissingRanksError) as caught:
            train()
        assert caught.value.missing == (1,)
        """,
        exits=(0, -9),
    )


def test_ranks_that_wait_at_the_store_are_called_back(ranks: Ranks) -> None:
    ranks(
        """
        @rt.find_executable_batch_size(starting_batch_size=8, factor=0.5)
        def train(batch_size):
            with rt.main_process_first():
                if batch_size > 2 and rank == 0:
                    time.sleep(0.2)
                    raise MemoryError
            rt.named_barrier("loaded")
            return batch_size

        assert train() == 2
        """
    )


def test_nothing_fits(ranks: Ranks) -> None:
    ranks(
        f"""
        def train(batch_size):
            if rank == 1:
                raise {OOM}
            dist.barrier()

        finder = rt.find_executable_batch_size(train, 8, factor=0.5, floor=4)
        with raises(rt.BatchSizeError, match="too large for rank 1"):
            finder()
        assert finder.tried == [8, 4]
        """
    )


def test_the_effective_size_stays(ranks: Ranks, source: str) -> None:
    ranks(
        f"""
        calls = []

        def train(batch_size, *, accumulation_steps):
            calls.append((batch_size, accumulation_steps))
            if batch_size > 10:
                raise {OOM}

        finder = rt.find_executable_batch_size(train, 96, keep_effective_batch_size=True)
        finder()
        assert calls[0] == (96, 1) and calls[-1] == (8, 12)
        assert all(size * steps == 96 for size, steps in calls)
        assert finder.accumulation_steps == 12
        """
    )


def test_random_numbers_begin_anew(ranks: Ranks) -> None:
    ranks(
        f"""
        import random
        import numpy
        drawn = []

        def train(batch_size):
            drawn.append((random.random(), torch.rand(1).item(), numpy.random.rand()))
            if len(drawn) < 3:
                raise {OOM}

        rt.find_executable_batch_size(train, 8)()
        assert len(drawn) == 3 and len(set(drawn)) == 1
        """,
        1,
        init=False,
    )


def test_drop_in_for_accelerate(ranks: Ranks) -> None:
    ranks(
        """
        sizes = [5]

        def reduce():
            sizes.append(sizes[-1] - 1)
            return sizes[-1]

        @rt.find_executable_batch_size(starting_batch_size=5, reduce_batch_size_fn=reduce)
        def train(batch_size, model, scale=1):
            if batch_size > 2:
                raise RuntimeError("MPS backend out of memory")
            return batch_size * scale, model

        assert train("net", scale=10) == (20, "net")
        assert train.__name__ == "train"
        assert rt.find_executable_batch_size(lambda size: size)() == 128
        with raises(TypeError, match="The decorator passes the batch size"):
            train(5, "net", 1)
        with raises(ValueError, match="mine"):
            rt.find_executable_batch_size(lambda size: (_ for _ in ()).throw(ValueError("mine")))()
        """,
        1,
        init=False,
    )


@pytest.mark.parametrize("name", ["abort", "_abort"])
def test_groups_of_nccl_are_aborted_for_each_device(name: str) -> None:
    """With a backend that only counts; a device without a backend is passed over."""
    pytest.importorskip("torch")
    from types import SimpleNamespace

    from distlint.runtime._renewal import _abort

    called: list[str] = []

    def backend(device: str) -> SimpleNamespace:
        if device == "cpu":
            raise RuntimeError("no backend for it")
        return SimpleNamespace(**{name: lambda: called.append(device)})

    group: Any = SimpleNamespace(_device_types=["cpu", "cuda"], _get_backend=backend)
    _abort(group)
    assert called == ["cuda"]


def test_which_errors_count() -> None:
    torch = pytest.importorskip("torch")
    from distlint.runtime import is_out_of_memory

    for error in (
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("MPS backend out of memory (MPS allocated: 17.00 GB)"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"),
    ):
        assert is_out_of_memory(error)
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_out_of_memory(ValueError("out of memory"))
