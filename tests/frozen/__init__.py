"""What every learner learns and answers today, stored: the inside of the package may change, this may not."""
