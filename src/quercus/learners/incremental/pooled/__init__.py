"""The engine of a tree that keeps its rows: exact cuts, and a pool of rows of which some are labelled."""
