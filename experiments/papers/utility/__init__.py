"""Rahbar, Ye, Chen & Haghir Chehreghani, "Efficient Online Decision Tree Learning with Active Feature Acquisition"."""
