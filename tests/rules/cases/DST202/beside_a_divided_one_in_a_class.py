import torch.utils.data as data
from torch.utils.data.distributed import DistributedSampler


class Data:
    def __init__(self, args):
        self.trainset = data.TensorDataset(args.xs)
        self.valset = data.TensorDataset(args.ys)
        self.train_loader = data.DataLoader(  # expect: DST202
            self.trainset, batch_size=args.batch_size, shuffle=True, num_workers=4
        )
        self.val_loader = data.DataLoader(
            self.valset,
            batch_size=args.batch_size,
            sampler=DistributedSampler(self.valset, shuffle=False),
        )
