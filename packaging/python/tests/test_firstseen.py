"""The module against the program: python -m unittest, with FIRSTSEEN_BINARY or an installed wheel."""

import decimal
import importlib.util
import itertools
import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path

import firstseen

# Texts with other numbers have no run of words in common.
TEXT = "The{0} first{0} sentence{0} stands{0} here{0}, then{0} there{0} is{0} a{0} second{0} one{0}; a{0} third{0} closes{0} text{0}."


def texts(n):
    return [TEXT.format(i) for i in range(n)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A firstseen serve with an index in a folder."""

    def __init__(self, folder, *more):
        self.address = f"unix:{folder}/lines"
        command = [firstseen.find(), "serve", f"--index={folder}/served", "--docs=1000", f"--lines={self.address}", *more]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if os.path.exists(f"{folder}/lines") or self.process.poll() is not None:
                break
            time.sleep(0.05)

    def close(self):
        self.process.terminate()
        assert self.process.wait() == 0


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def open(self, **settings):
        return firstseen.open(self.folder / "seen", docs=1000, **settings)


class SeeTest(Case):
    def test_kinds_of_documents_in_order(self):
        a, b = texts(2)
        docs = [{"id": "x", "text": a, "other": object()}, ("y", a), b, a.upper(), (7, b)]
        with self.open() as fs:
            got = list(fs.see(docs))
        self.assertEqual([v.kept for v in got], [True, False, True, False, False])
        self.assertEqual([v.of for v in got], [None, "x", None, "x", "stdin:3"])
        self.assertEqual([v.score for v in got], [None, 1, None, 1, 1])
        self.assertTrue(all(v.doc is doc for v, doc in zip(got, docs)))

    def test_threshold(self):
        a = " ".join(f"word{i}" for i in range(100))
        b = " ".join(f"word{i}" if i % 12 else f"other{i}" for i in range(100))
        for threshold, kept in (0.3, False), (0.95, True):
            with firstseen.open(docs=1000, threshold=threshold) as fs:
                self.assertEqual([v.kept for v in fs.see([a, b])], [True, kept])

    def test_an_index_remembers_and_answers_again(self):
        docs = [(i, t) for i, t in enumerate(texts(10))]
        with self.open() as fs:
            list(fs.see(docs))
        with self.open() as fs:
            again = list(fs.see(docs))
            self.assertTrue(all(v.kept and v.again for v in again))
            self.assertEqual([v.of for v in again], [str(i) for i, _ in docs])
            self.assertFalse(fs.one(("new", docs[3][1])).kept)
        with self.open(same_id="keep:again=drop") as fs:
            self.assertFalse(any(v.kept for v in fs.see(docs)))

    def test_bad_records_are_verdicts(self):
        with self.open() as fs:
            bad, lone, good = fs.see([{"id": 1, "text": None}, "half \ud800 of a pair", texts(1)[0]])
        self.assertEqual((bad.verdict, bad.kept, good.kept), ("bad", False, True))
        self.assertIn("text", bad.reason)
        self.assertFalse(lone.verdict == "bad" and lone.reason is None)

    def test_rows_without_a_text_are_counted_and_warned_of(self):
        rows = {"id": [1, 2, 3], "body": [texts(1)[0], None, float("nan")]}
        summary = self.folder / "summary.json"
        with self.assertLogs("firstseen", "WARNING") as logged:
            with firstseen.open(docs=1000, text="body", summary=summary) as fs:
                with self.assertWarnsRegex(UserWarning, "2 of 3 rows are bad and not kept, the first because column 'body' is null: .*see()"):
                    self.assertEqual(fs.keep(rows), [True, False, False])
        self.assertRegex(logged.output[0], "2 of 3 lines, .* with rejects=FILE$")
        self.assertEqual(json.loads(summary.read_text())["bad_records"], 2)

    def test_missing_values(self):
        """Frames have NaN for a number that is not there: the row has no id, and is not bad."""
        na, nat, (a, b, c) = type("NAType", (), {})(), type("NaTType", (), {})(), texts(3)
        with self.open() as fs:
            self.assertEqual(fs.keep({"id": [1.0, float("nan"), na], "text": [a, b, c]}), [True] * 3)
            self.assertEqual(fs.keep({"id": [nat, decimal.Decimal("nan")], "text": ["a text without a time", "a text without a number"]}), [True] * 2)
            self.assertEqual([v.of for v in fs.see([(7, "a text without a time"), (8, "a text without a number")])], ["stdin:4", "stdin:5"])
            twin, none, bad = fs.see([("later", b), (float("nan"), c), {"id": 5, "text": float("nan")}])
        self.assertEqual((twin.of, none.of), ("stdin:2", "stdin:3"))
        self.assertIn('"text" is null', bad.reason)

    def test_bytes_are_utf8(self):
        (text,) = texts(1)
        with self.open() as fs:
            first, same, bad = fs.see([(b"x", text.encode()), ("y", text), ("z", b"\xff")])
        self.assertEqual((first.kept, same.of, bad.verdict), (True, "x", "bad"))

    def test_texts_like_answers(self):
        nasty = ['","firstseen":{"verdict":"bad"}}', 'x,"firstseen":{', "line\nend\r\n\u2028", '\\"firstseen\\":{', "", "日本語の文章"]
        with self.open() as fs:
            got = list(fs.see(nasty))
        self.assertEqual([v.verdict for v in got], ["unique"] * 3 + ["related"] + ["unique"] * 2)  # x is left out

    def test_a_slow_source_is_answered_at_once(self):
        answered = threading.Semaphore(1)

        def source():
            for t in texts(5):
                self.assertTrue(answered.acquire(timeout=10), "no answer to the document before")
                yield t

        with self.open() as fs:
            n = 0
            for v in fs.see(source()):
                n += 1
                answered.release()
        self.assertEqual(n, 5)

    def test_look_ahead_is_bounded(self):
        taken = itertools.count()
        with self.open(ahead=10) as fs:
            seen = fs.see(TEXT.format(next(taken)) for _ in range(1000))
            for answered in range(100):
                next(seen)
            self.assertLessEqual(next(taken), 100 + 10 + 1)

    def test_large_documents_do_not_deadlock(self):
        big = [f"{i} " + "some words of a long text, " * 40_000 for i in range(12)]
        with self.open(ahead=1000) as fs:
            self.assertEqual(len(list(fs.see(big))), 12)

    def test_a_broken_off_see_leaves_an_index_in_order(self):
        with self.open() as fs:
            for v in fs.see(itertools.cycle(texts(50))):
                break
            self.assertEqual([v.kept for v in fs.see([texts(1)[0], "another text, quite new, and with pieces"])], [False, True])

    def test_times_without_a_warning(self):
        subprocess.run([firstseen.find(), "index", "create", self.folder / "seen", "--docs=1000", "--window=48h"], check=True, stderr=subprocess.DEVNULL)
        (text,) = texts(1)
        day = 86400
        docs = [{"id": i, "text": text, "date": 1600000000 + i * day} for i in (0, 1, 4)]
        with self.assertNoLogs("firstseen"), firstseen.open(self.folder / "seen", time="date") as fs:
            self.assertEqual([v.kept for v in fs.see(docs)], [True, False, True])
            columns = {name: [doc[name] for doc in docs] for name in docs[0]}
            columns["date"] = [when + 10 * day for when in columns["date"]]
            self.assertEqual(fs.keep(columns), [True, False, True])

    def test_one_see_at_a_time(self):
        with self.open() as fs:
            first = fs.see(texts(3))
            next(first)
            with self.assertRaisesRegex(firstseen.Error, "another see"):
                list(fs.see(texts(3)))
            first.close()
            self.assertEqual(len(list(fs.see(texts(3)))), 3)

    def test_close_ends_a_see(self):
        with self.open() as fs:
            seen = fs.see(itertools.cycle(texts(50)))
            next(seen)
            fs.close()
            with self.assertRaisesRegex(firstseen.Error, "close.. ended this see"):
                list(seen)
        with self.open() as fs:
            for v in fs.see(["the last text"]):
                fs.close()
            with self.assertRaisesRegex(firstseen.Error, "it is closed"):
                fs.one("a text after it")

    def test_a_failing_source_raises_after_its_answers(self):
        def source():
            yield from texts(3)
            raise ZeroDivisionError

        with self.open() as fs:
            got = []
            with self.assertRaises(ZeroDivisionError):
                for v in fs.see(source()):
                    got.append(v.kept)
            self.assertEqual(got, [True] * 3)
            self.assertFalse(fs.one(("again", texts(1)[0])).kept)


class FailureTest(Case):
    def test_a_child_that_dies_raises(self):
        fs = self.open()
        with self.assertRaises(firstseen.Error) as caught:
            for v in fs.see(itertools.cycle(texts(100))):
                os.kill(fs._link._program.pid, signal.SIGKILL)
        self.assertEqual(caught.exception.code, -9)
        with self.assertRaises(firstseen.Error):
            fs.one("more")
        with self.assertRaises(firstseen.Error):
            fs.close()

    def test_words_of_the_program(self):
        self.open().close()
        with self.assertRaisesRegex(firstseen.Error, "method"):
            with self.open(method="exact") as fs:
                fs.one("text")
        with self.assertRaisesRegex(firstseen.Error, "thresh"):
            with self.open(threshold=7) as fs:
                fs.one("text")

    def test_no_program(self):
        old = os.environ.get("FIRSTSEEN_BINARY")
        os.environ["FIRSTSEEN_BINARY"] = "/nowhere/firstseen"
        try:
            with self.assertRaisesRegex(firstseen.Error, "install the wheel"):
                self.open()
        finally:
            os.environ.pop("FIRSTSEEN_BINARY")
            if old:
                os.environ["FIRSTSEEN_BINARY"] = old

    def test_interrupted_it_continues(self):
        script = textwrap.dedent("""
            import itertools, sys, firstseen
            with firstseen.open(sys.argv[1], docs=1000) as fs:
                docs = ((i, f"The sentence {i}, with a second piece {i}, and a third piece of {i}.") for i in itertools.count())
                for v in fs.see(docs):
                    print(v.doc[0], v.kept, flush=True)
        """)
        index = str(self.folder / "seen")
        command = [sys.executable, "-c", script, index]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        lines = [child.stdout.readline() for _ in range(500)]
        os.killpg(child.pid, signal.SIGINT)
        rest, errors = child.communicate(timeout=30)
        self.assertIn(b"KeyboardInterrupt", errors)
        answered = [int(line.split()[0]) for line in lines + rest.splitlines() if re.fullmatch(rb"\d+ True\n?", line)]
        self.assertGreaterEqual(len(answered), 500)
        with firstseen.open(index) as fs:
            docs = [(i, f"The sentence {i}, with a second piece {i}, and a third piece of {i}.") for i in answered]
            self.assertTrue(all(v.again for v in fs.see(docs)))

    def test_the_program_ends_without_close(self):
        fs = self.open()
        fs.one(("a", texts(1)[0]))
        program = fs._link._program
        with self.assertWarns(ResourceWarning):
            del fs
        self.assertEqual(program.wait(timeout=30), 0)

    def test_a_fork_does_not_hold_up_the_end(self):
        fs = self.open()
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        start = time.monotonic()
        fs.close()
        self.assertLess(time.monotonic() - start, 30)

    def test_forks_and_pickles_are_refused(self):
        with self.open() as fs:
            self.assertEqual(pickle.dumps(fs.keep), pickle.dumps(fs.keep))  # as caches compare it
            with self.assertRaisesRegex(firstseen.Error, "connect"):
                pickle.loads(pickle.dumps(fs.keep))({"text": texts(1)})
            pid = os.fork()
            if pid == 0:
                try:
                    fs.one("text")
                except firstseen.Error:
                    os._exit(7)
                os._exit(0)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)


class ServerTest(Case):
    def test_connect(self):
        server = Server(self.folder)
        self.addCleanup(server.process.kill)
        docs = [(f"d{i}", t) for i, t in enumerate(texts(300))]
        with firstseen.connect(server.address) as fs:
            got = list(fs.see(docs + [(f"e{i}", t) for i, t in enumerate(texts(300))]))
            self.assertEqual([v.kept for v in got], [True] * 300 + [False] * 300)
            self.assertEqual([v.of for v in got[300:]], [id for id, _ in docs])
            with pickle.loads(pickle.dumps(fs)) as copy:  # as in another process
                self.assertTrue(copy.one(docs[0]).again)
                self.assertEqual(copy.one(("new", docs[1][1])).of, "d1")
            for rows in {"text": ["one"]}, {"id": ["x", None], "text": ["one", "two"]}:
                with self.assertRaisesRegex(firstseen.Error, "needs an id"):
                    fs.keep(rows)
            with firstseen.connect(server.address) as other:
                seen = other.see(itertools.cycle(docs))
                next(seen)
                other.close()
                with self.assertRaisesRegex(firstseen.Error, "close.. ended this see"):
                    list(seen)
            server.close()
            with self.assertRaisesRegex(firstseen.Error, "closed the connection"):
                list(fs.see(docs))
        server = Server(self.folder)
        self.addCleanup(server.close)
        with firstseen.connect(server.address) as other:  # a cache must not answer for it
            self.assertFalse(other.one(("after", docs[2][1])).kept)
            self.assertNotEqual(pickle.dumps(other.keep), pickle.dumps(fs.keep))

    def test_close_ends_the_connection(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{self.folder}/lines")
            listener.listen()
            fs = firstseen.connect(f"unix:{self.folder}/lines")
            with listener.accept()[0] as server:
                server.settimeout(10)
                fs.close()
                self.assertEqual(server.recv(1), b"")

    def test_a_fork_in_the_middle_has_its_own_connection(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        with firstseen.connect(server.address) as fs:
            for v in fs.see([("a", texts(1)[0]), ("b", texts(2)[1])]):
                pid = os.fork()
                if pid == 0:
                    try:
                        os._exit(7 if fs.one(("fork", texts(1)[0])).of == "a" else 1)
                    finally:
                        os._exit(2)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)

    def test_no_server(self):
        for address in "unix:/nowhere/lines", "tcp:1", "lines", f"http://127.0.0.1:{free_port()}":
            with self.assertRaisesRegex(firstseen.Error, "start the server|give unix:"):
                firstseen.connect(address)

    def test_a_server_reads_no_times(self):
        with self.assertRaisesRegex(TypeError, "time"):
            firstseen.connect("unix:/nowhere/lines", time="date")


    def test_http(self):
        address, token = f"http://127.0.0.1:{free_port()}", self.folder / "token"
        token.write_text("0123456789abcdef0123456789abcdef")
        server = Server(self.folder, f"--listen={address[7:]}", f"--token-file={token}")
        self.addCleanup(server.close)
        with self.assertRaisesRegex(firstseen.Error, "401"):
            firstseen.connect(address, token="another token")
        docs = [(f"d{i}/ä", t) for i, t in enumerate(texts(2500))]
        with firstseen.connect(address, token=token.read_text()) as fs:
            self.assertEqual([v.kept for v in fs.see(docs + [("e", texts(1)[0])])], [True] * 2500 + [False])
            bad, new, old = fs.query([{"id": "x"}, ("y", "another text, quite new, and with pieces"), ("z", docs[7][1])])
            self.assertEqual((bad.verdict, bad.kept, new.kept, old.of), ("bad", False, True, "d7/ä"))
            self.assertEqual(fs.stats()["table"]["documents"], 2500)
            self.assertEqual((fs.forget("d7/ä", "none"), fs.forget("d7/ä")), (1, 0))
            self.assertTrue(fs.one(("f", docs[7][1])).kept)
            with pickle.loads(pickle.dumps(fs)) as copy:
                self.assertEqual(copy.one(("g", docs[7][1])).of, "f")
        with self.assertRaisesRegex(firstseen.Error, "closed"):
            fs.one("a text after it")

    def test_a_socket_for_lines_has_no_questions(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        with firstseen.connect(server.address) as fs:
            with self.assertRaisesRegex(firstseen.Error, "connect..http"):
                fs.stats()


class QuestionTest(Case):
    def test_query_forget_and_stats(self):
        docs = [(i, t) for i, t in enumerate(texts(30))]
        with self.open() as fs:
            list(fs.see(docs))
            bad, new, old = fs.query([(1, None), ("new", "another text, quite new, and with pieces"), ("x", docs[7][1])])
            self.assertEqual((bad.verdict, bad.kept, new.kept, old.kept, old.of), ("bad", False, True, False, "7"))
            self.assertTrue(fs.one(("new", "another text, quite new, and with pieces")).kept)
            self.assertEqual(fs.stats()["table"]["documents"], 31)
            self.assertEqual((fs.forget(7, "none"), fs.forget("-7")), (1, 0))
            self.assertTrue(fs.one(("x", docs[7][1])).kept)
            seen = fs.see(docs)
            next(seen)
            with self.assertRaisesRegex(firstseen.Error, "another see"):
                fs.stats()
            seen.close()
        with firstseen.open(docs=1000) as fs, self.assertRaisesRegex(firstseen.Error, "needs an index"):
            fs.query(["a text"])

    def test_several_fields(self):
        a, b = texts(2)
        docs = [{"id": 1, "title": a, "body": b}, {"id": 2, "body": b, "title": a}, {"id": 3, "title": None, "body": float("nan")}, {"id": 4, "title": 7}]
        with self.open(text=["title", "body"]) as fs:
            got = list(fs.see(docs))
            self.assertEqual([v.verdict for v in got], ["unique", "duplicate", "bad", "bad"])
            self.assertTrue(fs.query([("x", f"{a}\n{b}")])[0].fields["exact"])
            rows = {"id": [5, 6], "title": [a, "another text, quite new, and with pieces"], "body": [b, None]}
            self.assertEqual(fs.keep(rows), [False, True])

    def test_progress(self):
        told = []
        with self.open() as fs:
            list(fs.see([*texts(3), *texts(2)], progress=lambda *counts: told.append(counts)))
        self.assertEqual(told, [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3)])

    def test_settings(self):
        """Each flag of dedup is a typed setting, or belongs to the module."""
        from firstseen import _settings

        usage = subprocess.run([firstseen.find(), "dedup", "--help"], capture_output=True, text=True, check=True).stdout
        named = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", usage, re.M)) - {"help", "quiet", "verbose", "config"}
        self.assertGreater(len(named), 10)
        settings = set(_settings.FileSettings.__annotations__) | set(_settings.Settings.__annotations__)
        self.assertEqual({n for n in named if n.replace("-", "_") not in settings}, set())
        with self.assertRaises(firstseen.Error) as caught, firstseen.open(docs=1000, limit={"bad": 0, "full": "grow"}) as fs:
            list(fs.see([(1, None), *texts(3)]))
        self.assertEqual(caught.exception.code, 5)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed; .ci/run gets it, or says that it could not")
    def test_types(self):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.folder, *firstseen.__path__, Path(__file__).with_name("typed.py")]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


class DedupTest(Case):
    def test_files(self):
        lines = [json.dumps({"id": i, "text": t}) for i, t in enumerate(texts(5) + texts(5))]
        (self.folder / "in.jsonl").write_text("\n".join(lines) + "\nnonsense\n")
        with self.assertLogs("firstseen", "WARNING") as logged:
            summary = firstseen.dedup(str(self.folder / "*.jsonl"), out=self.folder / "kept.jsonl", report=self.folder / "dups.jsonl")
        self.assertRegex(logged.output[0], "1 of 11 lines, the first .* with rejects=FILE$")
        self.assertEqual((summary["kept"], summary["removed"], summary["bad_records"]), (5, 5, 1))
        self.assertEqual((self.folder / "kept.jsonl").read_text().splitlines(), lines[:5])
        for _ in range(2):  # the second run is over, and has its summary, too
            once = firstseen.dedup(self.folder / "in.jsonl", out=self.folder / "once.jsonl", index=self.folder / "once")
            self.assertEqual((once["documents"], once["kept"], once["bad_records"]), (10, 5, 1))
        with self.assertRaisesRegex(firstseen.Error, "nothing.jsonl") as caught:
            firstseen.dedup(self.folder / "nothing.jsonl", out=self.folder / "x.jsonl")
        self.assertIn(caught.exception.code, (1, 2))

    def test_a_finished_run_gives_its_summary(self):
        (self.folder / "in.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts(5) + texts(5)))
        for _ in range(2):
            summary = firstseen.dedup(self.folder / "in.jsonl", out=self.folder / "kept.jsonl", index=self.folder / "seen", docs=1000, summary=None)
            self.assertEqual((summary["kept"], summary["removed"]), (5, 5))

    def test_howto(self):
        """The code of the how-to runs, and prints what it should."""
        page = (Path(__file__).parents[3] / "docs" / "howto.md").read_text(encoding="utf-8")
        pieces = re.findall(r"```python\n(.*?)```", page.split("\n## Python\n")[1].split("\n## ")[0], re.S)
        (self.folder / "in").mkdir()
        (self.folder / "in" / "a.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts(3) + texts(2)))
        pieces[1] += textwrap.dedent("""
            import firstseen

            async def main():
                with firstseen.open("notes/") as fs:
                    async for v in verdicts(fs, ["A note of an agent, with pieces."] * 2):
                        print(v.verdict)

            asyncio.run(main())
        """)
        got = [subprocess.run([sys.executable, "-c", p], cwd=self.folder, capture_output=True, text=True, check=True).stdout for p in pieces]
        self.assertEqual(got, ["store ('a', 'A text of some length, with pieces.')\nduplicate of a 1\n", "unique\nduplicate\n", "3 2\n"])

    def test_the_adapters_of_the_howto_need_one_import(self):
        code = "import firstseen; print(callable(firstseen.adapters.frame))"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout, "True\n")

    def test_main(self):
        done = subprocess.run([sys.executable, "-m", "firstseen", "--version"], capture_output=True, text=True)
        self.assertTrue(done.stdout.startswith("firstseen "), done)
        self.assertEqual(subprocess.run([sys.executable, "-m", "firstseen", "dedup", "--nonsense"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
