"""Filters for libraries that prepare corpora. The libraries are imported on use.

datasets needs none: ds.filter(fs.keep, batched=True).
"""

from __future__ import annotations

from typing import Any

from ._seen import Seen, connect, open


def frame(fs: Seen, rows: Any) -> Any:
    """Returns the kept rows of a pandas or polars data frame, or of a pyarrow table or batch."""
    if type(rows).__module__.partition(".")[0] != "pyarrow":
        keep = fs.keep(rows)
        return rows.loc[keep] if hasattr(rows, "loc") else rows.filter(keep)
    import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]

    names = rows.schema.names
    return rows.filter(pyarrow.array(fs.keep({n: rows.column(n) for n in names}), pyarrow.bool_()))


def datatrove(fs: Seen) -> Any:
    """Returns a datatrove BaseFilter for one task, or for many tasks with connect()."""
    from datatrove.pipeline.filters.base_filter import BaseFilter  # type: ignore[import-not-found,import-untyped,unused-ignore]

    class Firstseen(BaseFilter):  # type: ignore[misc,unused-ignore]
        name = "firstseen"

        def __init__(self) -> None:
            super().__init__(batch_size=1000)

        def filter_batch(self, batch: list[Any]) -> list[Any]:
            return [v.kept or (False, v.verdict) for v in fs.see((d.id, d.text, d.metadata.get(fs._fields["time"])) for d in batch)]

        def filter(self, doc: Any) -> Any:
            return self.filter_batch([doc])[0]

    return Firstseen()


class Scrapy:
    """An item pipeline: ITEM_PIPELINES = {"firstseen.adapters.Scrapy": 300}.

    FIRSTSEEN is a dict with the arguments of open(), or of connect() if it has an address.
    """

    settings: dict[str, Any]

    @classmethod
    def from_crawler(cls, crawler: Any) -> Scrapy:
        pipeline = cls()
        pipeline.settings = dict(crawler.settings.getdict("FIRSTSEEN"))
        return pipeline

    def open_spider(self, *_: Any) -> None:
        self.fs = connect(**self.settings) if "address" in self.settings else open(**self.settings)

    def process_item(self, item: Any, *_: Any) -> Any:
        from itemadapter import ItemAdapter  # type: ignore[import-not-found,unused-ignore]
        from scrapy.exceptions import DropItem  # type: ignore[import-not-found,import-untyped,unused-ignore]

        v = self.fs.one(ItemAdapter(item))
        if not v.kept:
            raise DropItem(v.reason or f"{v.verdict} of {v.of}")
        return item

    def close_spider(self, *_: Any) -> None:
        self.fs.close()


class Ray:
    """A callable for Ray Data: ds.map_batches(Ray, fn_constructor_args=("unix:…",), concurrency=4).

    All workers share the server at the address.
    """

    def __init__(self, address: str, **settings: Any) -> None:
        self.fs = connect(address, **settings)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        keep = self.fs.keep(batch)
        return {name: column[keep] for name, column in batch.items()}
