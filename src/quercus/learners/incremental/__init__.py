"""The engine that grows trees from a stream: nodes, leaf statistics, split rules. Its semantics: ``docs/engine.md``."""
