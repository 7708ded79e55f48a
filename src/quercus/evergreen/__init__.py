"""The evergreen tree: rows kept a byte per value, and a tree grown anew from them."""
