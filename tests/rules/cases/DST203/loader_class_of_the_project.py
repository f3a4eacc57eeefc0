from torch.utils.data import DataLoader, DistributedSampler


class Mine(DataLoader):
    def __init__(self, data):
        sampler = DistributedSampler(data)  # expect: DST203
        super().__init__(data, sampler=sampler)


bar = tqdm(Mine(data))
for epoch in range(9):
    for batch in bar:
        step(batch)
