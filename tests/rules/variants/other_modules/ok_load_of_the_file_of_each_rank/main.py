import torch
from accelerate import Accelerator

from files import load


def main(model, folder):
    accelerator = Accelerator()
    optimizer = torch.optim.Adam(model.parameters())
    model, optimizer = accelerator.prepare(model.cuda(), optimizer)
    load(optimizer, accelerator, folder, accelerator.process_index * 0)
