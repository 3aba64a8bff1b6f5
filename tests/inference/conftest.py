"""What the property tests share: programs may nest deep, and caps can be made tight."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.inference.fuzzing import tighten
from tests.inference.programs import allow_deep_programs


@pytest.fixture(autouse=True, scope="module")
def deep_programs() -> Iterator[None]:
    with allow_deep_programs():
        yield


@pytest.fixture
def tight_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small programs pass no cap. With tight ones they pass all of them."""
    tighten(monkeypatch)
