"""The analyser against independent evidence."""
