"""Load catalogs, bundles, repositories, package manifests and releases.yaml into the model.

`catalog_loader.load` is the entry point; `source_positions.locate` finds the line of a finding.
"""
