from torch.utils.data import DataLoader, DistributedSampler

train_sampler = DistributedSampler(a)  # expect: DST203
loader = DataLoader(a, sampler=train_sampler)
val_sampler = DistributedSampler(b)
val_loader = DataLoader(b, sampler=val_sampler)
for epoch in range(9):
    val_sampler.set_epoch(epoch)
    for batch in loader:
        step(batch)
