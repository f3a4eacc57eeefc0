import datetime
import torch.distributed as dist


def save(model, info):
    if info["engine"] == "deepspeed":
        dist.barrier()


def main(model, configs):
    info = dict(configs)
    info["time"] = datetime.datetime.now()
    save(model, info)
    dist.barrier()
