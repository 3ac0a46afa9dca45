"""Is emergence a matter of the metric? The count over published tables, with the commands that made it."""
