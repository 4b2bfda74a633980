"""Claims on code: functions of NumPy, PyTorch, JAX or plain Python held against formulas."""
