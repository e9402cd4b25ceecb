"""Named data sets: from a name to checked files to `Data`.

    _loading            `load`
    _registry           all data sets: `names`, `register`, and the `DatasetRecord` of each
    _records            what is on record about one data set
    _cards              `card`: a data set measured, with source, citations and known defects
    _sources            finds files: data folder, user cache, download
    _remote             public addresses, and the download
    _checksums          SHA-256 of every published file
    _readers/           one reader per published format
    _made               graphs that functions of plug-ins return
    _raw_graph          what a reader returns: plain arrays
    _states             what can be loaded here and now
    _store              parsed arrays in the user cache
    _splits, _roles     published splits and splits drawn by seed
    _published_attacks  attacked graphs that others published
    _errors             `ChecksumError` and `DatasetNotFoundError`

The public names are in `gadc.datasets`.
"""
