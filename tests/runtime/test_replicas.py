"""Replicas that have drifted apart and gradients that are not finite, named alike on every rank."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from distlint.harness.cluster import Cluster, Outcome, missing

HEAD = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from distlint.runtime import DisagreementError, check_finite_grads, check_replicas

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
x = torch.randn(4, 3) + rank

def tell(found):
    print("found =", [str(each) for each in found])
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with Cluster() as running:
        yield running


def found(outcome: Outcome) -> str:
    """What the ranks printed, which must be the same on all."""
    assert outcome.effect == "finishes", str(outcome)
    said = {rank.values["found"][-1] for rank in outcome.ranks}
    assert len(said) == 1, said
    return said.pop()


def test_replicas_that_are_trained_together_agree(cluster: Cluster) -> None:
    source = """\
model = DistributedDataParallel(net)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    model(x).sum().backward()
    optimizer.step()
    assert not check_replicas(model)
    optimizer.zero_grad()
tell(check_replicas(model))
"""
    assert found(cluster.run(HEAD + source, ranks=3)) == "[]"


def test_a_forward_that_goes_around_the_wrapper(cluster: Cluster) -> None:
    source = """\
model = DistributedDataParallel(net)
model.module(x).sum().backward()
tell(check_replicas(model))
"""
    said = found(cluster.run(HEAD + source))
    assert "gradient module.0.weight differs between rank 0 and rank 1" in said
    assert "parameter" not in said


def test_a_parameter_that_one_rank_has_written(cluster: Cluster) -> None:
    source = """\
if rank == 2:
    net[2].bias.data += 1e-7
tell(check_replicas(net))
"""
    said = found(cluster.run(HEAD + source, ranks=3))
    assert said == "['parameter 2.bias differs between ranks 0, 1 and rank 2']"


def test_a_gradient_that_one_rank_does_not_have(cluster: Cluster) -> None:
    source = """\
if rank == 0:
    net(x * 0).sum().backward()
tell(check_replicas(net)[:1])
"""
    said = found(cluster.run(HEAD + source))
    assert said == "['gradient 0.weight differs between rank 0 and rank 1; None on 1']"


def test_running_means_on_request(cluster: Cluster) -> None:
    source = """\
net(x)
assert not check_replicas(net)
tell(check_replicas(net, buffers=True))
"""
    assert "buffer 1.running_mean differs between rank 0 and rank 1" in found(
        cluster.run(HEAD + source)
    )


def test_every_kth_call_compares(cluster: Cluster) -> None:
    source = """\
net[0].weight.data += rank
tell([len(check_replicas(net, every=3)) for _ in range(7)])
"""
    assert found(cluster.run(HEAD + source)) == "['0', '0', '1', '0', '0', '1', '0']"


def test_different_models_are_an_error_on_every_rank(cluster: Cluster) -> None:
    source = """\
net = nn.Linear(2, 2, bias=rank == 0)
try:
    check_replicas(net)
except DisagreementError as error:
    assert error.rank == rank and "script.py:" in error.site
    tell(error.args)
"""
    assert "parameter bias on rank 0 only" in found(cluster.run(HEAD + source))


def test_the_rank_with_the_bad_gradient_is_named_on_all(cluster: Cluster) -> None:
    source = """\
net(x).sum().backward()
tell(check_finite_grads(net))
if rank == 1:
    net[0].weight.grad[1, 1] = float("nan")
    net[2].bias.grad[0] = float("inf")
tell(check_finite_grads(net))
"""
    outcome = cluster.run(HEAD + source, ranks=3)
    assert outcome.ranks[0].values["found"][0] == "[]"
    said = found(outcome)
    assert "gradient of 0.weight is not finite on rank 1" in said
    assert "gradient of 2.bias is not finite on rank 1" in said
    assert "0.bias" not in said


@pytest.mark.campaign
def test_large_gradients_are_finite(cluster: Cluster) -> None:
    source = """\
half = nn.Linear(2, 2).half()
half.weight.grad = torch.full((2, 2), 60000.0, dtype=torch.float16)
double = nn.Linear(1, 1).double()
double.weight.grad = torch.full((1, 1), 1e300, dtype=torch.float64)
assert not check_finite_grads(double)
tell(check_finite_grads(half))
"""
    said = found(cluster.run(HEAD + source))
    assert "weight" not in said


def test_one_process_needs_no_group() -> None:
    torch = pytest.importorskip("torch")
    from distlint.runtime import check_finite_grads, check_replicas

    model = torch.nn.Linear(2, 2)
    model(torch.full((1, 2), float("inf"))).sum().backward()
    assert check_replicas(model) == ()
    (bad,) = check_finite_grads(model)
    assert (bad.name, bad.ranks) == ("weight", (0,))


def test_a_tensor_without_data_is_an_error_on_every_rank(cluster: Cluster) -> None:
    source = """\
from distlint.runtime import PeerFailedError
net = nn.Linear(2, 2, device="meta" if rank else "cpu")
try:
    check_replicas(net)
except PeerFailedError as error:
    tell([error.peer, error.rank])
except NotImplementedError:
    tell([1, 0])
"""
    assert found(cluster.run(HEAD + source)) == "['1', '0']"


def test_complex_gradients_are_looked_at(cluster: Cluster) -> None:
    source = """\
net = nn.Linear(2, 2, dtype=torch.complex64)
for parameter in net.parameters():
    parameter.grad = torch.zeros_like(parameter)
net.bias.grad[rank] = complex(0, float("inf"))
tell(check_finite_grads(net))
"""
    assert found(cluster.run(HEAD + source)) == ("['gradient of bias is not finite on ranks 0, 1']")


def test_shards_are_no_replicas(cluster: Cluster) -> None:
    source = """\
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
for own in (True, False):
    net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    net = FullyShardedDataParallel(net, device_id=torch.device("cpu"), use_orig_params=own)
    net(torch.full((1, 3), float("nan") if rank else 1.0)).sum().backward()
    assert check_replicas(net) == (), own
    assert check_finite_grads(net) != (), own
net = fully_shard(nn.Linear(3, 5))
net(x).sum().backward()
tell(check_replicas(net))
"""
    assert found(cluster.run(HEAD + source)) == "[]"
