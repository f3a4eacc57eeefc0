import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@pytest.mark.skip
def test_run(sharded, frozen, net):
    if sharded:
        net = shard(net)
    else:
        net = DDP(net)
    if frozen:
        print(net.trunk)
