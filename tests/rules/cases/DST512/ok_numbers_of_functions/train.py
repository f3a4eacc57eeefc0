from comm import get_rank, name


class Base:
    def __init__(self):
        self.rank = get_rank()


def save(path, rank):
    if get_rank() == 0 or name() == "0" or int(name()) == 0 or rank == 0:
        open(path, "w").close()


save("report.txt", get_rank())
