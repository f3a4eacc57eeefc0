from torch.utils.data import DataLoader, DistributedSampler


def main(data, model, opt, epochs=3):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    for epoch in range(epochs):
        sampler.epoch = epoch
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
