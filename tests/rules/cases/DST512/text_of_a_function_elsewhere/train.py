from comm import get_rank, local_rank


def save(path):
    if get_rank() == 0:  # expect: DST512
        open(path, "w").close()
    if local_rank() == 0:
        print("first")
