import time

import torch
import torch.distributed as dist


def join(attempts):
    for _ in range(attempts):
        try:
            dist.init_process_group("nccl")
            return True
        except Exception as error:  # expect: DST515
            print(error)
            time.sleep(1)
    print("alone")
    return False


many = join(3)
model = torch.nn.Linear(2, 2)
if many:
    model = torch.nn.parallel.DistributedDataParallel(model)
torch.save(model, "model.pt")
