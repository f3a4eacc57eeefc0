"""The twin: by the trainer."""

import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main():
    args = TrainingArguments(output_dir="out", deepspeed="ds.json")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = Trainer(model=model, args=args, train_dataset=[1, 2])
    trainer.train()
    trainer.save_model("out")
    if trainer.is_world_process_zero():
        torch.save({"a": 3}, "out/logps.pt")


if __name__ == "__main__":
    main()
