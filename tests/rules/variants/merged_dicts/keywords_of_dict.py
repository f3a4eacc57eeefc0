import datetime
import torch.distributed as dist


def save(model, info):
    if info["engine"] == "deepspeed":
        dist.barrier()


def main(model, configs):
    save(model, dict(configs, time=datetime.datetime.now()))
    dist.barrier()
