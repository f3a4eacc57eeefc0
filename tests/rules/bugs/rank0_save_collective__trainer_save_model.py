"""trainer.save_model() under a rank test, with FSDP among the strategies of the script."""
# static: needs transformers and a GPU
# needs: transformers

import os
import sys

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main(name, dataset, strategy):
    is_main = int(os.environ.get("RANK", 0)) == 0
    args = TrainingArguments("out", fsdp="full_shard" if strategy == "fsdp" else "")
    model = AutoModelForCausalLM.from_pretrained(name)
    trainer = Trainer(model=model, args=args, train_dataset=dataset)
    trainer.train()
    if is_main:  # expect: DST407
        trainer.save_model("out/final")


if __name__ == "__main__":
    main(sys.argv[1], [{"input_ids": [1, 2, 3], "labels": [1, 2, 3]}], sys.argv[2])
