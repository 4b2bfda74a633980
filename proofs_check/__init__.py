"""What is decided: claims, verdicts, certificates, reports, the command line."""
