"""A growing tree that follows changes: it monitors its errors, and grows alternate subtrees where they rise."""
