"""Find, explain and fix the bugs that make distributed training hang."""

__version__ = "0.1.0"
