"""All processes save."""

from speechbrain.utils.checkpoints import Checkpointer
from speechbrain.utils.distributed import ddp_barrier, if_main_process, run_on_main


def save(checkpointer, stats):
    checkpointer.save_and_keep_only(meta=stats)
    if if_main_process():
        print(stats)
