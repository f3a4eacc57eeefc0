import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler


class Model(torch.nn.Module):
    def clip_grad_norm_(self, limit):
        """Not FSDP's."""


def unscaled(model, loader, opt):
    model = FSDP(model)
    scaler = ShardedGradScaler()
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        scaler.unscale_(opt)
        model.clip_grad_norm_(0.3)
        scaler.step(opt)
        scaler.update()


def not_scaled(model, loader, opt):
    model = FSDP(model)
    for x in loader:
        model(x).mean().backward()
        model.clip_grad_norm_(0.3)
        opt.step()


def own(loader, opt, scaler):
    model = Model()
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        model.clip_grad_norm_(0.3)
        scaler.step(opt)


def by_an_accelerator(accelerator, model, loader, opt, scaler):
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        accelerator.clip_grad_norm_(model.parameters(), 0.3)
        scaler.step(opt)


def other_branch(model, loader, opt, scaler, amp):
    model = FSDP(model)
    for x in loader:
        loss = model(x).mean()
        if amp:
            scaler.scale(loss).backward()
            scaler.step(opt)
        else:
            loss.backward()
            model.clip_grad_norm_(0.3)
            opt.step()
