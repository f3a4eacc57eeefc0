"""The rank is a property."""

from mpi4py import MPI


comm = MPI.COMM_WORLD
if comm.rank != 0:  # expect: DST101
    comm.allreduce(1)
