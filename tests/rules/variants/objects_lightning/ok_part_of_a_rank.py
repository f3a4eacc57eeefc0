import lightning.pytorch as pl
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset


class Data(pl.LightningDataModule):
    def setup(self, stage):
        rank, world_size = dist.get_rank(), dist.get_world_size()
        self.part = Subset(self.data, range(rank, len(self.data), world_size))

    def train_dataloader(self):
        return DataLoader(self.part, batch_size=4, shuffle=True)


def main(net, data):
    trainer = pl.Trainer(devices=4, strategy="ddp", use_distributed_sampler=False)
    trainer.fit(net, datamodule=Data(data))
