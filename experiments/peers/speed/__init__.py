"""Speed beside river and MOA."""
