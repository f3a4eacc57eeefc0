import os, torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def evaluate(model, loader):
    model.eval()
    preds = []
    with torch.no_grad():
        for (x,) in loader:
            preds.extend(model(x.cuda()).cpu().numpy())
    return sum(preds) / len(preds)  # expect: DST617


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = DDP(nn.Linear(8, 1).cuda())
    test = TensorDataset(torch.randn(100, 8))
    loader = DataLoader(test, batch_size=4, sampler=DistributedSampler(test, shuffle=False))
    if rank == 0:
        print("test score", evaluate(model.module, loader))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
