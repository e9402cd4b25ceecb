"""What every layer builds on.

- `validation`: checks of user input, with errors that name the rule and the value
- `extras`: errors that name the extra which installs an optional package
- `pairs`: edges as whole numbers
- `memo`: results that are kept within a block
- `persistence`: fitted models as one file without pickle
- `text`: names of users on a terminal or a page
- `tasks`: work as tasks from file to file, on any executor
- `files`: files that appear whole or not at all, and the cache folder
"""
