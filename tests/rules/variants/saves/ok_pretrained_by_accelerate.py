"""Nothing says that Accelerate shards."""

from accelerate import Accelerator
from transformers import AutoModelForCausalLM

accelerator = Accelerator()
model = accelerator.prepare(AutoModelForCausalLM.from_pretrained("gpt2"))
accelerator.wait_for_everyone()
if accelerator.is_main_process:
    accelerator.unwrap_model(model).save_pretrained("out")
accelerator.wait_for_everyone()
