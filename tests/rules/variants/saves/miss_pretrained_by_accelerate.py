"""Accelerate shards the model, and the main process saves what it unwraps."""

from accelerate import Accelerator, FullyShardedDataParallelPlugin
from transformers import AutoModelForCausalLM

accelerator = Accelerator(fsdp_plugin=FullyShardedDataParallelPlugin())
model = accelerator.prepare(AutoModelForCausalLM.from_pretrained("gpt2"))
accelerator.wait_for_everyone()
if accelerator.is_main_process:  # expect: DST407
    accelerator.unwrap_model(model).save_pretrained("out")
accelerator.wait_for_everyone()
