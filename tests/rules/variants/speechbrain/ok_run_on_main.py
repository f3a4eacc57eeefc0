"""All processes come to run_on_main."""

from speechbrain.utils.checkpoints import Checkpointer
from speechbrain.utils.distributed import ddp_barrier, if_main_process, run_on_main


def prepare(function, hparams):
    run_on_main(function, kwargs=hparams)
    ddp_barrier()
