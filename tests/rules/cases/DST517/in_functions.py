import os

import torch
import torch.distributed as dist
from accelerate import Accelerator


def resumed(args):
    rank = dist.get_rank()
    if rank == 0:
        stamp = "run"
        run_dir = os.path.join("results", stamp)
    if args.resume:
        return os.path.join(run_dir, "last.pt")  # expect: DST517
    return None


def logged(loader, model):
    if dist.get_rank() == 0:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter("runs")
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        loss.backward()
        writer.add_scalar("loss", loss.item(), step)  # expect: DST517
        if step > 9:
            break
    writer.close()


def prepared(accelerator: Accelerator, data):
    if accelerator.is_main_process:
        with open("words.txt") as file:
            words = file.read().split()
    accelerator.wait_for_everyone()
    return [words.index(each) for each in data]  # expect: DST517


def in_a_loop(model, epochs, is_master):
    for epoch in range(epochs):
        model.train()
        if is_master:
            best = max(range(3))
        dist.barrier()
        if epoch > 3:
            print(best)  # expect: DST517


def left_early(state, path):
    if dist.get_rank() != 0:
        dist.barrier()
    else:
        saved = torch.save(state, path)
        dist.barrier()
    return saved  # expect: DST517


def raised_again(model):
    if dist.get_rank() == 0:
        seen = []
    try:
        seen.append(model)  # expect: DST517
    except ValueError:
        raise


class Trainer:
    def __init__(self, args):
        self.rank = dist.get_rank()
        self.args = args

    def start(self):
        if self.rank == 0:
            name = input("name of the run: ")
        self.run = name + self.args.suffix  # expect: DST517
