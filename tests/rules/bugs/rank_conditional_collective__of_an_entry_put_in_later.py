"""An entry that ``update`` puts in a dict may be each rank's own."""
# effect: hang

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    settings = {"saves": False, "steps": 3}
    settings.update(saves=dist.get_rank() == 0)
    if settings["saves"]:  # expect: DST101
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
