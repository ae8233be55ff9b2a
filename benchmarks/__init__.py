"""Programs that measure assay itself: ``python -m benchmarks.NAME --json``."""
