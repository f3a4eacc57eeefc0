"""What goes wrong between ranks, one short script each, and what the watch must say of it."""
