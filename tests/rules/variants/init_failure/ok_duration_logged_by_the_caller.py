import datetime
import logging

import torch
import torch.distributed as dist

logger = logging.getLogger(__name__)


class Job:
    def run(self):
        try:
            dist.init_process_group("nccl")
            self.train()
        except Exception:
            logger.exception("failed")

    def main(self):
        start = datetime.datetime.now()
        self.run()
        took = (datetime.datetime.now() - start).total_seconds()
        minutes, seconds = divmod(int(took), 60)
        if minutes > 0:
            logger.info("done in %d:%d", minutes, seconds)
        else:
            memory = torch.cuda.max_memory_allocated()
            logger.info("done, %s bytes", round(memory))


Job().main()
