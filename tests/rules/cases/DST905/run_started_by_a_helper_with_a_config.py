import lightning as L
import torch
import wandb

options = {"batch_size": 8, "device": "", "num_devices": 4}


def start_run(config):
    wandb.init(project="llama", config=config, mode="online")  # expect: DST905


def main():
    fabric = L.Fabric(accelerator="cuda", devices=options["num_devices"])
    fabric.launch()
    start_run({**options, "layers": 4})
    model = fabric.setup(torch.nn.Linear(2, 2))
    return model
