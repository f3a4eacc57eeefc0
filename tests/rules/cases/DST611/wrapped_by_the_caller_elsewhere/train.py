from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from loop import step


def main(net, optimizer, batches):
    model = FSDP(net)
    for x in batches:
        step(model, optimizer, x)
