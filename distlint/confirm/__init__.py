"""Scripts that show a reported hang, written from the replay of all ranks, and run."""
