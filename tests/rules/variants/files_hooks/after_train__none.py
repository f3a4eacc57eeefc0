"""The twin: the option is left out."""

import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main():
    args = TrainingArguments(output_dir="out", deepspeed=None, ddp_backend=None)
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = Trainer(model=model, args=args, train_dataset=[1, 2])
    trainer.train()
    trainer.save_model("out")
    torch.save({"a": 3}, "out/logps.pt")


if __name__ == "__main__":
    main()
