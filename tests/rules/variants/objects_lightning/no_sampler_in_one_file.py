import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader


class Data(pl.LightningDataModule):
    def __init__(self, train_set, val_set):
        super().__init__()
        self.train_set, self.val_set = train_set, val_set
        self.options = {"batch_size": 4, "shuffle": True, "num_workers": 2}

    def train_dataloader(self):
        return DataLoader(self.train_set, **self.options)  # expect: DST202

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=4)


class Net(pl.LightningModule):
    def train_dataloader(self):
        loader = DataLoader(self.data, batch_size=4, shuffle=True)  # expect: DST202
        return loader


class Several(pl.LightningDataModule):
    def train_dataloader(self):
        images = DataLoader(self.images, batch_size=4, shuffle=True)  # expect: DST202
        texts = DataLoader(self.texts, batch_size=4, shuffle=True)  # expect: DST202
        return {"images": images, "texts": texts}


class Helped(pl.LightningDataModule):
    def train_dataloader(self):
        return self._loader(self.train_set, True)

    def _loader(self, data, shuffle):
        return DataLoader(data, batch_size=4, shuffle=shuffle)  # expect: DST202


def main(train_set, val_set):
    trainer = pl.Trainer(gpus=4, strategy="ddp", replace_sampler_ddp=False)
    trainer.fit(Net(), datamodule=Data(train_set, val_set))


def given(model, data):
    options = {"devices": 4, "strategy": "ddp"}
    options["use_distributed_sampler"] = False
    trainer = pl.Trainer(**options)
    loader = DataLoader(data, batch_size=4, shuffle=True)  # expect: DST202
    trainer.fit(model, train_dataloaders=loader)
