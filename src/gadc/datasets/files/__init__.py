"""Graphs in single files: NumPy archives (.npz), GraphML, edge lists and saved PyTorch Geometric `Data`.

A file is data, never a program: archives are opened without pickle, and a saved `Data` with torch's
`weights_only=True`.
"""
