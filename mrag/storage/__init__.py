"""Files that tell when they are damaged: indexes with checksums and a manifest, and journals.

| module | what it has |
|---|---|
| `files` | files written whole and synced, for their owner alone; locks, journals, temporary folders |
| `arrays` | many arrays in one file whose blocks are checked when they are first read |
| `folder` | a folder of segments with the manifest that names them, put in place last; a check of all |
| `sorting` | rows in order, of which some are in memory |
"""
