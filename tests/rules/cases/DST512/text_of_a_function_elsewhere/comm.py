import os


def get_rank():
    return os.environ.get("RANK", "0")


def local_rank():
    return int(os.environ["LOCAL_RANK"])
