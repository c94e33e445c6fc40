"""Identifiable parameters: base parameters, their regressor, and what joints do by themselves."""
