import lightning.pytorch as pl
from torch.utils.data import DataLoader


class Data(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.data, batch_size=4, shuffle=True)


def main(net, data):
    trainer = pl.Trainer(accelerator="gpu", devices=1, use_distributed_sampler=False)
    trainer.fit(net, datamodule=Data(data))
