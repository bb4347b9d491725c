"""What passed: captures in a bounded ring, and their figures."""
