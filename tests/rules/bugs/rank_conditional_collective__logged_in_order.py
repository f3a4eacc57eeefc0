"""The ranks log one after the other, but for the first, which logs at once."""
# effect: hang

import torch.distributed as dist


class Log:
    def log(self, text, **options):
        main_only = options.pop("main_only", True)
        in_order = options.pop("in_order", False)
        if not main_only or dist.get_rank() == 0:  # expect: DST101
            print(text)
        elif in_order:
            for rank in range(dist.get_world_size()):
                if rank == dist.get_rank():
                    print(text)
                dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Log().log("ready", in_order=True)
    dist.destroy_process_group()
