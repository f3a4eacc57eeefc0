import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter


class Trainer:
    def __init__(self, args):
        dist.init_process_group("nccl")
        self.args = args

    def load(self):
        self.writer = SummaryWriter(self.args.log_dir)  # expect: DST905

    def fit(self):
        self.load()
        if not hasattr(self, "writer"):
            self.writer = SummaryWriter(self.args.log_dir)


class Asking:
    def __init__(self, args):
        dist.init_process_group("nccl")
        self.args = args
        self.board = SummaryWriter(self.args.log_dir)  # expect: DST905

    def fit(self):
        if self.board is None:
            self.board = SummaryWriter(self.args.log_dir)
        if not getattr(self, "board", None):
            self.board = SummaryWriter(self.args.log_dir)


class Late:
    def __init__(self, args):
        dist.init_process_group("nccl")
        self.args = args

    def fit(self):
        if not hasattr(self, "events"):
            self.events = SummaryWriter(self.args.log_dir)  # expect: DST905


def main(args):
    Trainer(args).fit()
    Late(args).fit()
    Asking(args).fit()
