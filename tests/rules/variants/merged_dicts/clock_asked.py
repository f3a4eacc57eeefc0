import datetime
import torch.distributed as dist


def save(model, info):
    if info["time"] == "deepspeed":  # expect: DST103
        dist.barrier()


def main(model, configs):
    save(model, {"time": datetime.datetime.now().strftime("%d"), "tag": "init", **configs})
    dist.barrier()
