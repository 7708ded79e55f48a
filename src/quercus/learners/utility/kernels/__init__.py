"""The compiled steps of a utility tree (Rahbar et al., 2023); ``docs/utility.md`` tells each."""
