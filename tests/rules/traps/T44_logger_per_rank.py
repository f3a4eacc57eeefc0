"""T44. One run of the logger for each rank on purpose, joined in a group."""
# needs: wandb
# static: wandb is not among the packages that the tests install

import os

import torch
import torch.distributed as dist
import wandb

dist.init_process_group("gloo")
rank = dist.get_rank()
job_id = os.environ.get("JOB_ID", "local")
run = wandb.init(project="p", group=job_id, name=f"rank{rank}", mode="offline")
for step in range(3):
    loss = torch.rand(1)
    run.log({"local_loss": loss.item()})
    dist.all_reduce(loss)
    run.log({"loss": loss.item() / dist.get_world_size()})
run.finish()
dist.destroy_process_group()
