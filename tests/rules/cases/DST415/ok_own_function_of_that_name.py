import torch.distributed as dist


def download_url(url, root):
    print(url, root)


dist.init_process_group("nccl")
download_url("https://example.org/a.pt", "models")
