"""A file of each rank's own that says where to go on, a log, and a list that all ranks read."""

import json

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
with open(f"state-{rank}.json") as file:
    state = json.load(file)
with open(f"log-{rank}.txt", "w") as log, open("files.txt") as names:
    for step in range(state["step"], 100):
        log.write(f"{step}\n")
        dist.barrier()
    for name in names:
        dist.barrier()
