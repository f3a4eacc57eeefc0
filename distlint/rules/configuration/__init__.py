"""Configuration files, environment variables and launch lines."""
