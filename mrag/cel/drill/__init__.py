"""DRILL: refinement led by a network trained by reinforcement learning."""
