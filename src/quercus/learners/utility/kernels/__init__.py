"""The compiled steps of a utility tree; ``docs/utility.md`` tells each."""
