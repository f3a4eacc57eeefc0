"""Random calls on random groups with random failures: ranks stay in step, the store stays small."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Ranks

CALLS = """
import random
import distlint.runtime._world as world_of_ranks
world_of_ranks.SWEEP = 5  # old keys go often
alike, own = random.Random({seed}), random.Random(rank)
pairs, three = [dist.new_group([0, 2]), dist.new_group([1, 3])], dist.new_group([1, 2, 3])
choices = [(None, [0, 1, 2, 3]), (pairs[rank % 2], [rank % 2, rank % 2 + 2]), (three, [1, 2, 3])]


def call(name, group, members, bad, value):
    first = members[0]

    def body():
        if bad == rank:
            raise KeyError(value)
        return rank

    def batches():
        for number in range(3 + rank):
            if number == 1:
                body()
            yield number

    if name == "from_main":
        assert rt.from_main(rank, group=group) == first
    elif name == "main_call":
        assert rt.main_call(body, group=group) == first
    elif name == "main_process_first":
        with rt.main_process_first(group=group):
            body()
    elif name == "named_barrier":
        rt.named_barrier(str(value), group=group, timeout=10)
    elif name == "same_on_all_ranks":
        rt.same_on_all_ranks([value, bad == rank], group=group)
        assert bad not in members
    elif name == "reduce_metrics":
        keys = {{f"only {{rank}}" if bad is not None else "all": 1, "value": value}}
        assert abs(rt.reduce_metrics(keys, group=group)["value"] - value) < 1e-9
    elif name == "gather_variable":
        joined = rt.gather_variable(torch.full((rank,), rank), group=group)
        assert joined.tolist() == [each for each in members for _ in range(each)]
    elif name == "any_rank":
        assert rt.any_rank(rank == members[-1], group=group)
    elif name == "equal_steps":
        assert len(list(rt.equal_steps(batches(), group=group))) == 3 + first
        assert bad not in members


NAMES = (
    "from_main main_call main_process_first named_barrier same_on_all_ranks reduce_metrics "
    "gather_variable any_rank equal_steps"
).split()
for _ in range(200):
    name, (group, members) = alike.choice(NAMES), alike.choice(choices)
    bad, value = alike.choice([None, None, 0, 1, 2, 3]), alike.random()
    if rank in members:
        if own.random() < 0.2:
            time.sleep(own.random() * 0.01)
        try:
            call(name, group, members, bad, value)
        except (KeyError, rt.PeerFailedError, rt.DisagreementError):
            assert bad in members, name
rt.named_barrier("end", timeout=10)
keys = dist.distributed_c10d._get_default_store().num_keys()
assert keys < 66, keys
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_ranks_stay_in_step(ranks: Ranks, seed: int) -> None:
    ranks(CALLS.format(seed=seed), 4, limit=30)
