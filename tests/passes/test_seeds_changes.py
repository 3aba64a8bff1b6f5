"""Diffs: from a patch or two trees to changed lines, from changed lines to symbols."""

from __future__ import annotations

import difflib
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextc.errors import TargetNotFound, UserError
from contextc.passes.seeds.changes import Change, Deletion, find_changed
from contextc.passes.seeds.difference import compare_lines, compare_trees
from contextc.passes.seeds.patch import read_patch
from tests.passes.repository import Repository

TEXT = """
    import os
    from sys import (
        argv,
    )

    LIMIT = 3

    TABLE = {
        "a": 1,
        "b": 2,
    }


    @staticmethod
    def load(name):
        first = name

        def inner():
            return first

        return inner


    class Order:
        size = 1

        def fill(self):
            return self.size

        def drop(self): ...
"""
PATH = "pkg/app.py"
REPO = Repository({PATH: TEXT, "pkg/other.py": "def f(): ...\n"})
OLD = textwrap.dedent(TEXT).lstrip("\n")


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(OLD.splitlines(), 1) if text in line)


def seeds_of(*changes: Change) -> tuple[str, ...]:
    return find_changed(REPO.graph, REPO.texts, changes, "diff").target.symbols


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return first", ("pkg.app:load.<locals>.inner",)),
        ("first = name", ("pkg.app:load", "pkg.app:load.<locals>.inner")),
        ("@staticmethod", ("pkg.app:load", "pkg.app:load.<locals>.inner")),
        ("size = 1", ("pkg.app:Order.size",)),
        ("return self.size", ("pkg.app:Order.fill",)),
        ("LIMIT", ("pkg.app:LIMIT",)),
        ('"b": 2', ("pkg.app:TABLE",)),
        ("import os", ("pkg.app:<module>",)),
        ("argv", ("pkg.app:<module>",)),
    ],
)
def test_a_changed_line_seeds_the_innermost(text: str, expected: tuple[str, ...]) -> None:
    assert seeds_of(Change(PATH, "changed", (line_of(text),))) == expected


def test_an_import_beside_a_function_is_a_mark() -> None:
    change = Change(PATH, "changed", (1, line_of("return self.size")))
    seeds = find_changed(REPO.graph, REPO.texts, [change], "diff")
    assert seeds.target.symbols == ("pkg.app:Order.fill",)
    assert [(mark.path, mark.line) for mark in seeds.marks] == [(PATH, 1)]
    assert seeds.lines == {"pkg.app:Order.fill": (line_of("return self.size"),)}


@pytest.mark.parametrize(
    ("after", "gone", "expected"),
    [
        ("return self.size", "        self.done = True", "pkg.app:Order.fill"),  # the last line of a body
        ("return self.size", "", "pkg.app:Order"),  # a blank line only
        ("return self.size", "    def gone(self): ...", "pkg.app:Order"),
        ("def fill", "        x = 1", "pkg.app:Order.fill"),
        ("return inner", "    x = 1", "pkg.app:load"),
        ("return inner", "def gone(): ...", "pkg.app:<module>"),
        ("}", "@cache", "pkg.app:<module>"),  # two blank lines stand between it and the definition
    ],
)
def test_deleted_lines_count_where_they_stood(after: str, gone: str, expected: str) -> None:
    deletion = Deletion(line_of(after), (gone,))
    assert seeds_of(Change(PATH, "changed", (), (deletion,)))[0] == expected


def test_a_deleted_decorator_was_the_definition_s() -> None:
    deletion = Deletion(line_of("@staticmethod") - 1, ("@cache",))
    assert seeds_of(Change(PATH, "changed", (), (deletion,)))[0] == "pkg.app:load"


def test_new_files_seed_their_definitions() -> None:
    assert seeds_of(Change("pkg/other.py", "new")) == ("pkg.other:f",)


def test_nothing_is_dropped_in_silence() -> None:
    changes = [
        Change("pkg/other.py", "new"), Change("gone.py", "deleted"), Change("README.md", "changed"),
        Change("lost/x.py", "changed"), Change(PATH, "renamed", (6,), (), "pkg/old.py"),
    ]  # fmt: skip
    notes = find_changed(REPO.graph, REPO.texts, changes, "diff").notes
    assert notes == (
        "renamed: pkg/old.py → pkg/app.py", "deleted: gone.py", "changed outside of Python: README.md",
        "changed, but not among the analysed files: lost/x.py",
    )  # fmt: skip
    with pytest.raises(TargetNotFound, match=r"--diff x: no analysed Python code was changed \(deleted: gone\.py\)"):
        find_changed(REPO.graph, REPO.texts, [Change("gone.py", "deleted")], "--diff x")


# ------------------------------------------------------------------------------------------------------------ patches


def patch(old: str, new: str, path: str = PATH, context: int = 3) -> bytes:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}", n=context
    )
    end = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else f"{line}{end}" for line in lines).encode()


def one(data: bytes, texts: dict[str, bytes]) -> Change:
    (change,) = read_patch(data, texts, "--diff x").changes
    return change


NEW = OLD.replace("return self.size\n", "size = self.size\n        return size\n")


@pytest.mark.parametrize("context", [0, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_patch_that_is_applied(end: str, context: int) -> None:
    change = one(patch(OLD, NEW, context=context).replace(b"\n", end.encode()), {PATH: NEW.replace("\n", end).encode()})
    at = line_of("return self.size")
    assert change == Change(PATH, "changed", (at, at + 1))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_patch_with_a_byte_order_mark(encoding: str) -> None:
    data = patch(OLD, NEW).decode().replace("\n", "\r\n").encode(encoding)
    assert one(data, {PATH: NEW.encode()}).touched == one(patch(OLD, NEW), {PATH: NEW.encode()}).touched


def test_a_patch_that_is_not_applied_yet() -> None:
    change = one(patch(OLD, NEW), {PATH: OLD.encode()})
    assert change.touched == (line_of("return self.size"),)
    assert "not applied yet" in change.fault
    notes = find_changed(REPO.graph, REPO.texts, [change], "--diff").notes
    assert notes == (f"{PATH}: the diff is not applied yet; what it is going to change is meant",)


def test_a_hunk_that_has_moved_is_found() -> None:
    assert one(patch(OLD, NEW), {PATH: b"#\n" * 40 + NEW.encode()}).touched[0] == line_of("return self.size") + 40


def test_a_hunk_that_is_nowhere_says_so() -> None:
    change = one(patch(OLD, NEW), {PATH: b"x = 1\n" * 60})
    assert change.touched == (line_of("return self.size"), line_of("return self.size") + 1)
    assert "is not the diff's any more" in change.fault


def test_deletions_and_ends_without_a_newline() -> None:
    gone = OLD.replace("    first = name\n", "")
    change = one(patch(OLD, gone), {PATH: gone.encode()})
    assert change == Change(PATH, "changed", (), (Deletion(line_of("first = name") - 1, ("    first = name",)),))
    assert one(patch("a\nb", "a\nc\n"), {PATH: b"a\nc\n"}).touched == (2,)


def test_new_deleted_renamed_binary_and_quoted_files() -> None:
    data = textwrap.dedent(
        """\
        diff --git a/new.py b/new.py
        new file mode 100644
        index 0000000..e965047
        --- /dev/null
        +++ b/new.py
        @@ -0,0 +1 @@
        +x = 1
        diff --git a/gone.py b/gone.py
        deleted file mode 100644
        index e965047..0000000
        --- a/gone.py
        +++ /dev/null
        @@ -1 +0,0 @@
        -x = 1
        diff --git a/old.py b/moved here.py
        similarity index 100%
        rename from old.py
        rename to moved here.py
        diff --git a/logo.png b/logo.png
        index 1111111..2222222 100644
        Binary files a/logo.png and b/logo.png differ
        diff --git "a/caf\\303\\251 \\"x\\".py" "b/caf\\303\\251 \\"x\\".py"
        index 1111111..2222222 100644
        --- "a/caf\\303\\251 \\"x\\".py"
        +++ "b/caf\\303\\251 \\"x\\".py"
        @@ -1 +1 @@
        -y = 1
        +y = 2
        """
    ).encode()
    name = 'café "x".py'
    read = read_patch(data, {"new.py": b"x = 1\n", "moved here.py": b"", name: b"y = 2\n"}, "-")
    assert read.changes == (
        Change("new.py", "new"), Change("gone.py", "deleted"), Change("moved here.py", "renamed", (), (), "old.py"),
        Change("logo.png", "changed"), Change(name, "changed", (1,)),
    )  # fmt: skip


def test_paths_of_a_subfolder_or_of_the_whole() -> None:
    texts = {"src/pkg/app.py": NEW.encode()}
    assert one(patch(OLD, NEW), texts).path == "src/pkg/app.py"
    assert one(patch(OLD, NEW, "src/pkg/app.py"), {PATH: NEW.encode()}).path == PATH
    both = {"a/pkg/app.py": NEW.encode(), "b/pkg/app.py": NEW.encode()}
    assert one(patch(OLD, NEW), both).path == PATH  # two files can be meant: neither is


def test_what_is_no_diff() -> None:
    with pytest.raises(UserError, match="--diff x: no unified diff"):
        read_patch(b"hello\n", {}, "--diff x")
    with pytest.raises(UserError, match="--diff x: a damaged unified diff"):
        read_patch(b"--- a/x.py\n+++ b/x.py\n@@ -1,9 +1,9 @@\n-a\n", {}, "--diff x")
    merged = b"diff --cc m.py\nindex 1,2..3\n--- a/m.py\n+++ b/m.py\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n"
    assert read_patch(merged, {}, "-").notes == ("a merge's combined diff, which was not read: m.py",)


# -------------------------------------------------------------------------------------------------------------- trees


def test_two_trees() -> None:
    body = "".join(f"line{n} = {n}\n" for n in range(10))
    old = {"same.py": b"a\n", "edit.py": b"a\nb\nc\n", "gone.py": b"q\n", "was.py": body.encode()}
    new = {"same.py": b"a\r\n", "edit.py": b"a\nx\nc\n", "new.py": b"w\n", "is.py": body.encode() + b"more\n"}
    assert compare_trees(old, new) == (
        Change("edit.py", "changed", (2,)), Change("gone.py", "deleted"),
        Change("is.py", "renamed", (11,), (), "was.py"), Change("new.py", "new"),
    )  # fmt: skip


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "d = 1"]), max_size=12)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES)
def test_a_patch_and_the_two_trees_agree(old: list[str], new: list[str]) -> None:
    """Removing what was touched, and putting back what was deleted, leaves lines of both texts; and a patch made of
    the two texts touches lines of the new one alone."""
    change = compare_lines(PATH, old, new)
    kept = [line for number, line in enumerate(new, 1) if number not in change.touched]
    rest = iter(old)
    assert all(line in rest for line in kept)  # what is untouched is a subsequence of the old text
    assert all(0 <= deletion.after <= len(new) for deletion in change.deletions)
    before, after = "".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new)
    if before != after and new:
        read = one(patch(before, after), {PATH: after.encode()})
        assert not read.fault
        assert set(read.touched) <= set(range(1, len(new) + 1))
