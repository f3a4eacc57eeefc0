"""What the engine itself reports."""
