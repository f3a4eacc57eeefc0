import lightning as L
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, random_split


class Data(L.LightningDataModule):
    def setup(self, stage):
        self.rank = dist.get_rank()
        self.train_set, self.val_set = random_split(self.whole, [900, 100], self.generator)

    def train_dataloader(self):
        print(f"[rank {self.rank}] loader for training")
        return DataLoader(self.train_set, batch_size=4, shuffle=True)  # expect: DST202
