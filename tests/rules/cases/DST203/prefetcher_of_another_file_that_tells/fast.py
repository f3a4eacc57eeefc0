class Prefetcher:
    def __init__(self, loader, device):
        self.loader = loader
        self.epoch = 0
        self.device = device

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        self.loader.sampler.set_epoch(self.epoch)
        self.epoch += 1
        for batch in self.loader:
            yield batch.to(self.device, non_blocking=True)
