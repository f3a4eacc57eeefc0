"""The main process alone runs what all have to run."""

from speechbrain.utils.checkpoints import Checkpointer
from speechbrain.utils.distributed import ddp_barrier, if_main_process, run_on_main


def prepare(function, hparams):
    if if_main_process():  # expect: DST101
        run_on_main(function, kwargs=hparams)
