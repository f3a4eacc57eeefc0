"""Rank 0 alone broadcasts."""

from mpi4py import MPI


def send(x):
    if MPI.COMM_WORLD.Get_rank() == 0:  # expect: DST101
        MPI.COMM_WORLD.bcast(x, root=0)
