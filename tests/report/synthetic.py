# SPDX-License-Identifier: BSD-3-Clause
"""synthetic.py FILE: results of an invented run, with rows of every workload.

The numbers follow from the names alone, so that two calls write the same file."""
import json
import sys
import zlib

SCUTE = ("redo-none", "redo-ml", "redo-mlp", "redo-mlpc", "plain-mlpc", "logfree-mlpc", "logfree2-mlpc")
SYSTEMS = [("scute", c) for c in SCUTE] + [("libpmemobj", "tx"), ("volatile", "malloc")]
HUGE = [("libpmemobj-huge", "tx")]
FLOORS = [(f, "floor") for f in ("raw-logfree", "raw-log", "raw-redo")]
STRUCTURES = {"ctree": 8, "rbtree": 40, "btree": 24, "skiplist": 208, "rtree": 8, "hashmap": 24}

rows = []


def add(work, size, threads, system, config, ns, **more):
    # A percent or two that depends on the row.
    jitter = zlib.crc32(f"{work}{size}{threads}{config}{more}".encode()) % 200 / 1e4
    first = {k: more.pop(k) for k in ("structure", "distribution") if k in more}
    rows.append({"work": work, **first, "size": size, "threads": threads, "system": system,
                 "config": config, "ns_per_op": round(ns * (1 + jitter), 4),
                 "spread": round(0.02 + jitter, 4), "ops": 1000, **more})


def factor(config):
    return {"libpmemobj": 2.0, "tx": 2.0, "malloc": 0.05, "persist": 0.4}.get(
        config, 0.8 + 0.1 * SCUTE.index(config) if config in SCUTE else 1.0)


def counters(system, config, size):
    if system != "scute":
        return {}
    parity, log = (size if "p" in config else 0), (size * 2 if config.startswith("redo") else 0)
    return {"fences_per_op": 2.0 if log else 1.0, "lines_per_op": size / 16, "bytes_per_op": float(size + parity + log),
            "bytes_data_per_op": float(size), "bytes_parity_per_op": float(parity),
            "bytes_log_per_op": float(log), "bytes_metadata_per_op": 0.0}


for threads in (1, 2):
    for size in (64, 256, 1024, 4096):
        for work in ("alloc", "overwrite_sequential", "overwrite_random", "free"):
            for system, config in SYSTEMS + HUGE + FLOORS + [("memcpy", "persist")]:
                slow = 2 if (work, size, config) == ("free", 4096, "logfree-mlpc") else 1
                if system == "libpmemobj-huge":
                    slow *= 0.8
                add(work, size, threads, system, config, (300 + size / 4) * factor(config) * slow,
                    **counters(system, config, size))
        if threads == 1:
            add("overwrite_random", size, 1, "scute", "spec-mlpc", 300 + size / 4, **counters("scute", "spec-mlpc", size))
            for work in ("overwrite_hot", "overwrite_hot_cpu"):
                for system, config in [("scute", c) for c in ("logfree-mlpc", "spec-mlpc")] + HUGE:
                    add(work, size, threads, system, config, 300 + size / 4, **counters(system, config, size))
        # Small objects are changed in less than 0.8 of the time of libpmemobj-huge, large ones in
        # more.
        for system, config in SYSTEMS[:-1] + HUGE:
            slow = 0.8 if system == "libpmemobj-huge" else size / 2048 if config == "logfree-mlpc" else 1
            add("edit_in_place", size, threads, system, config, 400 * factor(config) * slow,
                **counters(system, config, size))
for structure, size in STRUCTURES.items():
    for work in ("map_insert", "map_get", "map_remove"):
        for system, config in SYSTEMS + HUGE:
            slow = factor(config) if work != "map_get" else 1 + factor(config) / 50
            if system == "libpmemobj-huge":
                slow *= 0.6
            if structure == "hashmap" and config == "logfree-mlpc" and work != "map_get":
                slow = 0.4  # five times the peer
            add(work, size, 1, system, config, 1000 * slow, structure=structure,
                **counters(system, config, size))
    for config in ("logfree-mlpc", "libpmemobj"):
        rows.append({"work": "table3", "structure": structure, "size": size, "threads": 1,
                     "system": "scute" if config != "libpmemobj" else config, "config": config,
                     "ns_per_op": 0.0, "spread": 0.0, "ops": 1000,
                     **{f"{op}_{kind}_{what}": 1.5 * size for op in ("insert", "remove")
                        for kind in ("new", "mod") for what in ("bytes", "objects")}})
APPLICATIONS = ("genome", "intruder", "kmeans-low", "kmeans-high", "labyrinth", "ssca2", "vacation-low",
                "vacation-high", "yada")
STAMP = [("scute", c, 800 - 100 * i) for i, c in enumerate(("redo-none", "redo-mlpc", "logfree-mlpc", "spec-flush",
                                                            "spec-none-in-place", "spec-none"))]
STAMP += [("scute", "spec-mlpc", 500), ("libpmemobj", "tx", 1000), ("libpmemobj-huge", "tx", 900), ("no-log", "flush", 250),
          ("volatile", "malloc", 200)]
for n, structure in enumerate(APPLICATIONS):
    for threads in (1,) if structure in ("genome", "labyrinth", "yada") else (1, 2):
        for system, config, ns in STAMP:
            # Peers take longer from one application to the next, Scute does not.
            slow = 1 + n if system.startswith("libpmemobj") else 1
            deferred = {"deferred_ns_per_op": 90.0} if config == "spec-none" else {}
            add("stamp", 0, threads, system, config, ns * slow, structure=structure, **deferred,
                **counters(system, config, 64))
    for more, cap in enumerate((2, 5, 10, 20)):
        add("stamp_cap", 0, 1, "scute", f"cap-{cap}-percent", 1000 / (1 + more / 10), structure=structure,
            **counters("scute", "spec-none", 64))
    rows.append({"work": "stamp_load", "structure": structure, "size": 0, "threads": 1, "system": "scute",
                 "config": "counted", "ns_per_op": 0.0, "spread": 0.0, "ops": 1000, "changed_bytes": 48.5,
                 "new_bytes": 15.5, "updates": 7000 + n})
for work in "abcdef":
    for size in (100, 256):
        for distribution in ("zipfian", "uniform"):
            for threads in (1, 2):
                for system, config in SYSTEMS + HUGE:
                    slow = factor(config) * (0.6 if system == "libpmemobj-huge" else 1)
                    add(f"ycsb_{work}", size, threads, system, config, 500 * slow,
                        distribution=distribution)
WAYS = [f"{m}{c}{p}" for m in ("", "-medium") for c in ("", "-cached") for p in ("", "-padded")]
ENTS = [("scute", "redo-none"), ("scute", "logfree-mlpc"), ("scute", "pow"), ("libpmemobj", "tx"),
        ("libpmemobj-huge", "tx"), ("volatile", "malloc")]
ENTS += [("scute", f"pow-none{w}") for w in WAYS] + [(f"raw-pow{w}", "floor") for w in WAYS]
for threads in (1, 2):
    for system, config in ENTS:
        if threads == 2 and (system.startswith("raw-pow-") or config.startswith("pow-none-")):
            continue
        slow = (0.6 if system == "libpmemobj-huge" else 1) * factor(config)
        for size in (8,):
            for structure in ("bplus_tree", "rbtree", "hashmap", "skiplist"):
                for work in ("ents_read_update", "ents_insert_remove"):
                    add(work, size, threads, system, config, (400 + size) * slow, structure=structure)
        for structure in ("location_of_one", "location", "whole"):
            add("ents_tatp", 128, threads, system, config, 300 * slow, structure=structure)
        for structure in ("orders", "whole_w1", "whole_w2"):
            add("ents_tpcc", 0, threads, system, config, 9000 * slow, structure=structure)
for load in range(20, 100, 10):
    for system, config in [*ENTS, ("level-in-place", "words")]:
        slow = (0.6 if system == "libpmemobj-huge" else 1) * factor(config) * (1 + load / 200)
        add("ents_level_insert", 31, 1, system, config, 600 * slow, structure=f"load_{load}")
        for work in ("ents_level_50", "ents_level_95"):
            for distribution in ("zipfian", "uniform"):
                add(work, 31, 1, system, config, 350 * slow, structure=f"load_{load}", distribution=distribution)
EADR = [("libpmemobj", "tx", 1000, 800), ("raw-pow-cached", "floor", 500, 450), ("raw-pow", "floor", 400, 400),
        ("volatile", "malloc", 100, 100)]
for system, config, adr, eadr in [*EADR, ("level-in-place", "words", 300, 150)]:
    for end, ns in (("", adr), ("-eadr", eadr)):
        if system != "level-in-place":
            for structure in ("bplus_tree", "rbtree", "hashmap", "skiplist"):
                add("eadr_read_update", 8, 1, system + end, config, ns, structure=structure)
            add("eadr_tatp", 128, 1, system + end, config, ns, structure="whole")
            add("eadr_tpcc", 0, 1, system + end, config, ns * 20, structure="orders")
        for work in ("eadr_level_50", "eadr_level_95"):
            for distribution in ("zipfian", "uniform"):
                add(work, 31, 1, system + end, config, ns, structure="load_60", distribution=distribution)
# A file is opened at 2 ns per byte by one thread, handed over at 1 ns per byte that is live; half
# of the first by two.
for mib in (32, 128):
    for size in (64, 256, 1024):
        for live in (25, 50, 90):
            for threads in (1, 2):
                moved = mib << 20
                stages = {"open": 2.0 * moved / threads, "load": moved * live / 100}
                add("pow_recovery", size, threads, "scute", "pow-none", sum(stages.values()), read_per_op=moved,
                    stages=stages, structure=f"{mib}m_live_{live}")
                add("pow_recovery", size, threads, "read", "stream", moved / 8 / threads, read_per_op=moved,
                    structure=f"{mib}m_live_{live}")
for threads in (1, 2):
    add("pow_clean", 256, threads, "scute", "pow-none", 400, structure="live_none", stages={"file_per_live": 3.5},
        **{**counters("scute", "spec", 304), "bytes_log_per_op": 304.0})
    for live, ns in ((20, 450), (33, 500), (50, 700), (67, 1100), (80, 2000)):
        for config, more in (("pow-none", 1.0), ("pow-none-inline", 1.3)):
            add("pow_clean", 256, threads, "scute", config, ns * more, structure=f"live_{live}",
                deferred_ns_per_op=10.0, stages={"file_per_live": 100 / live},
                **{**counters("scute", "spec", 304), "bytes_log_per_op": 304.0,
                   "bytes_metadata_per_op": 304.0 * live / (100 - live)})
for threads in (1, 8):
    for system, config, us in (("scute", "logfree-mlpc", 150), ("scute", "pow", 150), ("scute", "pow-none", 120),
                               ("scute", "spec-mlpc", {1: 120, 8: 30}[threads]), ("lmdb", "writemap", 290),
                               ("sqlite", "wal-full", 160), ("rocksdb", "sync", 210 / threads),
                               ("pwrite", "fdatasync", 110)):
        add("kv_put", 256, threads, system, config, us * 1e3 * threads, p50_ns=us * 0.9e3 * threads,
            p99_ns=us * 3e3 * threads, file_system="ext4")
for system, config, us in (("scute", "spec-mlpc", 4.6), ("lmdb", "writemap", 1.5), ("sqlite", "wal-full", 2), ("rocksdb", "sync", 3)):
    add("kv_load", 256, 1, system, config, us * 1e3, p50_ns=us * 0.9e3, p99_ns=us * 3e3, file_system="ext4")
for i, config in enumerate(("default", "scrub-tenth", "scrub-twentieth", "conservative")):
    for work in ("policy_ordered_map", "policy_hash_map"):
        add(work, 1000, 1, "scute", config, 900 + 90 * i, untested=[0.5, 0.05, 0.025, 0.0][i])
for threads in (1, 2):
    for size in (64, 1024):
        for system, config, ns in (("scute", "redo-mlpc", 2e5), ("read", "stream", 1.2e5)):
            add("scrub", size, threads, system, config, ns / threads, read_per_op=1 << 20)
    for system, config, ns in (("scute", "logfree-mlpc", 2e5), ("read", "stream", 1.2e5)):
        add("recovery_scan", 1 << 28, threads, system, config, ns / threads, read_per_op=1 << 20)
    for size in (64, 256, 1024):
        add("parity", size, threads, "scute", "atomic-shared", 100 + size)
        add("parity", size, threads, "scute", "vector-exclusive", 200 + size / 2)
for system, config in SYSTEMS[:-1]:
    add("open_clean", 1 << 34, 1, system, config, 4e5 * factor(config))
    add("recovery_open", 1 << 34, 1, system, config, 3e6 * factor(config))
for config, ns in (("redo-mlpc", 6e6), ("spec-mlpc", 5e7)):
    add("recovery_full_log", 1 << 34, 1, "scute", config, ns)
add("lost_page", 4096, 1, "scute", "redo-mlpc", 33e3)
for config in ("redo-mlpc", "plain-mlpc", "logfree-mlpc"):
    for size in (64, 4096):
        add("stages", size, 1, "scute", config, 600, stages={"begin": 20.0, "checksum": 90.5, "data": 150.0,
                                                             "parity": 240.0, "fence": 99.5})
add("something_new", 64, 1, "scute", "logfree-mlpc", 100)

with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.writelines(json.dumps(r) + "\n" for r in rows)
