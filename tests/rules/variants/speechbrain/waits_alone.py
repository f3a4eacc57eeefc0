"""A barrier of the main process."""

from speechbrain.utils.checkpoints import Checkpointer
from speechbrain.utils.distributed import ddp_barrier, if_main_process, run_on_main


def finish():
    if if_main_process():  # expect: DST101
        print("done")
        ddp_barrier()
