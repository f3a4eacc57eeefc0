import logging

import torch.distributed as dist
from engine import Trainer, evaluate


def main(args, model, loader):
    dist.init_process_group("nccl")
    log = None
    if dist.get_rank() == 0:
        log = logging.getLogger()
        log.info("begins")
    trainer = Trainer(model)
    trainer.fit(loader, log)
    evaluate(model, loader, log)


main(None, None, None)
