from torch.utils.data import DataLoader, DistributedSampler


class Data:
    def train_batches(self):
        return DataLoader(self.train_set, batch_size=8, shuffle=True)  # expect: DST202

    def eval_batches(self):
        eval_sampler = DistributedSampler(self.eval_set, shuffle=False)
        return DataLoader(self.eval_set, batch_size=8, sampler=eval_sampler)
