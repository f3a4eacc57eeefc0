import torch.distributed as dist
from torchvision.datasets import utils


class Data:
    def __init__(self, root):
        self.root = root

    def fetch(self, url):
        utils.download_and_extract_archive(url, download_root=self.root)  # expect: DST415


dist.init_process_group("gloo")
Data("data").fetch("https://example.org/data.zip")
