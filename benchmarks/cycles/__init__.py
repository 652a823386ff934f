"""Daily cycles in parts, beside what one process computes of the same days."""
