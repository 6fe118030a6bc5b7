"""Uses of the module that a checker of types accepts, and refuses where a line says so: mypy --strict."""

import firstseen

with firstseen.open("seen", threshold=0.7, limit={"bad": 9, "full": "stop"}, same_id="keep:again=drop", text=["title", "body"]) as fs:
    kept: list[bool] = fs.keep({"title": ["a"], "body": ["b"]})
    again: bool = fs.one("a text").again
firstseen.open(same_id="other")  # type: ignore[arg-type]
firstseen.open(limit={"full": "burst"})  # type: ignore[arg-type]
firstseen.open(tresh=0.7)  # type: ignore[call-arg]
firstseen.dedup("in.jsonl", out="kept.jsonl", text_field=["title", "body"], threshold=None)
firstseen.dedup("in.jsonl", out=7)  # type: ignore[arg-type]
firstseen.connect("http://127.0.0.1:8080", token="secret", text=("title", "body"))
