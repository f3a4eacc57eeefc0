from torch.utils.data import DataLoader


class Settings:
    def __init__(self):
        self.workers = 0

    def loader(self, data):
        return DataLoader(data, num_workers=self.workers, persistent_workers=True)  # expect: DST206


make = Settings().loader
