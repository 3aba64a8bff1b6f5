"""A repository whose names and texts try to become markup or script in a page that shows them.

In: an empty folder. Out: the target's path. Whatever runs sets `window.sprung`.
"""

from __future__ import annotations

from pathlib import Path

SPRING = "window.sprung = 1"
FOLDER = f"<img src=x onerror='{SPRING}'>"
TARGET = f'{FOLDER}/a&b"c.py'
TARGET_TEXT = f'''
"""</script><script>{SPRING}</script> <!-- <script> """
from lib import fetch, Store


def look(kind):
    """<img src=x onerror="{SPRING}"> ]]> --> \u2028 \u2029 `${{{SPRING}}}` &lt; </textarea></title></style>"""
    store = Store("</script><svg onload='{SPRING}'>")
    getattr(store, "do_" + kind)("javascript:{SPRING}", f"<{{kind}}>")
    return fetch(store, page="<iframe srcdoc='<script>parent.{SPRING}</script>'>")


def __proto__():
    return look("constructor")
'''
LIBRARY_TEXT = f'''
WORDS = {{"__proto__": "</script>", "<b>": "{SPRING}"}}


class Store:
    """<style>* {{ display: none }}</style><script>{SPRING}</script>"""

    def __init__(self, name="<script>{SPRING}</script>"):
        self.name = name

    def do_a(self, link, shown): ...
    def do_b(self, link, shown): ...


def fetch(store, *, page="</script><script>{SPRING}</script>"):
    """Fetch \x1b[31m <a href='javascript:{SPRING}'>this</a>."""
    first = WORDS.get(store.name, "<script>")
    second = WORDS.get(page, "</script>")
    return constructor(first, second)


def constructor(first, second):
    return [first, second] * 3
'''


def build_hostile_page_repository(folder: Path) -> str:
    """Fills the folder. Out: the edit target."""
    (folder / FOLDER).mkdir(parents=True)
    (folder / TARGET).write_text(TARGET_TEXT, encoding="utf-8")
    (folder / "lib.py").write_text(LIBRARY_TEXT, encoding="utf-8")
    return TARGET
