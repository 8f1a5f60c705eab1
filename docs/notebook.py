"""Executes the cells of ``notebook.ipynb`` anew and keeps what they show: ``make notebook``."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

path = Path(__file__).with_suffix(".ipynb")
notebook = nbformat.read(path, as_version=4)
NotebookClient(notebook, record_timing=False, resources={"metadata": {"path": str(path.parent)}}).execute()
notebook.metadata.pop("widgets", None)
notebook.metadata.language_info = {"name": "python"}  # without the version of who executed it last
nbformat.write(notebook, path)
