"""The words that rules declare, by code. Written by ``python -m scripts.generate_words``.

They are kept here because the prefilter must not import the rules.
"""

WORDS: dict[str, tuple[str, ...]] = {
    "DST215": ("hash(",),
    "DST404": ("torch.load(", "load_checkpoint("),
    "DST405": ("torch.load(",),
    "DST406": ("torch.save(",),
    "DST409": ("torch.save(",),
    "DST412": ("torch.load(",),
    "DST505": ("CUDA_VISIBLE_DEVICES",),
    "DST506": ("MASTER_PORT",),
    "DST602": ("log(torch.softmax", "log(F.softmax"),
    "DST605": ("autocast(",),
    "DST607": ("autocast(", "GradScaler"),
    "DST608": ("GradScaler",),
    "DST610": ("detect_anomaly",),
    "DST701": ("torch.compile(",),
    "DST702": ("_dynamo",),
    "DST703": ("torch.compile(",),
}
