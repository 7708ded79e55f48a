"""How trees follow changes, and what watching for them costs where there are none."""
