import socket
import torch.distributed as dist


def options(args):
    return {**args, "host": socket.gethostname(), "steps": 4}


class Trainer:
    def __init__(self, args):
        self.options = {**options(args), "verbose": True}

    def fit(self, model):
        for _ in range(self.options["steps"]):
            dist.all_reduce(model)
        if self.options["engine"] == "ddp":
            dist.barrier()
        if self.options["host"] == "node0":  # expect: DST103
            dist.barrier()


def main(args, model):
    Trainer(args).fit(model)
