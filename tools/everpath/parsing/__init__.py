"""Parse and write YAML and JSON as opm does, and find the position of a value in the text.

`yaml_parser` and `json_parser` parse; `yaml_writer` writes. `value_search` and `value_index` find positions.
`yaml_subset` and `yaml_outline` are faster than the parser for the layouts that tools write.
"""
