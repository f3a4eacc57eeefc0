import lightning as L
from torch.utils.data import DataLoader, DistributedSampler


class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=8, shuffle=True)

    def val_dataloader(self):
        val_sampler = DistributedSampler(self.val_set, shuffle=False)
        return DataLoader(self.val_set, batch_size=8, sampler=val_sampler)
