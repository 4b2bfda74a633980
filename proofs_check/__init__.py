"""What is decided: the claim language, verdicts, certificates, reports, the command line."""
