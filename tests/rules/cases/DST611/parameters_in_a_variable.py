import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


def main(net, x):
    model = FSDP(net)
    parameters = [p for p in model.parameters() if p.requires_grad]
    model(x).sum().backward()
    clip_grad_norm_(parameters, 1.0)  # expect: DST611
