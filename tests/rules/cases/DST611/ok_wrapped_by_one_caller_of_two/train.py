from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP
from loop import step


def main(net, optimizer, x, sharded):
    if sharded:
        step(FSDP(net), optimizer, x)
    else:
        step(DDP(net), optimizer, x)
