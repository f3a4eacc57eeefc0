"""What distlint is measured by. Nothing in the package imports this."""
