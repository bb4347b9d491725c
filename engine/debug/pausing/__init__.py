"""Where a run stands still, who answers, and what can be looked at and edited meanwhile."""
