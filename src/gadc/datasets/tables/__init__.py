"""Your own graph from two tables: one row per edge, one row per node.

    _from_tables   `from_tables`
    _bipartite     `from_bipartite_tables`, two node tables as one
    _relations     several kinds of edges in one table
    _reading       the whole way from two tables to `Data`
    _columns       which columns are read as ends, weight, id, label and features
    _files         opens files and data frames
    _dialect       how a text file is written: separator, quote, encoding, decimal mark
    _workbooks     sheets of Excel workbooks
    _databases     `from_database`, tables that queries return
    _table         one table, read lazily, and its errors
    _ids           node ids and their positions
    _matching      edges as pairs of positions: unknown and empty ends, unusable weights
    _problems      all problems of the tables in one error, and what is repaired
    _edges         self-loops, duplicates and directions
    _features      the feature matrix
    _categories    which text columns become categories
    _dates         dates as numbers
    _scales        units of features
    _times         times of edges: which are read, and how much an old one counts
    _expressions   weights as expressions of columns
    _weights       edge weights that span many orders of magnitude
    _preparation   how columns become features, stored to read other tables in the same way
    _labels        the classes
    _numbers       text columns as numbers
    _values        text as numbers, values as codes
    _report        `TableError` and `TableReport`
    _inspection    finds the two tables of a folder and their columns
    _writers       `write_tables`, the way back

The public names are in `gadc.datasets`.
"""
