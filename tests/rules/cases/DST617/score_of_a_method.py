import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Tester:
    def __init__(self, net, data):
        self.rank = dist.get_rank()
        self.model = DDP(net)
        self.val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))

    def validate(self):
        guesses, truths = [], []
        with torch.no_grad():
            for inputs, labels in self.val_loader:
                guesses.extend(self.model(inputs).argmax(-1).tolist())
                truths.extend(labels.tolist())
        f1 = f1_score(truths, guesses, average="macro")  # expect: DST617
        if self.rank == 0:
            print("F1", f1)


def main(net, data):
    dist.init_process_group("nccl")
    Tester(net, data).validate()
