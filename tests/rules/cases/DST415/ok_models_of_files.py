import urllib.request

import clip
import nltk
import torch.distributed as dist
import whisper


def main(args):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        nltk.download("punkt")
        clip.load("RN50")
    dist.barrier()
    own, _ = urllib.request.urlretrieve(args.url)
    nltk.data.load("tokenizers/punkt.pickle")
    return clip.load("models/vit.pt"), clip.load(args.path), whisper.load_model("./base.pt"), own
