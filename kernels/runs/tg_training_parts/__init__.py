"""Parts of the experiment tg-training."""
