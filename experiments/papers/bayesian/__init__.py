"""Rota Bulò & Kontschieder, "Online Learning with Bayesian Classification Trees"."""
