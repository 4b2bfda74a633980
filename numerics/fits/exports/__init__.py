"""What a fit is exported to."""
