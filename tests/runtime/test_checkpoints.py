"""Checkpoints survive crashes, fit whatever wraps the model, and fail loudly when they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.checkpoint_kills import Campaign
from distlint.harness.cluster import missing
from tests.runtime.conftest import Ranks
from tests.support import Lazy

torch = Lazy("torch")
rt = Lazy("distlint.runtime")
pytestmark = pytest.mark.skipif(missing() is not None, reason="needs torch")


def net() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


@pytest.mark.campaign
def test_kills_at_any_moment_leave_a_checkpoint(tmp_path: Path) -> None:
    """A few rounds of ``python -m benchmarks.checkpoint_kills``."""
    campaign = Campaign(tmp_path, seed=1)
    outcomes = [campaign.round() for _ in range(3)]
    campaign.close()
    assert all(outcome.loaded for outcome in outcomes), outcomes


def test_saved_by_one_wrapper_loaded_by_another(ranks: Ranks, source: str) -> None:
    ranks(
        """
        folder = rt.from_main(os.getcwd())
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        model = torch.nn.parallel.DistributedDataParallel(net)
        optimizer = torch.optim.Adam(net.parameters())
        model(torch.randn(4, 2)).sum().backward()
        optimizer.step()
        path = rt.save_checkpoint(f"{folder}/a/last.pt", model, optimizer=optimizer, step=3)
        assert path.exists() and str(path) == f"{folder}/a/last.pt"
        assert [f.name for f in path.parent.iterdir()] == ["last.pt"]

        other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        fresh = torch.optim.Adam(other.parameters())
        report = rt.load_checkpoint(path, other, optimizer=fresh)
        assert report.complete and report.matched == 7 and report.state == {"step": 3}
        assert torch.equal(other[0].weight, net[0].weight)
        assert fresh.state_dict()["state"][0]["step"] == 1
        """,
        4,
    )


def test_a_sharded_model_is_gathered(ranks: Ranks) -> None:
    ranks(
        """
        from torch.distributed.fsdp import fully_shard
        folder = rt.from_main(os.getcwd())
        torch.manual_seed(0)
        whole = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 2))
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 2))
        for part in (*net, net):
            fully_shard(part)
        optimizer = torch.optim.Adam(net.parameters())
        net(torch.ones(3, 4)).sum().backward()
        optimizer.step()
        single = torch.optim.Adam(whole.parameters())
        whole(torch.ones(3, 4)).sum().backward()
        single.step()
        path = rt.save_checkpoint(f"{folder}/fsdp.pt", net, optimizer=optimizer)

        plain = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 2))
        assert rt.load_checkpoint(path, plain).complete
        for name, value in whole.state_dict().items():
            assert torch.allclose(plain.state_dict()[name], value, atol=1e-6), name
        for parameter in net.parameters():
            parameter.data.zero_()
        assert rt.load_checkpoint(path, net, optimizer=optimizer).complete
        assert torch.allclose(net[0].weight.full_tensor(), whole[0].weight, atol=1e-6)
        """
    )


def test_all_wrappers_train_save_and_load_alike(ranks: Ranks) -> None:
    ranks(
        """
        import copy
        from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

        def sharded(net):
            for part in (*net, net):
                fully_shard(part)
            return net

        wraps = {
            "ddp": torch.nn.parallel.DistributedDataParallel,
            "fsdp": lambda net: FullyShardedDataParallel(net, device_id=torch.device("cpu")),
            "fully_shard": sharded,
        }
        torch.manual_seed(0)
        plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 1))
        batches = torch.randn(10, 2, 4, generator=torch.Generator().manual_seed(1))
        trained = {}
        for kind, wrap in wraps.items():
            model = wrap(copy.deepcopy(plain))
            optimizer = torch.optim.Adam(model.parameters())
            for batch, micro in rt.accumulate(rt.equal_steps(batches[rank::2]), 3, model):
                (model(batch).pow(2).mean() * micro.scale).backward()
                if micro.last:
                    optimizer.step()
                    optimizer.zero_grad()
            path = f"{rt.from_main(os.getcwd())}/{kind}-1.pt"
            rt.save_checkpoint(path, model, optimizer=optimizer, step=1)
            trained[kind] = copy.deepcopy(plain)
            assert rt.load_checkpoint(path, trained[kind]).complete
            assert rt.load_checkpoint(path, model, optimizer=optimizer).state == {"step": 1}
        assert not torch.equal(trained["ddp"][0].weight, plain[0].weight)
        for kind, net in trained.items():
            for one, two in zip(net.parameters(), trained["ddp"].parameters()):
                assert torch.allclose(one, two, atol=1e-6), kind
        """,
        limit=40,
    )


def test_a_group_without_the_first_rank_saves_its_sharded_model(ranks: Ranks) -> None:
    ranks(
        """
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.fsdp import fully_shard
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        group = pairs[rank // 2]
        torch.manual_seed(rank // 2)
        net = torch.nn.Linear(4, 4)
        whole = net.weight.detach().clone()
        fully_shard(net, mesh=DeviceMesh.from_group(group, "cpu"))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        net(torch.ones(1, 4)).sum().backward()
        path = f"{rt.from_main(os.getcwd())}/pair-{rank // 2}.pt"
        rt.save_checkpoint(path, net, optimizer=optimizer, group=group)
        optimizer.param_groups[0]["lr"] = 0.2
        bare = torch.nn.Linear(4, 4)
        assert rt.load_checkpoint(path, bare, group=group).complete
        assert torch.equal(bare.weight, whole)
        assert rt.load_checkpoint(path, net, optimizer=optimizer, group=group).complete
        assert optimizer.param_groups[0]["lr"] == 0.1
        rt.named_barrier("end")
        """,
        4,
    )


def test_the_first_rank_chooses_the_newest_of_a_folder(ranks: Ranks) -> None:
    ranks(
        """
        folder = f"{rt.from_main(os.getcwd())}/{rank}"  # one sees a file more than the other
        net = torch.nn.Linear(2, 2)
        os.mkdir(folder)
        for step in range(2 + rank):
            torch.save({"model": net.state_dict(), "step": step}, f"{folder}/step-{step}.pt")
        assert rt.load_checkpoint(folder, net).state["step"] == 1
        """
    )


def test_an_unwritable_path_fails_everywhere_and_harms_nothing(ranks: Ranks) -> None:
    ranks(
        """
        folder = rt.from_main(os.getcwd())
        net = torch.nn.Linear(2, 2)
        path = rt.save_checkpoint(f"{folder}/step-1.pt", net, step=1)
        for bad, state in (
            (f"{path}/below/step-2.pt", {"step": 2}),  # a file where a folder should be
            (path, {"step": lambda: 0}),  # fails in the middle of the file
        ):
            with raises(rt.CheckpointError) as caught:
                rt.save_checkpoint(bad, net, **state)
            assert f"[rank {rank}] at " in str(caught.value)
            assert rank == 0 or "rank 0 failed" in str(caught.value)
        assert os.listdir(folder) == ["step-1.pt"] or rank
        assert rt.load_checkpoint(path, net).state["step"] == 1
        """
    )


def test_a_file_that_one_rank_cannot_read_is_loaded_by_none(ranks: Ranks) -> None:
    ranks(
        """
        folder = rt.from_main(os.getcwd())
        path = rt.save_checkpoint(f"{folder}/a.pt", torch.nn.Linear(2, 2))
        local = f"{rank}.pt"
        data = path.read_bytes()
        open(local, "wb").write(data[: len(data) // 2] if rank == 1 else data)
        net = torch.nn.Linear(2, 2)
        before = net.weight.clone()
        with raises(rt.CheckpointError, match="load_checkpoint"):
            rt.load_checkpoint(local, net)
        assert torch.equal(net.weight, before)
        """
    )


def test_the_newest_stay(tmp_path: Path) -> None:
    (tmp_path / "notes-1.txt").touch()
    for step in (5, 90, 100, 20, 110):
        rt.save_checkpoint(tmp_path / f"step-{step}.pt", net(), keep=2, step=step)
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == ["notes-1.txt", "step-100.pt", "step-110.pt"]
    with pytest.raises(ValueError, match="number"):
        rt.save_checkpoint(tmp_path / "last.pt", net(), keep=2)


def test_a_number_in_the_suffix_is_no_step(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        rt.save_checkpoint(tmp_path / f"step-{step}.pt2", step=step, keep=2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["step-2.pt2", "step-3.pt2"]


def test_a_folder_means_its_newest_complete_file(tmp_path: Path) -> None:
    for step in (9, 10, 11):
        rt.save_checkpoint(tmp_path / f"step-{step}.pt", net(), step=step)
    newest = tmp_path / "step-11.pt"
    empty = tmp_path / "empty"
    empty.mkdir()
    newest.write_bytes(newest.read_bytes()[:500])
    assert rt.load_checkpoint(tmp_path, net()).state["step"] == 10
    with pytest.raises(rt.CheckpointError):
        rt.load_checkpoint(newest, net())
    with pytest.raises(rt.CheckpointError, match="no complete checkpoint"):
        rt.load_checkpoint(empty)


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    import socket

    ours = tmp_path / f".step-1.pt.{socket.gethostname()}.999999999.tmp"
    foreign = tmp_path / ".step-1.pt.other-host.1.tmp"
    unrelated = tmp_path / ".model-1.pt.other.tmp"
    for file in (ours, foreign, unrelated):
        file.touch()
    rt.save_checkpoint(tmp_path / "step-2.pt", net())
    assert not ours.exists()
    assert foreign.exists()
    assert unrelated.exists()


@pytest.mark.parametrize("key", [None, "model", "state_dict", "model_state_dict"])
def test_files_of_others_are_understood(tmp_path: Path, key: str | None) -> None:
    saved = net()
    weights = {f"module._orig_mod.{name}": v for name, v in saved.state_dict().items()}
    torch.save(weights if key is None else {key: weights, "epoch": 1}, tmp_path / "x.pt")
    loaded = net()
    report = rt.load_checkpoint(tmp_path / "x.pt", loaded)
    assert report.stripped
    assert report.complete
    assert torch.equal(loaded[0].weight, saved[0].weight)


def test_what_does_not_fit_is_reported_or_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    weights = net().state_dict()
    weights["extra"] = torch.ones(1)
    weights["0.weight"] = torch.ones(7, 2)
    del weights["1.bias"]
    torch.save(weights, tmp_path / "x.pt")
    model = net()
    before = model[0].weight.clone()
    with pytest.raises(rt.CheckpointError, match=r"1 missing \(1.bias\); 1 unexpected \(extra\)"):
        rt.load_checkpoint(tmp_path / "x.pt", model)
    report = rt.load_checkpoint(tmp_path / "x.pt", model, strict=False)
    assert (report.missing, report.unexpected) == (("1.bias",), ("extra",))
    assert report.mismatched == ("0.weight",)
    assert torch.equal(model[0].weight, before)
    assert "1 missing" in caplog.text
    with pytest.raises(rt.CheckpointError, match="no key matched"):
        rt.load_checkpoint(tmp_path / "x.pt", torch.nn.PReLU(), strict=False)
    with pytest.raises(rt.CheckpointError, match="optimizer not found in the file"):
        rt.load_checkpoint(tmp_path / "x.pt", model, strict=False, optimizer=model)


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    torch.save({"model": net().state_dict(), "when": Path("x")}, tmp_path / "x.pt")
    with pytest.raises(rt.CheckpointError):
        rt.load_checkpoint(tmp_path / "x.pt", net())
    assert rt.load_checkpoint(tmp_path / "x.pt", net(), weights_only=False).state["when"] == Path(
        "x"
    )


def test_only_leading_and_complete_prefixes_go() -> None:
    assert rt.strip_prefixes({"module.a": 1, "module.b": 2}) == {"a": 1, "b": 2}
    assert rt.strip_prefixes({"module.a": 1, "b": 2}) == {"module.a": 1, "b": 2}
    assert list(rt.strip_prefixes({"_orig_mod.module.sub_module.w": 1})) == ["sub_module.w"]
    assert list(rt.strip_prefixes({"layer._orig_mod.w": 1})) == ["layer._orig_mod.w"]
    assert rt.strip_prefixes({}) == {}


def test_a_child_that_is_really_called_module_stays(tmp_path: Path) -> None:
    class Holder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = torch.nn.Linear(2, 2)

    holder = Holder()
    assert rt.unwrap(holder) is holder
    assert list(rt.strip_prefixes(holder.state_dict(), holder)) == ["module.weight", "module.bias"]
    wrapped = {f"module.{name}": value for name, value in holder.state_dict().items()}
    assert list(rt.strip_prefixes(wrapped, holder)) == ["module.weight", "module.bias"]
    rt.save_checkpoint(tmp_path / "x.pt", holder)
    assert rt.load_checkpoint(tmp_path / "x.pt", Holder()).complete


def test_versions_of_modules_survive() -> None:
    stripped = rt.strip_prefixes(torch.nn.DataParallel(net()).state_dict())
    assert stripped._metadata["1"] == {"version": 2}  # type: ignore[attr-defined]
    net().load_state_dict(stripped)


def test_all_wrappers_come_off() -> None:
    bare = net()
    assert rt.unwrap(torch.compile(torch.nn.DataParallel(torch.compile(bare)))) is bare
