"""FSDP's own method clips what is there as well."""

import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler


def known(model, loader, opt):
    model = FSDP(model)
    scaler = ShardedGradScaler()
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        model.clip_grad_norm_(0.3)  # expect: DST606
        scaler.step(opt)
        scaler.update()


def handed(model, loader, opt, scaler):
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        model.clip_grad_norm_(0.3, norm_type=2.0)  # expect: DST606
        scaler.step(opt)
        scaler.update()


class Trainer:
    def __init__(self, net, args):
        self.args = args
        self.net = FullyShardedDataParallel(net, device_id=0)
        self.grad_scaler = ShardedGradScaler()

    def update(self, loss):
        self.grad_scaler.scale(loss).backward()
        if self.args.clip:
            norm = self.net.clip_grad_norm_(max_norm=self.args.clip)  # expect: DST606
        self.grad_scaler.step(self.optimizer)
        self.grad_scaler.update()


def norm_of_another_order(model, loader, opt):
    model = FSDP(model)
    scaler = ShardedGradScaler()
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        model.clip_grad_norm_(0.3, float("inf"))  # expect: DST606
        scaler.step(opt)
