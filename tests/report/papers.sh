#!/usr/bin/env bash
# The papers' numbers are well formed: each has a place, a unit and rows that give ours, or a reason
# why there are none; and every way of measuring ours gives the number that it should.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

"$python" "$synthetic" rows.jsonl
PYTHONPATH=$tool "$python" - <<'PY'
import math
import os
import re
from pathlib import Path

import papers
import series
import stamp_plots
from rows import Rows, parse

data = papers.load()
rows = Rows.load(Path("rows.jsonl"))
figures, known = 0, {"quantity", "of", "against", "works", "threads", "sizes", "structures", "mean", "distribution",
                    "stage"}
for paper in data["papers"]:
    assert paper["name"] and paper["source"] and paper["setting"]
    for figure in paper["figures"]:
        figures += 1
        at = f"{paper['name']} {figure['figure']}"
        assert figure["title"] and len(figure["differs"]) > 40, at
        assert any(c["ours"] for c in figure["claims"]) != bool(figure.get("nothing")), f"{at}: nothing of ours"
        for claim in figure["claims"]:
            here = f"{at}: {claim['says']}"
            assert claim["place"], here
            if "words" not in claim:
                assert claim["unit"] in ("percent", "times", "us", "gb_per_s"), here
                ends = [claim[k] for k in ("low", "high") if k in claim]
                assert ends and all(isinstance(e, (int, float)) for e in ends) and ends == sorted(ends), here
            spec = claim["ours"]
            if spec is None:
                assert claim["why"], here
                continue
            assert not set(spec) - known, here
            assert (spec["quantity"] in papers.PAIRS) == ("against" in spec), here
            assert spec["quantity"] in {**papers.PAIRS, **papers.SINGLES}, here
            assert (spec["quantity"] in ("stage", "stage_gb_per_s")) == ("stage" in spec), here
            assert papers.measure(rows, spec), f"{here}: no rows"
            assert "mean" not in spec or spec["quantity"] in ("throughput", "time"), f"{here}: no mean of these"
names = {f"{p['name']} {f['figure']}" for p in data["papers"] for f in p["figures"]}
wanted = {f"Pangolin Figure {n}" for n in range(3, 7)} | {"Pangolin Table 4"} | {
    f"CodePM Figure {n}" for n in range(7, 15)} | {f"SpecPMT Figure {n}" for n in (1, 12, 14, 15)} | {"ENTS Figures 2 and 3", "ENTS Table 4"} | {
    f"ENTS Figure {n}" for n in range(4, 8)}
assert wanted <= names, wanted - names
assert list(data["table3"]["structures"]) == list(series.STRUCTURES)
for name, cells in data["table3"]["structures"].items():
    assert set(cells) == {"object", "insert_new", "insert_mod", "remove_new", "remove_mod"}, name

# Table 2, as the applications themselves have it.
stated = data["table2"]["applications"]
assert tuple(stated) == stamp_plots.APPLICATIONS
source = Path(os.environ["SCUTE_SOURCE_DIR"], "workloads/stamp/applications.cpp").read_text()
for name, numbers in re.findall(r'{"([a-z0-9-]+)", \d, {([^}]*)}}', source):
    size, transactions, updates = (float(n.replace("'", "")) for n in numbers.split(","))
    assert stated.pop(name) == {"bytes": size, "transactions": transactions, "updates": updates}, name
assert not stated, stated

# A mean is the geometric one, and says of how many.
mean = {"quantity": "time", "of": "volatile", "against": "no-log", "works": ["stamp"], "threads": [1], "mean": True}
values = [v for _, v in papers.measure(rows, mean)]
assert papers.ours(rows, {"ours": mean}) == f"{math.prod(values) ** (1 / 9):.2f}× (mean of 9)"
one = {**mean, "structures": ["yada"]}
assert papers.ours(rows, {"ours": one}) == f"{values[-1]:.2f}× (mean of 1)"

# Each quantity of two rows, 100 ns and 250 ns, 300 and 400 bytes.
line = ('{"work": "w", "size": 64, "threads": 1, "system": "scute", "config": "%s", "ns_per_op": %d, '
        '"spread": 0, "ops": 1, "bytes_per_op": %d, "read_per_op": 600, "untested": 0.25, '
        '"stages": {"data": 30, "parity_read": 10, "parity_write": 40, "end": 20}}')
two = Rows([parse(line % ("a", 100, 300)), parse(line % ("b", 250, 400))])
for quantity, value in {"throughput": 2.5, "time": 0.4, "saved": 60, "more": -60, "lost": -150,
                        "gained": 150, "bytes": 75, "us": 0.1, "gb_per_s": 6, "untested": 25,
                        "stage": 50, "stage_gb_per_s": 15}.items():
    spec = {"quantity": quantity, "of": "a", "works": ["w"], "stage": "parity" if quantity == "stage" else "parity_write"}
    if quantity in papers.PAIRS:
        spec["against"] = "b"
    (found,) = papers.measure(two, spec)
    assert abs(found[1] - value) < 1e-9, (quantity, found[1])
    assert not papers.measure(two, {**spec, "works": ["v"]}), quantity
print(f"{figures} figures")
PY
