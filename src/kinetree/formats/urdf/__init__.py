"""URDF: the document as it stands, and the model that it describes."""
