"""The settings of open() and dedup(): flags of firstseen dedup, for checkers of types."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Size: TypeAlias = Union[int, str]  # bytes, or such as "1GiB"


class Limit(TypedDict, total=False):
    """The limits of a run; see --limit."""

    record: Size
    window: Size
    ratio: int
    bad: int
    unreadable: int
    checkpoint: str
    full: Literal["grow", "stop", "warn"]


class Settings(TypedDict, total=False):
    """Flags of firstseen dedup that both functions take. None and False leave a flag out."""

    method: str
    threshold: float | None
    verify: bool | str
    passages: bool | int
    same_id: Literal["keep", "replace", "keep:again=drop"]
    docs: int | str
    memory: Size
    filter_only: bool
    against: Path | Sequence[Path]
    batch: str
    limit: Limit | str
    report: Path
    spans: bool
    rejects: Path
    summary: Path | None
    jobs: int


class FileSettings(Settings, total=False):
    """Flags of firstseen dedup about files, for dedup()."""

    index: Path | None
    out: Path
    out_dir: Path
    split: str
    annotate: bool
    format: str
    text_field: str | Sequence[str]
    id_field: str
    encoding: str
    prefer: str
    remove_within: str
