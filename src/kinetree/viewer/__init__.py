"""Robots in a browser, by viser (the extra ``view``): meshes, sliders, playback, and motions as one HTML file."""
