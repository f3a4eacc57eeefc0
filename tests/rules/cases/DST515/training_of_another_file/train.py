import logging

import torch
from work import fit

try:
    fit(torch.nn.Linear(2, 1))
except Exception:
    logging.exception("failed")
    raise SystemExit(1)
