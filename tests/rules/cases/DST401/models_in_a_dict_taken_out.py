import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


def unwrapped(model):
    accelerator = Accelerator()
    for k in model:
        model[k] = accelerator.prepare(model[k])
    state = {key: accelerator.unwrap_model(model[key]).state_dict() for key in model}
    torch.save(state, "epoch.pth")
    torch.save({key: model[key].module.state_dict() for key in model}, "other.pth")


def before(nets):
    torch.save({key: nets[key].state_dict() for key in nets}, "start.pth")
    for name in nets:
        nets[name] = DDP(nets[name])


def optimizers(optimizer, nets):
    accelerator = Accelerator()
    for k in optimizer:
        optimizer[k] = accelerator.prepare(optimizer[k])
    torch.save({k: optimizer[k].state_dict() for k in optimizer}, "optimizers.pth")


def another_dict(nets, ema):
    for name in nets:
        nets[name] = DDP(nets[name])
    torch.save({name: ema[name].state_dict() for name in ema}, "ema.pth")


def bare(nets):
    models = {name: net.cuda() for name, net in nets.items()}
    torch.save({name: net.state_dict() for name, net in models.items()}, "all.pth")
