"""The model: a few flat arrays, what predicts from them, and the model file."""
