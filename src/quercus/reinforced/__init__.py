"""The engine of the reinforced tree: situations, what questions lead to, and what both are worth."""
