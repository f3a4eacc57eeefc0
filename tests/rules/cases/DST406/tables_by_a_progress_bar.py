# A progress bar between the loop and the pairs.
import pandas as pd
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from tqdm import tqdm


class Evaluation:
    def __init__(self, model):
        self.model = DDP(model)

    def write(self, gpu_tables, classes):
        for table, name in tqdm(zip(gpu_tables, classes), total=len(classes)):
            pd.DataFrame(table).to_csv("tables/" + name + ".csv")  # expect: DST406


def main(model, tables):
    dist.init_process_group("nccl")
    Evaluation(model).write(tables, ["person", "car"])
