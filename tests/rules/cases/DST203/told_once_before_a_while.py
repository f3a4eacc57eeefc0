from torch.utils.data import DataLoader, DistributedSampler


class T:
    def __init__(self, data, ckpt):
        self.sampler = DistributedSampler(data)  # expect: DST203
        self.loader = DataLoader(data, batch_size=4, sampler=self.sampler)
        self.epoch = ckpt["epoch"]

    def fit(self, model, opt):
        self.sampler.set_epoch(self.epoch)
        while self.epoch < 90:
            for batch in self.loader:
                model(batch).mean().backward()
                opt.step()
            self.epoch += 1
