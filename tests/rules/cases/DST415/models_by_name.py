import clip
import nltk
import torch.distributed as dist
import whisper

nltk.download("punkt")  # expect: DST415


def models(device):
    model, transform = clip.load("ViT-B/32", device=device)  # expect: DST415
    name = "base"
    return model, transform, whisper.load_model(name)  # expect: DST415


dist.init_process_group("nccl")
models("cuda")
