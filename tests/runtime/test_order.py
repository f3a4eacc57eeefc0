"""One rank goes first or alone; the others hear of its results and of its failure."""

from __future__ import annotations

from tests.runtime.conftest import Ranks


def test_the_first_rank_is_first(ranks: Ranks, source: str) -> None:
    ranks(
        """
        for turn in range(3):
            with rt.main_process_first():
                if rank == 0:
                    time.sleep(0.1)
                    open(f"data-{turn}", "w").close()
                else:
                    assert os.path.exists(f"data-{turn}")
        """,
        4,
    )


def test_one_first_rank_on_each_machine(ranks: Ranks) -> None:
    ranks(
        """
        node = os.environ["GROUP_RANK"] = str(rank // 2)
        with rt.main_process_first("node"):
            if rank % 2 == 0:
                time.sleep(0.1)
                open(f"data-{node}", "w").close()
            else:
                assert os.path.exists(f"data-{node}")
        """,
        4,
    )


def test_a_long_download_outlasts_the_timeout_of_the_group(ranks: Ranks) -> None:
    ranks(
        """
        with rt.main_process_first():
            if rank == 0:
                time.sleep(1.8)  # collectives give up after 1.5 s here
        """
    )


def test_the_failure_of_the_first_frees_the_others(ranks: Ranks, source: str) -> None:
    ranks(
        """
        start = time.monotonic()
        with raises(ZeroDivisionError if rank == 0 else rt.PeerFailedError) as caught:
            with rt.main_process_first():
                1 / 0
        if rank:
            assert caught.value.peer == 0
            assert "ZeroDivisionError: division by zero" in str(caught.value)
            assert "script.py" in caught.value.trace
        assert time.monotonic() - start < 5
        rt.named_barrier("all here")
        """,
        4,
    )


def test_a_first_rank_that_dies_is_missed(ranks: Ranks) -> None:
    ranks(
        """
        rt.named_barrier("all here")
        if rank == 0:
            os.kill(os.getpid(), 9)
        with raises(rt.MissingRanksError) as caught:
            with rt.main_process_first(timeout=1):
                pass
        assert caught.value.missing == (0,)
        """,
        exits=(-9, 0),
    )


def test_a_result_or_an_exception_for_all(ranks: Ranks) -> None:
    ranks(
        """
        class Odd(Exception):
            def __init__(self, one, two):
                super().__init__(f"{one} {two}")

        def fail(error):
            raise error

        assert rt.main_call(lambda: (rank, torch.ones(2)))[0] == 0
        with raises(FileNotFoundError, match="weights"):
            rt.main_call(lambda: open("weights"))
        with raises(Odd if rank == 0 else rt.PeerFailedError, match="1 2") as caught:
            rt.main_call(lambda: fail(Odd(1, 2)))
        assert rt.main_call(lambda: "still in step") == "still in step"
        """,
        4,
    )


def test_decorated_functions_run_on_the_first_rank(ranks: Ranks) -> None:
    ranks(
        """
        @rt.on_main
        def write(value):
            return value

        @rt.on_main(scope="node")
        def note():
            return rank

        assert write(3) == (3 if rank == 0 else None)
        os.environ["LOCAL_RANK"] = str(rank % 2)
        assert note() == (rank if rank % 2 == 0 else None)
        """,
        4,
    )


def test_evaluation_on_one_rank(ranks: Ranks) -> None:
    """With the wrapper itself this hangs as soon as the model has a buffer."""
    ranks(
        """
        norm = torch.nn.BatchNorm1d(2)
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), norm, torch.nn.Dropout())
        net[2].eval()
        model = torch.nn.parallel.DistributedDataParallel(net)

        def evaluate(bare):
            assert rank == 0 and bare is net
            assert not bare[1].training and not torch.is_grad_enabled()
            return {"mean": bare(torch.ones(4, 2)).mean().item()}

        metrics = rt.main_eval(model, evaluate)
        assert metrics == rt.from_main(metrics) == rt.main_eval(model)(evaluate)
        assert model.training and net[1].training and not net[2].training
        with raises(ValueError, match="bad data"):
            rt.main_eval(model, lambda bare: (_ for _ in ()).throw(ValueError("bad data")))
        assert net[1].training
        model(torch.ones(4, 2)).sum().backward()
        """
    )


def test_a_sharded_model_is_not_run_on_one_rank(ranks: Ranks) -> None:
    ranks(
        """
        from torch.distributed.fsdp import fully_shard
        net = torch.nn.Linear(4, 4)
        fully_shard(net)
        with raises(rt.DistributedError, match="sharded"):
            rt.main_eval(net, lambda bare: 0)
        """
    )


def test_a_barrier_names_who_is_missing(ranks: Ranks, source: str) -> None:
    ranks(
        """
        rt.named_barrier("start")
        if rank in (1, 3):
            raise SystemExit
        with raises(rt.MissingRanksError) as caught:
            rt.named_barrier("epoch end", timeout=1)
        assert caught.value.missing == (1, 3)
        assert "named_barrier('epoch end'): ranks 1, 3 did not arrive" in str(caught.value)
        assert f"[rank {rank}] at " in str(caught.value)
        """,
        4,
    )


def test_the_very_first_barrier_names_them_too(ranks: Ranks) -> None:
    ranks(
        """
        if rank != 2:
            with raises(rt.MissingRanksError) as caught:
                rt.named_barrier("start", timeout=1)
            assert caught.value.missing == (2,)
        """,
        4,
    )


def test_barriers_of_different_names_do_not_pass_each_other(ranks: Ranks) -> None:
    ranks(
        """
        with raises(rt.OrderError, match="'before save'.*'after save'|'after.*'before"):
            rt.named_barrier("before save" if rank == 0 else "after save")
        """
    )


def test_an_exception_that_is_swallowed_after_the_wait_leaves_ranks_in_step(ranks: Ranks) -> None:
    """Old keys are deleted at a meeting, and all ranks have to count alike when it is due."""
    ranks(
        """
        for step in range(150):
            try:
                with rt.main_process_first():
                    if rank == 1 and step % 50 == 3:
                        raise KeyError
            except KeyError:
                pass
            assert rt.from_main(step) == step
        rt.named_barrier("end", timeout=3)
        keys = dist.distributed_c10d._get_default_store().num_keys()
        assert keys < 100, keys
        """
    )
