"""A gradient beside two others, and one run beside another."""
