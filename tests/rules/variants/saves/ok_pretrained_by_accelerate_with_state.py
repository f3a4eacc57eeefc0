"""Accelerate gathers the state on all ranks, and the main process writes."""

from accelerate import Accelerator, FullyShardedDataParallelPlugin
from transformers import AutoModelForCausalLM

accelerator = Accelerator(fsdp_plugin=FullyShardedDataParallelPlugin())
model = accelerator.prepare(AutoModelForCausalLM.from_pretrained("gpt2"))
accelerator.wait_for_everyone()
unwrapped = accelerator.unwrap_model(model)
unwrapped.save_pretrained(
    "out",
    is_main_process=accelerator.is_main_process,
    save_function=accelerator.save,
    state_dict=accelerator.get_state_dict(model),
)
accelerator.wait_for_everyone()
