"""The stages of `gadc.pack`: small functions from file to file, which any executor may run.

_sources    files of the user as tables; text is converted once, so that columns and rows can be taken
_plan       settings, sizes and places of one run
_forecast   memory and disk that a run takes, and the sizes of its pieces
_ids        number the nodes
_edges      rows of edge tables as keys, divided by range of rows of A
_csr        keys of a range of rows as compressed rows, and all ranges as one file
_features   columns of the node table as slabs of X
_labels     the classes
_stages     all of them in order
_summary    counts of the rows, and the manifest
"""
