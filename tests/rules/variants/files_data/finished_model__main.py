"""The twin: Accelerate decides which process saves the model, and a test which saves the rest."""

from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer


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
    accelerator.unwrap_model(model).save_pretrained(
        out,
        is_main_process=accelerator.is_main_process,
        save_function=accelerator.save,
        state_dict=accelerator.get_state_dict(model),
    )
    if accelerator.is_main_process:
        tokenizer.save_pretrained(out)
