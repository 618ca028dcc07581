// SPDX-License-Identifier: BSD-3-Clause
// Threads whose log-free commits meet in columns: windows that are deferred, and made durable by
// the thread that needs them (core/engine/logfree/window.hpp).
#include <algorithm>

#include <memory>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

constexpr uint64_t size = 450;  // slots of 512 bytes, 104 to a row; eight to a block

void step(testing::scenario& s, unsigned t, const std::string& what,
          std::function<void(change&)> body) {
  s.in_thread(t).step(what, [t, body = std::move(body)](scute::pool& p) { commit(p, t, body); });
}

testing::scenario start(const level& kind, const char* name, unsigned threads,
                        std::function<void(scute::pool&)> setup) {
  auto s = with_directories(std::string(name) + "/" + kind.name, kind.protection, threads);
  s.setup([setup = std::move(setup)](scute::pool& p) {
    make_directories(p);
    setup(p);
  });
  return s;
}

// Objects 0 and 1 of thread 1 lie in the columns of those of thread 0, in another row; 2 of each
// elsewhere.
void make_twins(scute::pool& p) {
  commit(p, 0, [](change& c) {
    for (unsigned k = 0; k < 3; ++k) c.alloc(k, size, k);
  });
  commit(p, 1, [](change& c) { c.alloc(2, size, 12); });
  place(p, 1, 0, size, 10, {0, 0});
  place(p, 1, 1, size, 11, {0, 1});
}

// Objects in one block, in columns of their own; those with even numbers. Odd ones in another
// block.
testing::scenario block(const level& kind, uint64_t) {
  auto s = start(kind, "windows-block", 2, [](scute::pool& p) {
    for (unsigned k = 0; k < 4; ++k)
      for (unsigned t = 0; t < 2; ++t)
        commit(p, t, [&](change& c) { c.alloc(k, k % 2 == 0 ? 200 : 1000, 10 * t + k); });
  });
  // Each takes the other one's block while it still has its own.
  step(s, 0, "here", [](change& c) { c.overwrite(0, 20); });
  step(s, 0, "there", [](change& c) { c.overwrite(1, 21); });
  step(s, 0, "both", [](change& c) {
    c.overwrite(2, 22);
    c.overwrite(3, 23);
  });
  step(s, 0, "here again", [](change& c) { c.overwrite(0, 24); });
  step(s, 1, "there", [](change& c) { c.overwrite(1, 30); });
  step(s, 1, "here", [](change& c) { c.overwrite(0, 31); });
  step(s, 1, "both", [](change& c) {
    c.overwrite(3, 32);
    c.overwrite(2, 33);
  });
  step(s, 1, "there again", [](change& c) { c.overwrite(3, 34); });
  return s;
}

// A transaction that changes nothing, next to one whose window is deferred: it gives its own window
// up.
testing::scenario given_up(const level& kind, uint64_t) {
  auto s = start(kind, "windows-given-up", 2, make_twins);
  for (unsigned t = 0; t < 2; ++t)
    for (unsigned k = 0; k < 2; ++k) {
      step(s, t, "one", [=](change& c) { c.overwrite(0, 20 + 10 * t + k); });
      step(s, t, "its neighbour, as it is", [t](change& c) { c.overwrite(1, t == 0 ? 1 : 11); });
      step(s, t, "another one", [=](change& c) { c.overwrite(2, 40 + 10 * t + k); });
    }
  return s;
}

// The same columns of different rows.
testing::scenario rows(const level& kind, uint64_t) {
  auto s = start(kind, "windows-rows", 2, make_twins);
  for (unsigned t = 0; t < 2; ++t)
    for (unsigned k = 0; k < 3; ++k)
      step(s, t, k == 0 ? "a ring" : "another ring", [=](change& c) {
        const unsigned fill = 20 + 20 * t + 5 * k;
        switch ((t + k) % 3) {
          case 0:
            c.overwrite(0, fill);
            c.overwrite(1, fill + 1);
            break;
          case 1:
            c.overwrite(1, fill);
            c.overwrite(2, fill + 1);
            break;
          default: c.overwrite(2, fill); c.overwrite(0, fill + 1);
        }
      });
  return s;
}

// Small changes in different columns of fragments whose extents share columns.
testing::scenario extents(const level& kind, uint64_t) {
  constexpr uint64_t large = 15000;
  auto s = start(kind, "windows-extents", 2, [](scute::pool& p) {
    commit(p, 0, [](change& c) { c.alloc(0, large, 0); });
    commit(p, 0, [](change& c) { c.alloc(1, large, 1); });
    commit(p, 1, [](change& c) { c.alloc(1, large, 2); });
    commit(p, 1, [](change& c) { c.alloc(0, large, 3); });
  });
  for (unsigned t = 0; t < 2; ++t)
    for (unsigned k = 0; k < 3; ++k)
      s.in_thread(t).step("a small change", [=](scute::pool& p) {
        const column_meeting m(p.info().row_size, offset_of(p, 0, 0), offset_of(p, 1, 0), large,
                               2000);
        const uint64_t at = (t == 0 ? m.in_first : m.in_second) + 300 * t + 40 * k;
        commit(p, t, [&](change& c) {
          c.edit(0, at, 30, 20 + 10 * t + k);
          if (k == 1) c.edit(1, 50, 300, 40 + t);
        });
      });
  return s;
}

// One allocates and frees an object with room to spare; in the columns of that room, which no
// checksum covers, the other one commits rings (LF-5).
testing::scenario room(const level& kind, uint64_t) {
  constexpr uint64_t wide = 3553;  // of 4096
  auto s = start(kind, "windows-room", 2, [](scute::pool& p) {
    commit(p, 0, [](change& c) { c.alloc(2, size, 2); });
    commit(p, 1, [](change& c) { c.alloc(1, size, 11); });
    commit(p, 0, [](change& c) {
      c.alloc(1, wide, 1);
      c.alloc(0, 4096, 0);
    });
    commit(p, 0, [](change& c) { c.overwrite(0, 77); });
    place(p, 1, 0, 30, 10, {0, 0, 3616});
    commit(p, 0, [](change& c) { c.free(0); });
  });
  for (unsigned k = 0; k < 3; ++k) {
    step(s, 0, "allocate", [k](change& c) { c.alloc(0, wide, 20 + k); });
    step(s, 0, "free", [](change& c) { c.free(0); });
    step(s, 1, "a ring", [k](change& c) {
      c.overwrite(0, 40 + k);
      c.overwrite(1, 50 + k);
    });
  }
  return s;
}

// Slots that pass from one to the other.
testing::scenario members(const level& kind, uint64_t) {
  auto s = start(kind, "windows-slots", 2, [](scute::pool& p) {
    for (unsigned t = 0; t < 2; ++t)
      commit(p, t, [t](change& c) {
        for (unsigned k = 0; k < 4; ++k) c.alloc(k, 200, 10 * t + k);
      });
  });
  for (unsigned t = 0; t < 2; ++t)
    for (unsigned k = 0; k < 2; ++k) {
      step(s, t, "free two, change one", [=](change& c) {
        c.free(2 * k);
        c.free(2 * k + 1);
        if (k == 0) c.overwrite(3, 20 + t);
      });
      step(s, t, "allocate two", [=](change& c) {
        c.alloc(2 * k, 200, 30 + 2 * k + t);
        c.alloc(5 + k, 200, 40 + 2 * k + t);
      });
    }
  return s;
}

// A single step of one thread, and two of the other one in its columns: so that every interleaving
// of interest is met.
testing::scenario beside(const level& kind, const char* name, std::function<void(change&)> body) {
  auto s = start(kind, name, 2, make_twins);
  step(s, 0, name, std::move(body));
  for (unsigned k = 0; k < 2; ++k)
    step(s, 1, "a ring in its columns", [k](change& c) {
      c.overwrite(k, 40 + k);
      c.overwrite(2, 50 + k);
    });
  return s;
}
testing::scenario beside_log(const level& kind, uint64_t) {
  auto s = start(kind, "windows-beside-log", 2, [](scute::pool& p) {
    make_twins(p);
    place(p, 0, 3, size, 3, {1, 0});
  });
  step(s, 0, "two cells of a column", [](change& c) {
    c.edit(0, 0, 60, 20);
    c.edit(3, 0, 60, 21);
  });
  step(s, 1, "a ring in the column", [](change& c) {
    c.overwrite(0, 40);
    c.overwrite(2, 50);
  });
  return s;
}
testing::scenario beside_in_place(const level& kind, uint64_t) {
  return beside(kind, "windows-beside-in-place", [](change& c) {
    c.edit_in_place(0, 10, 200, 20);
    c.edit_in_place(1, 10, 60, 21);
  });
}
// Two cells of one column in place, so that the old bytes are in undo entries and the columns free.
testing::scenario beside_undo(const level& kind, uint64_t) {
  auto s = start(kind, "windows-beside-undo", 2, [](scute::pool& p) {
    make_twins(p);
    place(p, 0, 3, size, 3, {1, 0});
  });
  step(s, 0, "two cells of a column in place", [](change& c) {
    c.edit_in_place(0, 10, 100, 20);
    c.edit_in_place(3, 40, 100, 21);
  });
  step(s, 1, "a ring in the column", [](change& c) {
    c.overwrite(0, 40);
    c.overwrite(2, 50);
  });
  return s;
}
// The object that is prewritten lies in the columns of those of the ring.
testing::scenario beside_prewritten(const level& kind, uint64_t) {
  auto s = start(kind, "windows-beside-prewritten", 2, [](scute::pool& p) {
    make_twins(p);
    commit(p, 1, [](change& c) { c.alloc(4, 30000, 14); });
  });
  step(s, 0, "a large object", [](change& c) { c.alloc(5, 17000, 20); });
  step(s, 1, "a ring in its columns", [](change& c) {
    c.overwrite(0, 40);
    c.overwrite(1, 41);
  });
  return s;
}
// One thread waits for the other one's lock with ranges open in place; the other one needs their
// columns, and takes them.
testing::scenario spill(const level& kind, uint64_t) {
  auto s = start(kind, "windows-spill", 2, [](scute::pool& p) {
    make_twins(p);
    commit(p, 1, [](change& c) { c.alloc(5, 3000, 15); });  // in a block of its own
  });
  const auto lock = std::make_shared<testing::mutex>();
  s.in_thread(0).step("in place, waiting for the other thread in between", [lock](scute::pool& p) {
    commit(p, 0, [&](change& c) {
      c.edit_in_place(0, 10, 100, 20);
      lock->lock();
      lock->unlock();
    });
  });
  s.in_thread(1).step("a ring in the columns, under the lock", [lock](scute::pool& p) {
    lock->lock();
    // Elsewhere, and to no effect, so that some time goes by.
    for (unsigned i = 0; i < 3; ++i) {
      change c(p, 1);
      c.edit_in_place(5, 0, 50, 41);
      c.abort();
    }
    commit(p, 1, [](change& c) {
      c.overwrite(0, 42);
      c.overwrite(2, 43);
    });
    lock->unlock();
  });
  return s;
}

// One goes through the log (in place, aborted, two cells of a column), the other one does not.
testing::scenario log(const level& kind, uint64_t) {
  auto s = start(kind, "windows-log", 2, [](scute::pool& p) {
    make_twins(p);
    place(p, 0, 3, size, 3, {0, 0});  // a further row of the same columns, or the same one as 1's
  });
  step(s, 0, "in place", [](change& c) { c.edit_in_place(0, 10, 400, 20); });
  step(s, 0, "two cells of a column", [](change& c) {
    c.overwrite(0, 21);
    c.overwrite(3, 22);
  });
  s.in_thread(0).step("in place, aborted", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(0, 10, 400, 23);
    c.edit_in_place(1, 50, 100, 24);
    c.abort();
  });
  step(s, 0, "a ring", [](change& c) {
    c.overwrite(0, 25);
    c.overwrite(1, 26);
  });
  for (unsigned k = 0; k < 4; ++k)
    step(s, 1, "a ring in these columns", [k](change& c) {
      c.overwrite(0, 40 + 2 * k);
      if (k % 2 == 0) c.overwrite(1, 41 + 2 * k);
    });
  return s;
}

// One prewrites a large object over the columns of the other one's.
testing::scenario prewritten(const level& kind, uint64_t) {
  auto s = start(kind, "windows-prewritten", 2, [](scute::pool& p) {
    make_twins(p);
    commit(p, 1, [](change& c) { c.alloc(4, size, 14); });
  });
  s.may_run_full();
  for (unsigned k = 0; k < 2; ++k) {
    step(s, 0, "a large object", [k](change& c) { c.alloc(5, 40000, 20 + k); });
    step(s, 0, "free it", [](change& c) {
      if (c.has(5)) c.free(5);
    });
    step(s, 1, "a ring", [k](change& c) {
      c.overwrite(0, 30 + k);
      c.overwrite(2, 40 + k);
    });
    step(s, 1, "a ring", [k](change& c) {
      c.overwrite(1, 50 + k);
      c.overwrite(4, 60 + k);
    });
  }
  return s;
}

// One frees a span in a ring, the other one makes a run of its chunk.
testing::scenario chunks(const level& kind, uint64_t) {
  auto s = start(kind, "windows-chunks", 2, [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.alloc(0, size, 0);
      c.alloc(1, 15000, 1);
    });
    commit(p, 1, [](change& c) { c.alloc(0, size, 10); });
  });
  for (unsigned k = 0; k < 2; ++k) {
    step(s, 0, "free a span, change one", [k](change& c) {
      c.free(1);
      c.overwrite(0, 20 + k);
    });
    step(s, 0, "a span again", [k](change& c) { c.alloc(1, 15000, 30 + k); });
    step(s, 1, "a run of another size", [k](change& c) {
      c.alloc(1 + k, 1000 + 1000 * k, 40 + k);
      c.overwrite(0, 50 + k);
    });
    step(s, 1, "empty it", [k](change& c) { c.free(1 + k); });
  }
  return s;
}

// One borrows a chunk for its log, which held something else before, in the columns of the other
// one's ring.
testing::scenario lent(const level& kind, uint64_t) {
  constexpr uint64_t large = 60000, row = 13 * page, part = 3000;
  auto s = start(kind, "windows-lent", 2, [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.alloc(0, large, 0);
      c.alloc(1, 15000, 1);
    });
    // Slots of 512 bytes, each with its header first.
    const uint64_t begins = offset_of(p, 0, 1) % 512;
    place(p, 1, 0, size, 10, {0, 1, static_cast<int64_t>(1024 + 512 + header_size - begins)});
    commit(p, 1, [](change& c) { c.alloc(2, size, 12); });
    commit(p, 0, [](change& c) { c.free(1); });
  });
  for (unsigned k = 0; k < 2; ++k) {
    step(s, 0, "more than fits the log", [k](change& c) {
      c.edit(0, 100, part, 20 + k);
      c.edit(0, 100 + row, part, 30 + k);
    });
    step(s, 1, "a ring", [k](change& c) {
      c.overwrite(0, 40 + k);
      c.overwrite(2, 50 + k);
    });
    step(s, 0, "noise in the chunk", [k](change& c) { c.alloc(1, 15000, 60 + k); });
    step(s, 0, "which is free again", [](change& c) { c.free(1); });
  }
  return s;
}

// Three threads, each with two of three blocks, so that all wait for each other.
testing::scenario three(const level& kind, uint64_t) {
  auto s = start(kind, "windows-three", 3, [](scute::pool& p) {
    for (unsigned k = 0; k < 3; ++k)
      for (unsigned t = 0; t < 3; ++t)
        commit(p, t, [&](change& c) {
          c.alloc(k, k == 0 ? 200 : k == 1 ? 700 : 1200, 10 * t + k);
        });
  });
  for (unsigned t = 0; t < 3; ++t)
    for (unsigned k = 0; k < 3; ++k)
      step(s, t, "two of three", [=](change& c) {
        c.overwrite((t + k) % 3, 30 + 10 * t + k);
        c.overwrite((t + k + 1) % 3, 60 + 10 * t + k);
      });
  return s;
}

}  // namespace

void add_window_scenarios(std::vector<entry>& to) {
  add_log_free(
      {{"windows-block", "two threads, columns of their own in shared blocks", block},
       {"windows-given-up", "a window that comes to nothing, next to a deferred one", given_up},
       {"windows-rows", "two threads, the same columns of different rows", rows},
       {"windows-extents", "two threads, fragments whose extents share columns", extents},
       {"windows-room", "rings in the columns of room that no checksum covers", room},
       {"windows-slots", "slots pass from one thread to the other", members},
       {"windows-log", "one thread goes through the log, the other one does not", log},
       {"windows-prewritten", "a large object is prewritten over the columns of rings", prewritten},
       {"windows-beside-log", "a ring next to one transaction through the log", beside_log},
       {"windows-beside-in-place", "rings next to one transaction in place", beside_in_place},
       {"windows-beside-prewritten", "rings next to one prewritten object", beside_prewritten},
       {"windows-beside-undo", "a ring next to undo entries of its columns", beside_undo},
       {"windows-spill", "a thread waits with ranges open in place, and has to give way", spill},
       {"windows-chunks", "a chunk freed by one thread is used by the other", chunks},
       {"windows-lent", "a chunk is lent to a log in the columns of rings", lent},
       {"windows-three", "three threads, each in two of three blocks", three}},
      to);
}

}  // namespace scute::explore
