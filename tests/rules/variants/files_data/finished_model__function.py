"""Accelerate's function writes the weights once; each rank writes the tokenizer."""

from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer


def finish(accelerator, model, tokenizer, out):
    unwrapped = accelerator.unwrap_model(model)
    unwrapped.save_pretrained(out, save_function=accelerator.save)
    tokenizer.save_pretrained(out)  # expect: DST406


def main(loader, optimizer, out):
    accelerator = Accelerator()
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model, loader, optimizer = accelerator.prepare(model, loader, optimizer)
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.wait_for_everyone()
    finish(accelerator, model, tokenizer, out)
