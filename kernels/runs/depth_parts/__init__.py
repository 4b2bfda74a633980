"""Parts of the experiment ``depth``: deep networks, what theory predicts, gates in residual networks."""
