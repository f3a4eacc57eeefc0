args = Namespace(world_size=2, rank=0)
