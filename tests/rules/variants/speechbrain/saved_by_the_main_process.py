"""The checkpointer is called by the main process alone."""

from speechbrain.utils.checkpoints import Checkpointer
from speechbrain.utils.distributed import ddp_barrier, if_main_process, run_on_main


def save(checkpointer, stats):
    if if_main_process():  # expect: DST407
        checkpointer.save_and_keep_only(meta=stats, min_keys=["WER"])
