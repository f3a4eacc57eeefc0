"""Each rank hears from the first of its own set."""
# needs: horovod

import horovod.torch as hvd


def main():
    hvd.init()
    even = [rank for rank in range(hvd.size()) if rank % 2 == 0]
    odd = [rank for rank in range(hvd.size()) if rank % 2 == 1]
    sets = hvd.add_process_set(even), hvd.add_process_set(odd)
    mine, own = (even, sets[0]) if hvd.rank() in even else (odd, sets[1])
    hvd.broadcast_object(mine, root_rank=mine[0], process_set=own)


if __name__ == "__main__":
    main()
