"""HTML reports of single commands, made of the building blocks of `gadc.report`."""
