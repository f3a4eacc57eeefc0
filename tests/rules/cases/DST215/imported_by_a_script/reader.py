from assign import owner


def documents(listed, rank, world):
    return [each for each in listed if owner(*each, world) == rank]
