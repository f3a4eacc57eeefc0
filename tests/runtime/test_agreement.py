"""Ranks leave together, agree on values, and are told who disagrees."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Ranks


@pytest.mark.parametrize("size", [2, 4])
def test_one_flag_stops_all(ranks: Ranks, source: str, size: int) -> None:
    ranks(
        """
        steps = 0
        while not rt.any_rank(rank == world - 1 and steps == 3):
            steps += 1
        assert steps == 3
        assert rt.all_ranks(True) and not rt.all_ranks(rank == 0)
        assert rt.any_rank(torch.tensor(float(rank))) and not rt.any_rank(torch.zeros(1))
        """,
        size,
    )


def test_a_group_asks_its_members_only(ranks: Ranks) -> None:
    ranks(
        """
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        mine, other = pairs[rank // 2], pairs[1 - rank // 2]
        assert rt.any_rank(rank == 3, group=mine) == (rank >= 2)
        assert rt.from_main(rank, group=mine) == rank // 2 * 2
        assert rt.gather_variable(torch.tensor([rank]), group=mine).tolist() == [
            rank // 2 * 2, rank // 2 * 2 + 1
        ]
        with raises(rt.GroupError, match="not a member"):
            rt.any_rank(True, group=other)
        with raises(rt.GroupError, match="not a process group"):
            rt.any_rank(True, group="world")
        """,
        4,
    )


def test_a_group_that_was_destroyed_is_named(ranks: Ranks) -> None:
    ranks(
        """
        group = dist.new_group([0, 1])
        assert rt.any_rank(rank == 0, group=group)
        dist.destroy_process_group(group)
        with raises(rt.GroupError, match="destroyed"):
            rt.any_rank(True, group=group)
        """
    )


def test_without_a_process_group_the_world_is_one(ranks: Ranks, source: str) -> None:
    ranks(
        """
        assert rt.any_rank(True) and not rt.all_ranks(False)
        assert rt.from_main("here") == "here"
        assert rt.same_on_all_ranks([1, 2]) == [1, 2]
        assert rt.main_call(lambda: 3) == 3
        with rt.main_process_first():
            pass
        rt.named_barrier("alone")
        assert list(rt.equal_steps(range(3))) == [0, 1, 2]
        assert rt.gather_variable(torch.arange(3)).tolist() == [0, 1, 2]
        assert rt.gather_variable(torch.tensor(5)).tolist() == [5]
        assert rt.reduce_metrics({"a": (3, 4), "b": 1}) == {"a": 0.75, "b": 1.0}
        assert rt.effective_batch_size(4, 2) == 8
        """,
        1,
        init=False,
    )


def test_patience_counts_the_average(ranks: Ranks) -> None:
    ranks(
        """
        # Rank 0 alone would go on, rank 1 alone would have stopped long before.
        losses = {0: [4, 3, 2, 1, 0.5], 1: [4, 5, 9, 9, 9]}[rank]
        stopper = rt.EarlyStopper(patience=1, min_delta=0.1)
        answers = [stopper.step(loss) for loss in losses]
        assert answers == [False, False, True, True, True], answers
        assert stopper.best == 4
        again = rt.EarlyStopper(patience=1)
        again.load_state_dict(stopper.state_dict())
        assert again.step(torch.tensor(float("nan")))
        """
    )


def test_a_trigger_is_seen_once_by_all(ranks: Ranks) -> None:
    ranks(
        """
        trigger = rt.Trigger()
        if rank == 1:
            trigger.set()
        assert [trigger.check(), trigger.check()] == [True, False]
        """
    )


def test_a_bad_step_is_skipped_by_all(ranks: Ranks) -> None:
    ranks(
        """
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        model(torch.ones(1)).backward()
        assert rt.agreed_step(True, optimizer)
        assert model.weight.grad is not None
        assert not rt.agreed_step(rank == 0, optimizer)
        assert model.weight.grad is None and rt.skipped_steps() == 1
        """
    )


def test_values_of_each_rank_are_shown(ranks: Ranks, source: str) -> None:
    ranks(
        """
        config = {"lr": 0.1 if rank < 2 else 0.2, "layers": [1, 2], "vocab": torch.arange(100)}
        with raises(rt.DisagreementError) as caught:
            rt.same_on_all_ranks(config, "config")
        text = str(caught.value)
        assert f"[rank {rank}]" in text and "script.py:" in text
        assert "rank 1: config['lr'] = 0.1" in text and "rank 2: config['lr'] = 0.2" in text
        assert "layers" not in text and "vocab" not in text
        assert caught.value.values[3] == "config['lr'] = 0.2"
        weights = torch.ones(3)
        weights[2] += rank == 3
        with raises(rt.DisagreementError):
            rt.same_on_all_ranks(weights)
        same = {"b": {3, 1, 2}, "a": float("nan"), "t": torch.ones(2, dtype=torch.bfloat16)}
        assert rt.same_on_all_ranks(same) is same
        """,
        4,
    )


def test_rank_zero_decides(ranks: Ranks) -> None:
    ranks(
        """
        assert rt.from_main({"path": f"run-{rank}"}) == {"path": "run-0"}
        seeds = torch.tensor([rt.agreed_seed()])
        low, high = seeds.clone(), seeds.clone()
        dist.all_reduce(low, op=dist.ReduceOp.MIN), dist.all_reduce(high, op=dist.ReduceOp.MAX)
        assert torch.equal(low, high)
        assert rt.agreed_seed(rank + 5) == 5
        folder = rt.agreed_path("runs")
        assert folder.is_dir()
        rt.same_on_all_ranks(folder)
        """,
        4,
    )
    ranks("for i in range(200):\n    assert rt.from_main(i * (rank == 0)) == i\n")


def test_a_folder_that_cannot_be_made_fails_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        open("file", "w").close()
        with raises(OSError if rank == 0 else rt.PeerFailedError) as caught:
            rt.agreed_path("file/below")
        assert rank == 0 or (caught.value.peer == 0 and "NotADirectoryError" in str(caught.value))
        """
    )


def test_what_cannot_be_pickled_fails_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        for attempt in (
            lambda: rt.from_main(lambda: 0),
            lambda: rt.main_call(lambda: open(os.devnull)),
            lambda: rt.same_on_all_ranks((lambda: 0) if rank == 1 else 0),
        ):
            with raises(rt.NotPicklableError) as caught:
                attempt()
            assert caught.value.rank == rank and "script.py:" in caught.value.site
        assert rt.from_main(rank) == 0  # and all are still in step
        """
    )


def test_different_calls_are_told_apart(ranks: Ranks) -> None:
    ranks(
        """
        call = rt.named_barrier if rank == 0 else rt.same_on_all_ranks
        with raises(rt.OrderError, match="all ranks must make the same calls") as caught:
            call("x")
        other = "rank 1 called same_on" if rank == 0 else "rank 0 called named_barrier('x')"
        assert other in str(caught.value)
        """
    )


def test_a_collective_without_its_peer_names_ranks_and_line(ranks: Ranks) -> None:
    ranks(
        """
        import distlint.runtime._liveness as liveness
        liveness.ROLL_CALL = 0.4
        if rank == 2:
            time.sleep(2.2)
        else:
            with raises(rt.CollectiveError, match="any_rank: the collective failed") as caught:
                rt.any_rank(True)
            assert f"[rank {rank}] at " in str(caught.value)
            assert "rank 2 did not take part" in str(caught.value)
            assert caught.value.missing == (2,)
            assert isinstance(caught.value.__cause__, RuntimeError)
        """,
        3,
    )


DYING = {
    "any_rank": "rt.any_rank(False)",
    "agreed_step": "rt.agreed_step(True)",
    "Trigger.check": "rt.Trigger().check()",
    "EarlyStopper.step": "rt.EarlyStopper(1).step(0.5)",
    "equal_steps": "list(rt.equal_steps([1]))",
    "gather_variable": "rt.gather_variable(torch.ones(2))",
    "reduce_metrics": "rt.reduce_metrics({'loss': 1.0})",
}


@pytest.mark.parametrize("name", DYING)
def test_a_collective_names_the_rank_that_has_died(ranks: Ranks, name: str) -> None:
    ranks(
        f"""
        rt.any_rank(False)
        if rank == 1:
            os.kill(os.getpid(), 9)
        start = time.monotonic()
        with raises(rt.CollectiveError, match="the process of rank 1 exited") as caught:
            {DYING[name]}
        assert caught.value.missing == (1,) and f"[rank {{rank}}] at " in str(caught.value)
        assert time.monotonic() - start < 4
        wait_for({{0, 2}}, rank)  # a rank that has left would count as dead, too
        """,
        3,
        exits=(0, -9, 0),
    )


def test_a_collective_of_a_group_names_the_global_rank(ranks: Ranks, source: str) -> None:
    ranks(
        """
        group = dist.new_group([1, 3])
        if rank in (1, 3):
            rt.any_rank(False, group=group)
            if rank == 3:
                os.kill(os.getpid(), 9)
            with raises(rt.CollectiveError) as caught:
                rt.any_rank(False, group=group)
            assert caught.value.missing == (3,)
        """,
        4,
        exits=(0, 0, 0, -9),
    )


def test_the_result_of_another_collective_is_refused(ranks: Ranks) -> None:
    """Ranks that pair different calls get no answer made of the bits of another tensor."""
    ranks(
        """
        calls = {
            "any_rank": (lambda: rt.any_rank(False), torch.tensor([5.0])),
            "all_ranks": (lambda: rt.all_ranks(True), torch.tensor([-5.0])),
            "EarlyStopper.step": (
                lambda: rt.EarlyStopper(1).step(0.5), torch.ones(3, dtype=torch.float64)
            ),
            "equal_steps('stop')": (lambda: list(rt.equal_steps([1])), torch.ones(3)),
        }
        for name, (call, other) in calls.items():
            if rank == 0:
                if name == "EarlyStopper.step":
                    other.fill_(7)
                dist.all_reduce(other, dist.ReduceOp.MIN if name == "all_ranks" else
                                dist.ReduceOp.MAX if name == "any_rank" else dist.ReduceOp.SUM)
            else:
                with raises(rt.OrderError, match="different collective") as caught:
                    call()
                assert name in str(caught.value) and "script.py:" in caught.value.site
        """
    )


def test_a_new_world_does_not_read_the_old_ones_messages(ranks: Ranks) -> None:
    ranks(
        """
        store = dist.FileStore(os.environ["DISTLINT_TEST_STORE"] + "-shared", world)
        for turn in range(3):
            dist.destroy_process_group()
            prefix = dist.PrefixStore(f"gloo-{turn}", store)
            dist.init_process_group("gloo", store=prefix, rank=rank, world_size=world)
            # torchrun hands all worlds of a process the same keys; so does this
            member = __import__(rt.any_rank.__module__, fromlist=["x"]).member(None)
            import torch.distributed.distributed_c10d as c10d
            c10d._world.pg_map[member.pg] = ("gloo", dist.PrefixStore("same", store))
            if rank == 1:
                time.sleep(0.2)  # rank 0 finds the keys of the turn before
            assert rt.from_main((rank, turn)) == (0, turn)
            rt.same_on_all_ranks(turn)
        """
    )


def test_a_flag_without_truth_value_fails_everywhere(ranks: Ranks, source: str) -> None:
    ranks(
        """
        odd = torch.ones(2)  # more than one truth value
        calls = {
            "any_rank": lambda: rt.any_rank(odd if rank == 1 else True),
            "all_ranks": lambda: rt.all_ranks(odd if rank == 1 else False),
            "agreed_step": lambda: rt.agreed_step(odd if rank == 1 else True),
            "EarlyStopper.step": lambda: rt.EarlyStopper(1).step("?" if rank == 1 else 0.5),
        }
        for name, call in calls.items():
            with raises((RuntimeError, ValueError) if rank == 1 else rt.PeerFailedError) as caught:
                call()
            if rank != 1:
                assert caught.value.peer == 1 and f"{name}: rank 1 failed" in str(caught.value)
                assert "script.py:" in caught.value.site
        assert rt.any_rank(rank == 2)  # and all are in step
        """,
        3,
    )


def test_flags_work_inside_and_outside_of_inference_mode(ranks: Ranks) -> None:
    ranks(
        """
        with torch.inference_mode():
            assert rt.any_rank(rank == 0)
        assert not rt.all_ranks(rank == 0)
        with torch.inference_mode():
            assert rt.any_rank(rank == 0)
        """
    )


def test_a_group_that_goes_before_the_backward_is_not_taken_for_the_world(ranks: Ranks) -> None:
    ranks(
        """
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        group = pairs[rank // 2]
        mine = torch.ones(2, requires_grad=True)
        joined = rt.gather_with_grad(mine, group=group)
        rt.named_barrier("before")
        dist.destroy_process_group(group)
        del pairs, group
        gc.collect()
        with raises(rt.GroupError, "destroyed") as caught:
            joined.sum().backward()
        assert "script.py:" in caught.value.site  # not a line of torch
        rt.named_barrier("end")
        """,
        4,
    )


def test_parts_of_a_configuration_are_named(ranks: Ranks, source: str) -> None:
    ranks(
        """
        import argparse, dataclasses

        @dataclasses.dataclass
        class Model:
            layers: list

        options = argparse.Namespace(seed=7, model=Model([1, 2 + rank]))
        with raises(rt.DisagreementError) as caught:
            rt.same_on_all_ranks(options, "options")
        assert caught.value.values == {
            0: "options.model.layers[1] = 2", 1: "options.model.layers[1] = 3"
        }
        options.model.layers[1] = 0
        assert rt.same_on_all_ranks(options, "options") is options
        """
    )


def test_tensors_lie_where_the_backend_wants_them(ranks: Ranks) -> None:
    """With interfaces of CUDA and XPU that only count, since there is no device here."""
    ranks(
        """
        from distlint.runtime._world import Member
        chosen = [3]
        torch.cuda.current_device = torch.xpu.current_device = lambda: chosen[0]
        pg = dist.group.WORLD
        for backends, wanted in (
            ("cpu:gloo,cuda:gloo", "cpu"),
            ("cpu:gloo,cuda:nccl", "cpu"),  # no kernel for a flag
            ("cuda:nccl", "cuda:3"),
            ("cpu:nccl,cuda:nccl", "cuda:3"),
            ("xpu:xccl", "xpu:3"),
        ):
            dist.get_backend_config = lambda pg: backends
            assert str(Member(pg).device) == wanted, backends
        dist.get_backend_config = lambda pg: "cuda:nccl"
        me = Member(pg)
        chosen[0] = 5  # set_device after the first call
        assert str(me.device) == "cuda:5"
        pg.bound_device_id = torch.device("cuda", 1)
        assert str(me.device) == "cuda:1"
        """,
        1,
    )
