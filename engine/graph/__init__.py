"""Graph mode: functions and cells that are traced once and then computed by a plan."""
