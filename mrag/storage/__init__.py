"""Files that tell when they are damaged: indexes with checksums and a manifest, and journals.

| module | what it has |
|---|---|
| `files` | files written whole and synced, readable by their owner alone; locks |
| `blocks` | a file whose blocks are checked when they are first read |
| `arrays` | many arrays in one such file |
| `folder` | a folder of such files with the manifest that names them, put in place last |
| `private` | the rights of files that other libraries write |
| `saving` | files that a person names, there whole or not at all |
| `sealed` | one file of arrays with a checksum |
| `journal` | records that are on disk once written, each with its checksum |
| `scratch` | temporary folders that do not outlive their process |
| `check` | reads all of them through, as `mrag doctor --deep` does |
"""
