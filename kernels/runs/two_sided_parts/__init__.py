"""Parts of the experiment two-sided: gates, models, training, what is counted and said."""
