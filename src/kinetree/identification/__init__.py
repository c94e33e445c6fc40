"""Identification: which parameters of a robot its motions tell, and what they are."""

from kinetree.identification.base_parameters import BaseParameters, base_parameters

__all__ = ["BaseParameters", "base_parameters"]
