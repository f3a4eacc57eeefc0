"""Process groups that somebody else has made."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.runtime.conftest import Ranks

USE = """
import torch.distributed as dist
rank = dist.get_rank()
assert rt.any_rank(rank == 1) and not rt.all_ranks(rank == 1)
assert rt.from_main(rank) == 0
assert rt.reduce_metrics({"rank": rank}) == {"rank": 0.5}
assert rt.gather_variable(torch.arange(rank + 1)).tolist() == [0, 0, 1]
net = torch.nn.Linear(2, 1)
model = prepare(net)
assert rt.unwrap(model) is net
assert rt.main_eval(model, lambda bare: bare is net)
for batch, micro in rt.accumulate(rt.equal_steps([torch.ones(1, 2)] * (2 + rank)), 2, model):
    model(batch).sum().backward()
rt.same_on_all_ranks([p.grad for p in net.parameters()], "gradients")
path = rt.save_checkpoint(rt.from_main(os.getcwd()) + "/last.pt", model)
assert rt.load_checkpoint(path, model).complete
assert rt.find_executable_batch_size(lambda size: size)() == 128
rt.named_barrier("end")
"""


def test_accelerate(ranks: Ranks) -> None:
    ranks(
        "from accelerate import Accelerator\nprepare = Accelerator(cpu=True).prepare\n" + USE,
        init=False,
        needs=("accelerate",),
    )


def test_accelerates_whole_batches_are_no_overlap(ranks: Ranks) -> None:
    ranks(
        """
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState
        from accelerate.utils import DataLoaderConfiguration

        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(range(30))

        for dispatch in (False, True):
            AcceleratorState._reset_state()
            how = DataLoaderConfiguration(dispatch_batches=dispatch)
            prepare = Accelerator(cpu=True, dataloader_config=how).prepare
            for data in (list(range(30)), Stream()):
                sharded = prepare(torch.utils.data.DataLoader(data, 4))
                assert rt.check_shards(sharded).ok, rt.check_shards(sharded)
                assert not rt.check_shards(torch.utils.data.DataLoader(data, 4)).ok
        """,
        init=False,
        needs=("accelerate",),
    )


@pytest.mark.skipif(find_spec("deepspeed") is None, reason="needs deepspeed")
def test_deepspeed(ranks: Ranks) -> None:
    ranks(
        "import deepspeed\ndeepspeed.init_distributed('gloo')\n"
        "from torch.nn.parallel import DistributedDataParallel as prepare\n" + USE,
        init=False,
        needs=("deepspeed",),
    )


def test_lightning_fabric(ranks: Ranks) -> None:
    ranks(
        "from lightning import Fabric\n"
        "fabric = Fabric(accelerator='cpu', devices=2, strategy='ddp')\n"
        "fabric.launch()\nprepare = fabric.setup\n" + USE,
        init=False,
        needs=("lightning",),
        limit=40,
    )


OWN_STORE = """
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = os.environ["DISTLINT_TEST_STORE"] + "-port"
if rank == 0:
    store = dist.TCPStore("127.0.0.1", 0, world, True, wait_for_workers=False)
    open(place + "-new", "w").write(str(store.port))
    os.rename(place + "-new", place)
else:
    while not os.path.exists(place):
        time.sleep(0.01)
    store = dist.TCPStore("127.0.0.1", int(open(place).read()), world, False)
dist.init_process_group("gloo", store=store, rank=rank, world_size=world)
del store
dist.barrier()
"""


@pytest.mark.parametrize("victim", [0, 1])
def test_a_dead_rank_and_its_store(ranks: Ranks, victim: int) -> None:
    """As without torchrun: rank 0 holds the store, and takes it along."""
    ranks(
        OWN_STORE
        + f"""
victim = {victim}
rt.named_barrier("start")
time.sleep(0.3)
if rank == victim:
    os.kill(os.getpid(), 9)
start = time.monotonic()
kind = rt.MissingRanksError if victim else rt.StoreError
with raises(kind) as caught:
    rt.named_barrier("epoch end", timeout=1.5)
assert time.monotonic() - start < 4
if victim:
    assert caught.value.missing == (victim,)
    path = os.environ["DISTLINT_TEST_STORE"] + "-last.pt"
    with raises(rt.DistributedError):
        rt.save_checkpoint(path, torch.nn.Linear(1, 1), timeout=0.5)
    time.sleep(0.5 if rank == 0 else 0)
else:
    assert "the process that hosts it probably exited" in str(caught.value)
""",
        3,
        init=False,
        exits=tuple(-9 if rank == victim else 0 for rank in range(3)),
    )


@pytest.mark.parametrize(
    ("last", "end"),
    [
        ("rt.named_barrier('end')", "dist.destroy_process_group()"),
        ("assert rt.from_main(rank) == 0", "dist.destroy_process_group()"),
        ("assert rt.main_call(lambda: 3) == 3", "__import__('atexit')._run_exitfuncs()"),
    ],
)
def test_the_owner_of_the_store_leaves_last(ranks: Ranks, last: str, end: str) -> None:
    ranks(
        OWN_STORE
        + f"""
from distlint.harness import rank as harness

rt.named_barrier("start")
harness._kept.clear()  # it holds groups until the end, which ends without ceremony
if rank:
    import distlint.runtime._store as _store
    _store.FIRST_PAUSE = 0.1 * rank  # looks late
{last}
{end}
""",
        3,
        init=False,
    )


def test_values_of_any_size_arrive(ranks: Ranks, source: str) -> None:
    """The server of a TCPStore ends a connection over which more than 8 MiB come at once."""
    ranks(
        OWN_STORE
        + """
for number in (1, 2):
    found = rt.from_main(bytes([number]) * 9_000_000)
    assert len(found) == 9_000_000 and found[-1] == number
with raises(ValueError if rank == 0 else rt.PeerFailedError) as caught:
    with rt.main_process_first():
        raise ValueError("x" * 5_000_000)
if rank:
    assert len(str(caught.value)) < 100_000 and "characters ...]" in str(caught.value)
rt.named_barrier("all have read")
rt.named_barrier("all have deleted their keys")
if rank == 0:
    keys = dist.distributed_c10d._get_default_store().num_keys()
    assert keys < 30, keys
    time.sleep(0.3)
""",
        init=False,
    )


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (
            "rt.named_barrier('end', timeout=0.4 + 0.4 * (rank == 1))",
            ["MissingRanksError", "MissingRanksError"],
        ),
        ("rt.main_call(lambda: 1 / 0)", ["ZeroDivisionError"] * 3),
        ("rt.main_call(lambda: open('x' * 5_000_000))", ["OSError"] * 3),
    ],
    ids=["barrier", "exception", "large message"],
)
def test_the_cause_arrives_where_the_owner_of_the_store_fails_first(
    ranks: Ranks, call: str, kinds: list[str]
) -> None:
    outcome = ranks(
        OWN_STORE
        + f"""
from distlint.harness import rank as harness
from distlint.runtime import _world

harness._kept.clear()
rt.named_barrier("start")
if rank == {len(kinds)}:
    time.sleep(1.2)
    os._exit(0)
try:
    {call}
except Exception as caught:
    print("kind =", type(caught).__name__)
_world.ends_by_failure()
__import__("atexit")._run_exitfuncs()
""",
        3,
        init=False,
    )
    assert [rank.values["kind"] for rank in outcome.ranks[: len(kinds)]] == [[k] for k in kinds]
