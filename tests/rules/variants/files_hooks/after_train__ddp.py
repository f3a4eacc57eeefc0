"""An option of DDP."""

import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main():
    args = TrainingArguments(output_dir="out", ddp_find_unused_parameters=False)
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = Trainer(model=model, args=args, train_dataset=[1, 2])
    trainer.train()
    trainer.save_model("out")
    torch.save({"a": 3}, "out/logps.pt")  # expect: DST406


if __name__ == "__main__":
    main()
