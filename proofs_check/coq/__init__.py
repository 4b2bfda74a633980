"""Theorems in Coq from range certificates and statements, for coqc with coq-interval."""
