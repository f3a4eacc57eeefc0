def without_ddp(models):
    return [m for m in models]
