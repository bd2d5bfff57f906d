"""The formula that sorts candidates without a model, for whoever has their scores."""
