"""Break correct code of real repositories, and see whether distlint says so."""
