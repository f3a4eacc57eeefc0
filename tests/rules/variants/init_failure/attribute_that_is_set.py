import torch.distributed as dist


class Job:
    def join(self):
        try:
            dist.init_process_group("nccl")
        except Exception:  # expect: DST515
            print("alone")
        self.rank = 0
