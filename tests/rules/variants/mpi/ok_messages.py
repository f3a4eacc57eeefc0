"""Messages from one to another."""

from mpi4py import MPI


def ping(x):
    comm = MPI.COMM_WORLD
    if comm.Get_rank() == 0:
        comm.send(x, dest=1)
    else:
        x = comm.recv(source=0)
    comm.barrier()
    return x
