"""The adapters against the real libraries, each where it is installed. Run by hand:

    pip install datasets pandas polars pyarrow "datatrove[processing]" scrapy "ray[data]"
    python packaging/python/tests/adapters.py -v
"""

import importlib.util
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import firstseen
from firstseen import adapters
from test_firstseen import Server, texts

os.environ["RAY_AUTH_MODE"] = "disabled"  # else Ray writes a token into the home folder
ROWS = texts(20) + texts(10)
KEPT = [True] * 20 + [False] * 10


def needs(*names):
    missing = [n for n in names if importlib.util.find_spec(n) is None]
    return unittest.skipIf(missing, f"not installed: {missing}")


class AdapterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.fs = firstseen.open(docs=1000)
        self.addCleanup(self.fs.close)
        warnings.simplefilter("ignore")

    def server(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        return server.address

    @needs("datasets")
    def test_datasets(self):
        import datasets

        rows = datasets.Dataset.from_dict({"text": ROWS, "n": list(range(30))})
        self.assertEqual(rows.filter(self.fs.keep, batched=True, batch_size=7)["n"][:], list(range(20)))
        with self.assertNoLogs("datasets.fingerprint", "WARNING"):  # of a random hash
            rows.filter(self.fs.keep, batched=True)
        with self.assertRaisesRegex(Exception, "connect"):
            rows.filter(self.fs.keep, batched=True, num_proc=2)
        rows = rows.add_column("id", [str(i) for i in range(30)])
        with firstseen.connect(self.server()) as fs:
            kept = rows.filter(fs.keep, batched=True, batch_size=5, num_proc=2)
            self.assertEqual((len(kept), set(kept["text"])), (20, set(ROWS)))

    @needs("pandas")
    def test_pandas(self):
        import pandas

        rows = pandas.DataFrame({"id": range(30), "text": ROWS}, index=range(100, 130))
        self.assertEqual(list(adapters.frame(self.fs, rows)["id"]), list(range(20)))
        self.assertEqual(adapters.frame(self.fs, rows[:0]).shape, (0, 2))
        more = type("More", (pandas.DataFrame,), {})(rows)  # as in geopandas
        self.assertEqual(adapters.frame(self.fs, more).shape, (20, 2))

    @needs("polars")
    def test_polars(self):
        import polars

        rows = polars.DataFrame({"id": range(30), "text": ROWS})
        self.assertEqual(adapters.frame(self.fs, rows)["id"].to_list(), list(range(20)))

    @needs("pyarrow")
    def test_pyarrow(self):
        import pyarrow

        rows = pyarrow.table({"id": list(range(30)), "text": ROWS})
        self.assertEqual(adapters.frame(self.fs, rows)["id"].to_pylist(), list(range(20)))
        again = rows.to_batches()[0].slice(20)  # the ids are new, the texts are not
        self.assertEqual(adapters.frame(self.fs, again).num_rows, 0)

    @needs("datatrove")
    def test_datatrove(self):
        from datatrove.data import Document

        step = adapters.datatrove(self.fs)
        kept = list(step.run(Document(text=t, id=str(i)) for i, t in enumerate(ROWS)))
        self.assertEqual([d.id for d in kept], [str(i) for i in range(20)])
        self.assertEqual(step.stats.stats["dropped_duplicate"].total, 10)

        subprocess.run([firstseen.find(), "index", "create", self.folder / "dated", "--docs=1000", "--window=48h"], check=True)
        with firstseen.open(self.folder / "dated", time="date") as fs:
            dated = [Document(text=ROWS[0], id=str(i), metadata={"date": f"2026-11-0{i}T00:00:00Z"}) for i in (1, 2, 5)]
            self.assertEqual([d.id for d in adapters.datatrove(fs).run(dated)], ["1", "5"])

    @needs("scrapy")
    def test_scrapy(self):
        import sys

        (self.folder / "spider.py").write_text(SPIDER)
        index = str(self.folder / "seen")
        done = subprocess.run([sys.executable, "spider.py", index], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertIn("kept 20 dropped 10", done.stdout, done.stderr[-3000:])
        with firstseen.open(index) as fs:  # the index was closed in order
            self.assertFalse(fs.one(("new", ROWS[0])).kept)

    @needs("ray")
    def test_ray(self):
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        self.addCleanup(ray.shutdown)
        rows = ray.data.from_items([{"id": i, "text": t} for i, t in enumerate(ROWS)], override_num_blocks=1)
        kept = rows.map_batches(adapters.Ray, fn_constructor_args=(self.server(),), concurrency=1)
        self.assertEqual(sorted(row["id"] for row in kept.take_all()), list(range(20)))


SPIDER = """
import sys, scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "texts"

    async def start(self):
        yield scrapy.Request("data:text/plain,none")

    def parse(self, response):
        piece = "The first sentence of document {0} stands here, then there is a second one for {0}; the third closes text {0}."
        for i in [*range(20), *range(10)]:
            yield {"text": piece.format(f"number-{i}")}

process = CrawlerProcess({"ITEM_PIPELINES": {"firstseen.adapters.Scrapy": 300}, "FIRSTSEEN": {"index": sys.argv[1], "docs": 1000}, "LOG_LEVEL": "ERROR"})
crawler = process.create_crawler(Spider)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
print("kept", stats.get("item_scraped_count"), "dropped", stats.get("item_dropped_count"))
"""

if __name__ == "__main__":
    unittest.main()
