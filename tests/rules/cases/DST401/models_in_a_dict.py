import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


def prepared(accelerator: Accelerator, model):
    accelerator = Accelerator()
    for k in model:
        model[k] = accelerator.prepare(model[k])
    if accelerator.is_main_process:
        state = {key: model[key].state_dict() for key in model}  # expect: DST401
        torch.save(state, "epoch.pth")
        torch.save(model["a"].state_dict(), "a.pth")  # expect: DST401


def by_name(nets):
    nets["a"] = DDP(nets["a"])
    torch.save(nets["a"].state_dict(), "a.pth")  # expect: DST401
    torch.save(nets["b"].state_dict(), "b.pth")


def by_comprehension(models, rank):
    models = {name: DDP(net.cuda(), device_ids=[rank]) for name, net in models.items()}
    if rank == 0:
        states = {name: net.state_dict() for name, net in models.items()}  # expect: DST401
        torch.save(states, "all.pth")


def in_a_list(nets):
    nets = [DDP(net) for net in nets]
    for index, net in enumerate(nets):
        torch.save(net.state_dict(), f"{index}.pth")  # expect: DST401
    torch.save([each.state_dict() for each in nets], "all.pth")  # expect: DST401


def written_down(student, teacher):
    models = {"student": DDP(student), "teacher": teacher}
    torch.save(models["student"].state_dict(), "student.pth")  # expect: DST401
    torch.save(models["teacher"].state_dict(), "teacher.pth")


class Trainer:
    def __init__(self, nets):
        self.nets = nets
        for name in self.nets:
            self.nets[name] = DDP(self.nets[name])

    def save(self, path):
        for name, net in self.nets.items():
            torch.save(net.state_dict(), f"{path}/{name}.pth")  # expect: DST401
        for net in self.nets.values():
            torch.save(net.state_dict(), path)  # expect: DST401
