"""Garlapati, Raghunathan, Nagarajan & Ravindran (2015): the data and measures of their figures."""
