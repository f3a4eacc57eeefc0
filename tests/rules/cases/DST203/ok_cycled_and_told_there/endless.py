from itertools import count


def cycle(loader):
    for number in count():
        loader.sampler.set_epoch(number)
        for batch in loader:
            yield batch
