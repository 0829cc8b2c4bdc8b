"""Parse and write YAML and JSON as opm does, and find the position of a value in the text.

`yaml_parser` and `json_parser` parse; `yaml_writer` writes; `positions` finds positions. `yaml_subset`,
`yaml_outline` and `yaml_search` are faster than the parser for the layouts that tools write.
"""
