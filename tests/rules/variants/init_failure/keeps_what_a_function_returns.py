import torch.distributed as dist


def main(train):
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        print("alone")
    score = train()
    print(score)
