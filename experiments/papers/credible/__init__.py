"""Collet & Pietquin, "Bayesian Credible Intervals for Online and Active Learning of Classification Trees"."""
