"""The forest of growing trees beside others."""
