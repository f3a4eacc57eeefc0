"""The others leave before."""

from mpi4py import MPI


def start(config):
    comm = MPI.COMM_WORLD
    if comm.Get_rank() > 0:
        return None  # expect: DST104
    return comm.bcast(config, root=0)
