import lightning as L
import torch
import wandb

options = {"batch_size": 8, "device": "", "num_devices": 4}


def start_run(config):
    wandb.init(project="llama", config=config, mode="online")


def start_own_run(rank, config):
    wandb.init(project="llama", name=f"rank {rank}", config=config)


def start_silent_run(config):
    wandb.init(project="llama", config=config, mode="disabled")


def main():
    fabric = L.Fabric(accelerator="cuda", devices=options["num_devices"])
    fabric.launch()
    if fabric.global_rank == 0:
        start_run({**options, "layers": 4})
    start_own_run(fabric.global_rank, options)
    start_silent_run(options)
    model = fabric.setup(torch.nn.Linear(2, 2))
    return model
