def without_ddp(models):
    return [m.module if isinstance(m, DDP) else m for m in models]
