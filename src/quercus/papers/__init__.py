"""The experiments of the papers, one package per paper."""
