"""The parts of the experiment language-model."""
