import comm
from data import loaders


def main(rows):
    comm.join()
    (loader,) = loaders(rows)
    for batch in loader:
        print(batch)
