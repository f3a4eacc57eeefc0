# Whoever creates the object may set the number of workers.
from torch.utils.data import DataLoader


class Settings:
    def __init__(self):
        self.workers = 0

    def loader(self, data):
        return DataLoader(data, num_workers=self.workers, persistent_workers=True)


make = print
