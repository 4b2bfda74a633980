"""Training runs: paired, seeded experiments in independent jobs that can be stopped at any time."""
