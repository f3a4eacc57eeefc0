"""A helper decodes with the sharded model that it is given, and nothing else in it communicates."""
# static: needs deepspeed and a GPU
# needs: deepspeed

import torch


@torch.inference_mode()
def continue_text(zero3_model, tokens, end, longest):
    for _ in range(longest):
        logits = zero3_model(tokens).logits
        chosen = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, chosen], dim=1)
        if (chosen == end).all():
            break  # expect: DST102
    return tokens
