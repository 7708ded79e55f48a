"""The engine of the utility tree: what is learned of features that are bought, and the plan of what to buy next."""
