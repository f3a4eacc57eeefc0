import comm
from data import loaders


def main(rows):
    (loader,) = loaders(rows)  # expect: DST509
    comm.join()
    for batch in loader:
        print(batch)
