"""Who says what, and what is known about a model beforehand."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Ranks


def test_messages_carry_the_rank_and_come_from_the_first(ranks: Ranks, source: str) -> None:
    outcome = ranks(
        """
        import logging
        logging.basicConfig(level=logging.INFO, format="%(funcName)s %(message)s")
        log = rt.get_logger("train")
        def train():
            log.info("epoch %d", 3)
            log.warning("mine", main_only=False)
            log.log(logging.ERROR, "also")

        train()
        log.debug("never")
        """,
        4,
    )
    assert outcome.ranks[0].err == "".join(
        f"train [rank 0] {m}\n" for m in ("epoch 3", "mine", "also")
    )
    assert outcome.ranks[2].err == "train [rank 2] mine\n"


def test_messages_in_order_make_nobody_wait(ranks: Ranks) -> None:
    outcome = ranks(
        """
        import logging
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        log = rt.get_logger("train")
        rt.named_barrier("start")
        time.sleep(0.1 * (3 - rank))
        log.in_order(logging.INFO, "loss %.1f", rank / 2)
        start = time.monotonic()
        if rank != 1:
            log.in_order(logging.INFO, "again", timeout=1)
        assert rank == 0 or time.monotonic() - start < 0.5
        """,
        4,
    )
    lines = outcome.ranks[0].err.splitlines()
    assert lines[:4] == [f"[rank {rank}] loss {rank / 2}" for rank in range(4)]
    assert lines[4:] == [
        "[rank 0] again",
        "[rank 1] (no message within the timeout)",
        "[rank 2] again",
        "[rank 3] again",
    ]
    assert [rank.err for rank in outcome.ranks[1:]] == [""] * 3


def test_messages_in_order_stay_in_step_and_leave_nothing_behind(ranks: Ranks) -> None:
    outcome = ranks(
        """
        import logging
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        log = rt.get_logger()
        for step in range(100):
            values = (step,) if step or rank == 0 else (step, "one too many")
            log.in_order(logging.INFO, "step %d", *values, timeout=5)
        rt.named_barrier("end", timeout=3)
        keys = dist.distributed_c10d._get_default_store().num_keys()
        assert keys < 30, keys
        """
    )
    lines = outcome.ranks[0].err.splitlines()
    assert lines[1].startswith("[rank 1] 'step %d' % (0, 'one too many'): TypeError")
    assert lines[-2:] == ["[rank 0] step 99", "[rank 1] step 99"]


def test_before_there_is_a_process_group_the_launchers_rank_counts(ranks: Ranks) -> None:
    outcome = ranks(
        """
        rt.get_logger().warning("starting")
        rt.get_logger().warning("here, too", main_only=False)
        assert rt.memory_report().rank == int(os.environ["RANK"])
        """,
        init=False,
    )
    assert outcome.ranks[0].err.splitlines() == ["[rank 0] starting", "[rank 0] here, too"]
    assert outcome.ranks[1].err.splitlines() == ["[rank 1] here, too"]


def test_the_effective_batch_size(ranks: Ranks) -> None:
    ranks(
        """
        assert rt.effective_batch_size(8, 4) == 8 * 4 * 4
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        assert rt.effective_batch_size(8, group=pairs[rank // 2]) == 16
        with raises(ValueError):
            rt.effective_batch_size(0)
        rt.named_barrier("end")  # who leaves early would end the others' new_group
        """,
        4,
    )


def test_memory_is_reported_without_an_accelerator() -> None:
    pytest.importorskip("torch")
    from distlint.runtime import memory_report

    report = memory_report()
    assert report.resident is None or report.resident > 1 << 20
    assert report.allocated == report.total == 0


def test_models_are_looked_at() -> None:
    torch = pytest.importorskip("torch")
    from distlint.runtime import validate_model

    def warnings(model: torch.nn.Module) -> str:
        result = validate_model(model)
        assert result["compatible"] == ("is an error in DDP" not in str(result["warnings"]))
        return " | ".join(result["warnings"])

    assert "BatchNorm uses the samples of one rank only: 1" in warnings(
        torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    )
    tied = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    tied[1].weight = tied[0].weight
    assert "shared under several names: 1.weight" in warnings(tied)
    assert "float16 parameters: weight, bias" in warnings(torch.nn.Linear(2, 2).half())
    assert "is an error in DDP" in warnings(torch.nn.Linear(2, 2).requires_grad_(False))
    assert warnings(torch.nn.DataParallel(torch.nn.Linear(2, 2))) == ""
    empty = validate_model(torch.nn.LazyLinear(3))
    assert not empty["compatible"]
    assert "without data" in str(empty["warnings"])
