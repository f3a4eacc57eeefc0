from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def shard(model, policy=None):
    model = FSDP(model, auto_wrap_policy=policy)
    return model
