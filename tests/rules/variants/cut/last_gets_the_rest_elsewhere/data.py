from torch.utils.data import Dataset


def part(items, rank, world_size):
    per = len(items) // world_size
    first = rank * per
    if rank == world_size - 1:
        return items[first:]
    return items[first : first + per]


class Pages(Dataset):
    def __init__(self, pages, rank, world_size):
        self.pages = part(pages, rank, world_size)

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, index):
        return self.pages[index]


class Lines(Dataset):
    def __init__(self, lines, rank, world_size):
        per = len(lines) // world_size
        self.start = rank * per
        self.end = self.start + per if rank < world_size - 1 else len(lines)
        self.lines = lines[self.start : self.end]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.lines[index]
