import os

os.environ["HF_HOME"] = "/scratch"

import transformers

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def lazily():
    os.environ["HF_DATASETS_OFFLINE"] = "1"
    import datasets

    return datasets, transformers
