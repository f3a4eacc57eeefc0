import lightning.pytorch as pl
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset


class Data(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.data, batch_size=4, sampler=DistributedSampler(self.data))

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=4)


class Batches(pl.LightningDataModule):
    def train_dataloader(self):
        sampler = self.sampler_of(self.data)
        return DataLoader(self.data, batch_sampler=BatchSampler(sampler, 4, True))


class Options(pl.LightningDataModule):
    def train_dataloader(self):
        options = {"batch_size": 4}
        if dist.is_initialized():
            options["sampler"] = DistributedSampler(self.data)
        return DataLoader(self.data, **options)


class Stream(IterableDataset):
    def __iter__(self):
        yield from range(100)


class Streamed(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(Stream(), batch_size=4)


def main(net, data):
    trainer = pl.Trainer(devices=4, strategy="ddp", use_distributed_sampler=False)
    trainer.fit(net, datamodule=data)
    trainer.test(net, DataLoader(data, batch_size=4))
    trainer.fit(net, DataLoader(data, 4, sampler=DistributedSampler(data)))
    pl.Trainer(devices=4).fit(net, DataLoader(data, 4, shuffle=True))
