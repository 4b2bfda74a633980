"""Parts of the experiment ``depth``: deep networks, what theory predicts of them, gates in residual networks."""
