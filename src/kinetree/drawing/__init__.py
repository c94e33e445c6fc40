"""Pictures, with Matplotlib, the extra ``plot``: curves, motions, stick figures, torques, fits."""
