"""Not a checkpoint: what the file holds may be the same on all ranks, but they write at once."""

import json
import os
import pickle

import numpy as np
import torch
import torch.distributed as dist
import yaml


def main(loaders, args, frame, scores):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    with open("saved/loaders.pth", "wb") as f:
        pickle.dump(loaders, f)  # expect: DST406
    with open(os.path.join(args.output, "config.json"), "w") as config:
        json.dump(vars(args), config, indent=2)  # expect: DST406
    np.save(args.output + "/scores.npy", scores)  # expect: DST406
    np.savez_compressed(file="all.npz", scores=scores)  # expect: DST406
    np.savetxt("scores.txt", scores)  # expect: DST406
    frame.to_csv(f"{args.output}/predictions.csv", index=False)  # expect: DST406
    frame.to_parquet(path="predictions.parquet")  # expect: DST406
    file = open("options.yaml", "w")
    yaml.safe_dump(vars(args), file)  # expect: DST406


class Evaluator:
    def __init__(self, model):
        self.model = torch.nn.parallel.DistributedDataParallel(model)

    def evaluate(self, results):
        dist.barrier()
        with open(self.path, "w") as f:
            json.dump(results, f)  # expect: DST406
