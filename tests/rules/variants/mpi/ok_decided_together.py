"""What a reduction has told is the same everywhere."""

from mpi4py import MPI


def run(value):
    total = MPI.COMM_WORLD.allreduce(value)
    if total > 3:
        MPI.COMM_WORLD.Barrier()
