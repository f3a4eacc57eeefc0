import argparse
import os

from transformers import AutoModel

parser = argparse.ArgumentParser()
os.environ["HF_HUB_OFFLINE"] = "1"  # expect: DST508


def main():
    args = parser.parse_args()
    os.environ["HF_HOME"] = args.cache  # expect: DST508
    os.environ["HF_DATASETS_CACHE"] = args.cache
    os.environ["HF_TOKEN"] = args.token
    return AutoModel.from_pretrained("bert-base-cased")
