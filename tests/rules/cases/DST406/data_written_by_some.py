import io
import json
import os
import pickle
import sys

import numpy as np
import torch
import torch.distributed as dist
import yaml


def main(loaders, args, frame, scores):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    if rank == 0:
        with open("saved/loaders.pth", "wb") as f:
            pickle.dump(loaders, f)
    with open(f"config-{rank}.json", "w") as config:
        json.dump(vars(args), config, indent=2)
    np.save(f"{args.output}/{rank}.npy", scores)
    frame.to_csv(f"predictions_{rank}.csv")
    text = frame.to_csv()
    other = yaml.dump(vars(args))
    json.dump(vars(args), sys.stdout)
    memory = io.StringIO()
    frame.to_csv(memory)
    with open("log.jsonl", "a") as log:
        json.dump({"rank": rank}, log)
    return text, other


def of_one_process(results):
    with open("results.json", "w") as f:
        json.dump(results, f)
