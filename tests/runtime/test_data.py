"""Ranks with different batches, sizes, keys and shards."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Ranks


def test_training_on_unequal_shards_ends_together(ranks: Ranks, source: str) -> None:
    ranks(
        """
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        batches = [torch.ones(4, 2)] * (3 + rank)
        steps = 0
        for batch in rt.equal_steps(batches):
            model(batch).sum().backward()
            steps += 1
        assert steps == 3
        seen = list(rt.equal_steps(range(3 + rank), mode="cycle"))
        assert len(seen) == 2 + world and seen[:3] == [0, 1, 2]
        assert rank != 0 or seen[3] == 0
        assert list(rt.equal_steps([] if rank == 0 else [1])) == []
        """,
        4,
    )


def test_a_loader_that_fails_ends_the_loop_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        def batches():
            yield 1
            if rank == 1:
                raise OSError("shard 7 is corrupt")
            yield 2

        seen = []
        with raises(OSError if rank == 1 else rt.PeerFailedError, match="shard 7") as caught:
            for batch in rt.equal_steps(batches()):
                seen.append(batch)
        assert seen == [1]
        assert rank == 1 or caught.value.peer == 1
        with raises(rt.DistributedError, match="1 of 4 ranks cannot restart"):
            list(rt.equal_steps([] if rank == 2 else [1], mode="cycle"))
        """,
        4,
    )


def test_streams_are_shared_out_among_ranks_and_workers(ranks: Ranks) -> None:
    ranks(
        """
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return rt.shard_iter(range(40))

        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(Stream(), batch_size=None, num_workers=workers)
            report = rt.check_shards(loader)
            assert report.per_rank == (10,) * 4 and report.distinct == 40, report
            assert report.ok and report.repeated == 0
        dist.destroy_process_group()
        assert list(rt.shard_iter(range(3))) == [0, 1, 2]
        """,
        4,
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_gathering_of_different_sizes(ranks: Ranks, dtype: str) -> None:
    ranks(
        f"""
        dtype = torch.{dtype}
        rows = torch.arange(rank * 3).reshape(rank, 3).to(dtype)
        expected = torch.cat([torch.arange(r * 3).reshape(r, 3).to(dtype) for r in range(world)])
        joined = rt.gather_variable(rows)
        assert joined.dtype == dtype and torch.equal(joined, expected)
        assert torch.equal(rt.gather_variable(rows.T, dim=1), expected.T)
        assert torch.equal(rt.gather_variable(rows.T, dim=-1), expected.T)
        scalars = rt.gather_variable(torch.tensor(rank).to(dtype))
        assert torch.equal(scalars, torch.arange(world).to(dtype))
        assert rt.gather_variable(torch.zeros(0, 5, dtype=dtype)).shape == (0, 5)
        padded = rt.pad_across_ranks(rows, value=1)
        assert padded.shape == (world - 1, 3) and torch.equal(padded[:rank], rows)
        assert (padded[rank:] == 1).all()
        """,
        4,
    )


def test_tensors_that_cannot_be_joined_fail_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        for wrong in (
            torch.ones(2, 3 + rank),
            torch.ones(2, 3, dtype=torch.float16 if rank else torch.float32),
            torch.ones(2, 3) if rank else torch.ones(2),
        ):
            for gather in (rt.gather_variable, rt.gather_with_grad, rt.pad_across_ranks):
                with raises(rt.DisagreementError, match=r"rank 1: \\(2, ") as caught:
                    gather(wrong)
                assert caught.value.rank == rank and sorted(caught.value.values) == [0, 1]
        with raises(rt.DisagreementError, match="along dimension 5"):
            rt.gather_variable(torch.ones(2), dim=5)
        with raises(rt.DeviceError, match="on rank 1 the tensor is on the meta device"):
            rt.gather_variable(torch.ones(2, device="meta" if rank else "cpu"))
        assert rt.gather_variable(torch.ones(1)).tolist() == [1, 1]
        """
    )


def test_gradients_flow_to_every_ranks_own_part(ranks: Ranks) -> None:
    ranks(
        """
        torch.manual_seed(0)
        whole = torch.randn(6, 4, requires_grad=True)  # 1, 2 and 3 rows
        start = [0, 1, 3][rank]
        mine = whole.detach()[start:start + rank + 1].clone().requires_grad_()

        def loss(features):
            return torch.logsumexp(features @ features.T, 1).sum() * (features[0] ** 2).sum()

        loss(whole).backward()
        (loss(rt.gather_with_grad(mine)) / world).backward()
        assert torch.allclose(mine.grad, whole.grad[start:start + rank + 1], rtol=1e-4)
        turned = mine.detach().T.clone().requires_grad_()
        (rt.gather_with_grad(turned, dim=1).T[0].sum() / world).backward()
        assert abs(turned.grad.sum().item() - (4.0 if rank == 0 else 0.0)) < 1e-5
        """,
        3,
    )


def test_metrics_are_weighed_by_count_and_keys_may_differ(ranks: Ranks) -> None:
    ranks(
        """
        right, count = [(3, 3), (0, 1)][rank]
        loss = torch.tensor(float(rank), requires_grad=True)
        metrics = {"accuracy": (right, count), "loss": loss}
        if rank == 1:
            metrics = dict(reversed(metrics.items())) | {"only/1": 5}
        assert rt.reduce_metrics(metrics) == {"accuracy": 0.75, "loss": 0.5, "only/1": 5.0}
        assert list(rt.reduce_metrics({"b": 1, "a": 2})) == ["a", "b"]
        assert rt.reduce_metrics({}) == {}
        empty = rt.reduce_metrics({"none": (0, 0)})["none"]
        assert empty != empty
        """
    )


def test_a_metric_that_is_no_number_fails_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        bad = {"loss": torch.ones(3) if rank == 1 else 1.0}
        with raises(TypeError if rank == 1 else rt.PeerFailedError, match="metric 'loss'"):
            rt.reduce_metrics(bad)
        assert rt.reduce_metrics({"loss": 2.0}) == {"loss": 2.0}
        """
    )


def test_accumulation_equals_one_big_batch(ranks: Ranks, source: str) -> None:
    ranks(
        """
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 1)
        start = {k: v.clone() for k, v in net.state_dict().items()}
        data = torch.randn(world, 10, 4, 3)  # 10 micro-batches of 4 on each rank
        model = torch.nn.parallel.DistributedDataParallel(net)
        reductions = []
        def hook(state, bucket):
            reductions.append(1)
            return torch.distributed.algorithms.ddp_comm_hooks.default_hooks.allreduce_hook(
                dist.group.WORLD, bucket
            )
        model.register_comm_hook(None, hook)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch, micro in rt.accumulate(data[rank], 4, model):
            ((model(batch) ** 2).mean() * micro.scale).backward()
            if micro.last:
                optimizer.step()
                optimizer.zero_grad()
        assert len(reductions) == 3  # one for each window of 4, 4 and 2

        single = torch.nn.Linear(3, 1)
        single.load_state_dict(start)
        optimizer = torch.optim.SGD(single.parameters(), lr=0.1)
        for first, end in ((0, 4), (4, 8), (8, 10)):
            (single(data[:, first:end].reshape(-1, 3)) ** 2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        assert torch.allclose(net.weight, single.weight, atol=1e-6)
        """
    )


def test_leaving_a_window_early_switches_reductions_on_again(ranks: Ranks) -> None:
    ranks(
        """
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
        for batch, micro in rt.accumulate([torch.ones(1)] * 4, 4, model):
            break
        assert model.require_backward_grad_sync
        """
    )


def test_seeds(ranks: Ranks) -> None:
    ranks(
        """
        import random
        import numpy
        def draw():
            return random.random(), numpy.random.rand(), torch.rand(1).item()
        assert rt.seed_all(3) == 3
        first = draw()
        rt.same_on_all_ranks(first, "numbers")
        assert rt.seed_all(3, per_rank=True) == 3 + rank
        with raises(rt.DisagreementError):
            rt.same_on_all_ranks(draw())
        rt.same_on_all_ranks(rt.seed_all())
        rt.same_on_all_ranks(draw())
        """
    )


def test_shards_that_overlap_or_leave_out(ranks: Ranks) -> None:
    ranks(
        """
        from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset
        data = TensorDataset(torch.randn(41, 2))

        good = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
        report = rt.check_shards(good)
        assert report.ok and report.distinct == 41 and report.missing == 0, report

        report = rt.check_shards(DataLoader(data, batch_size=4, shuffle=True))
        assert not report.ok and report.repeated == 41
        assert "NOT sharded" in str(report)

        other_seed = DistributedSampler(data, seed=rank)
        report = rt.check_shards(DataLoader(data, batch_size=4, sampler=other_seed))
        assert not report.ok and report.missing > 0

        twice = Subset(data, range(rank, 41, world))
        report = rt.check_shards(DataLoader(twice, sampler=DistributedSampler(twice)))
        assert not report.ok and report.per_rank == (11, 10) and report.missing == 20, report
        assert rt.check_shards(DataLoader(twice)).ok

        own = TensorDataset(torch.arange(10 + rank))  # what its files hold
        assert rt.check_shards(DataLoader(own)).distinct == 21
        report = rt.check_shards(DataLoader(own, batch_size=4), key=lambda row: row[0].item())
        assert report.repeated == 10 and not report.ok

        rows = [{"id": i, "text": f"{i}"} for i in range(6)]
        assert not rt.check_shards(rows, key=lambda row: row["id"]).ok
        assert rt.check_shards(rt.shard_iter(rows)).ok
        """
    )


def test_a_shard_that_cannot_be_read_fails_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        def stream():
            yield 1
            if rank == 1:
                raise OSError("no such bucket")

        with raises(OSError if rank == 1 else rt.PeerFailedError, match="no such bucket"):
            rt.check_shards(stream())
        """
    )


def test_what_is_no_dense_tensor_fails_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        for odd in (None, torch.ones(2).to_sparse(), torch.ones(2, dtype=torch.complex32)):
            for gather in (rt.gather_variable, rt.gather_with_grad):
                with raises(rt.DisagreementError) as caught:
                    gather(odd if rank == 1 else torch.ones(2))
                assert caught.value.values[0] == "(2,) torch.float32"
        rt.named_barrier("end", timeout=3)
        """
    )


def test_going_round_needs_a_loader_that_begins_anew(ranks: Ranks) -> None:
    ranks(
        """
        with raises(ValueError, "mode must be"):
            rt.equal_steps([], "round")
        seen = []
        with raises(rt.DistributedError, "1 of 2 ranks .* only once"):
            for batch in rt.equal_steps(iter([1]) if rank else [1, 2, 3], "cycle"):
                seen.append(batch)
        assert seen == [1]
        """
    )


def test_names_of_metrics_that_are_no_strings_fail_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        with raises(TypeError if rank == 1 else rt.PeerFailedError, "metric names must be strings"):
            rt.reduce_metrics({1: 0.5} if rank == 1 else {"loss": 0.5})
        assert rt.reduce_metrics({"loss": rank}) == {"loss": 0.5}
        """
    )


def test_the_default_device_of_a_program_changes_nothing(ranks: Ranks) -> None:
    ranks(
        """
        net = torch.nn.Linear(1, 1)
        net(torch.ones(1)).sum().backward()
        net.weight.data.fill_(rank)
        one = torch.ones(rank + 1)
        torch.set_default_device("meta")  # where nothing can be read
        assert rt.any_rank(rank == 1)
        assert rt.EarlyStopper(1).step(1.0) is False
        assert rt.reduce_metrics({"loss": rank, f"only {rank}": 1})["loss"] == 0.5
        assert len(list(rt.equal_steps([1, 2, 3]))) == 3
        assert rt.gather_variable(one).tolist() == [1, 1, 1]
        assert rt.pad_across_ranks(one).shape == (2,)
        assert rt.check_shards(rt.shard_iter(range(10))).ok
        assert [(each.kind, each.name) for each in rt.check_replicas(net)][:1] == [
            ("parameter", "weight")
        ]
        assert rt.check_finite_grads(net) == ()
        """
    )
