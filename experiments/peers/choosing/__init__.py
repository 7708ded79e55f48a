"""The comparison that users need: all learners, those of others, on the same data sets."""
