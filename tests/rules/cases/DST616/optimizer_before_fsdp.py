import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(net):
    net = net.cuda()
    opt = torch.optim.AdamW(net.parameters())  # expect: DST616
    net = FSDP(net)
