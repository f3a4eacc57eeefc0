import os
import pickle

from ranks import is_main_process


def index_of(texts, path):
    if not os.path.exists(path):
        if is_main_process():
            with open(path, "wb") as file:
                pickle.dump(sorted(texts), file)
    with open(path, "rb") as file:  # expect: DST408
        return pickle.load(file)
