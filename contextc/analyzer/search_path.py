"""Where Python code of ours may come from: never from the current folder, which can be the analysed repository.

In: nothing. Out: `sys.path` without the current folder; a library's folder. `python -m` puts the current folder first
in `sys.path`, and so does an empty entry of PYTHONPATH: a folder `json/` or `networkx/` there would be run in place of
the one that is meant. `leave_out_current_folder()` is called before anything else is imported, so this module imports
nothing that isn't loaded when an interpreter starts.
"""

# No `from __future__`: that is an import too.
import os
import sys


def leave_out_current_folder() -> None:
    """Takes the current folder out of `sys.path`, for good. Submodules of a package that was found there still load:
    the package knows its folder. A folder that holds the standard library or site-packages stays."""
    sys.path[:] = trusted_entries()


def trusted_entries() -> list[str]:
    """The entries of `sys.path`, without the current folder under any of its names."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 - pathlib may not be loaded yet
    except OSError:  # it was removed: then "" leads nowhere
        return [entry for entry in sys.path if entry]
    if here in _list_library_folders():
        return list(sys.path)
    return [entry for entry in sys.path if os.path.realpath(entry) != here]


def _list_library_folders() -> set[str]:
    """Real paths of the folders of the standard library and of installed packages."""
    import site

    folders = [os.path.dirname(os.__file__), *site.getsitepackages(), site.getusersitepackages()]  # noqa: PTH120
    return {os.path.realpath(folder) for folder in folders}


def find_library(name: str) -> str | None:
    """The folder that holds a top-level package or module, which is not imported for that; None if there is none."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, trusted_entries())
    if spec is None or not spec.origin:
        return None
    place = os.path.dirname(os.path.abspath(spec.origin))  # noqa: PTH100, PTH120
    return os.path.dirname(place) if spec.submodule_search_locations else place  # noqa: PTH120
