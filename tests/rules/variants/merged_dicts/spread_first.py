import datetime
import torch.distributed as dist


def save(model, info):
    if info["engine"] == "deepspeed":
        dist.barrier()


def main(model, configs):
    save(model, {**configs, "time": datetime.datetime.now().strftime("%d")})
    dist.barrier()
