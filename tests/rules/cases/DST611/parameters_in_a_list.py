import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


def main(net, x):
    model = FSDP(net)
    weights = list(model.parameters())
    model(x).sum().backward()
    clip_grad_norm_(filter(lambda p: p.requires_grad, model.parameters()), 1.0)  # expect: DST611
    clip_grad_norm_(weights, 1.0)  # expect: DST611
