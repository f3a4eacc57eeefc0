"""Rank 0 does something with each full parameter, the others only help to gather it."""

import torch
import torch.distributed as dist


def full_parameters(model):
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            value = parameter.detach().clone()
            dist.all_reduce(value)
            yield name, value


def gathered(model):
    if dist.get_rank() == 0:
        return {name: value.tolist() for name, value in full_parameters(model)}
    for _ in full_parameters(model):
        pass
    return {}


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 2)
    for step in range(2):
        if dist.get_rank() == 0:
            for name, parameter in model.named_parameters():
                if name.endswith("weight"):
                    dist.broadcast(parameter.detach(), src=0)
                    print(step, name)
        else:
            for name, parameter in model.named_parameters():
                if name.endswith("weight"):
                    dist.broadcast(parameter.detach(), src=0)
        gathered(model)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
