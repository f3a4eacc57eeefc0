"""Put examples and planted bugs into whole trainers, and see whether what is reported stays."""
