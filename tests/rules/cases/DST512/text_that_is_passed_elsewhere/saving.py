def save(path, rank):
    if rank == 0:  # expect: DST512
        open(path, "w").close()
