"""The communicator has a name."""

from mpi4py import MPI


comm = MPI.COMM_WORLD
rank = comm.Get_rank()
if rank == 0:  # expect: DST101
    print("first")
    comm.Barrier()
