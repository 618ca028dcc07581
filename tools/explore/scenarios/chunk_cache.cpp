// SPDX-License-Identifier: BSD-3-Clause
// Logs that overflow their lanes again and again, in chunks that stay lent between them
// (core/heap/chunk_cache.hpp).
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

constexpr uint64_t row = 13 * 4096, chunk = 16384, large = 60000, part = 1600;

testing::scenario start(const std::string& name, const level& l) {
  auto s = with_directories(name + "/" + l.name, l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, large, 1);
      c.alloc(1, 100, 2);
    });
  });
  return s;
}

// More than a ring holds, and too much of one column for a commit without a log.
void long_log(testing::scenario& s, unsigned fill) {
  s.step("more than a ring holds", [fill](scute::pool& p) {
    commit(p, 0, [fill](change& c) {
      c.edit(0, 100, part, fill);
      c.edit(0, 100 + row, part, fill + 1);
    });
  });
}
void short_log(testing::scenario& s, unsigned fill) {
  s.step("a small change",
         [fill](scute::pool& p) { commit(p, 0, [fill](change& c) { c.edit(0, 200, 40, fill); }); });
}
void long_undo(testing::scenario& s, unsigned fill) {
  s.step("12 ranges in place", [fill](scute::pool& p) {
    commit(p, 0, [fill](change& c) {
      for (unsigned i = 0; i < 12; ++i) c.edit_in_place(0, i * 450, 150, fill + i);
    });
  });
}
void again(testing::scenario& s) {
  s.step_on_stage("close and open", [](const testing::stage& at) {
    at.close();
    at.open();
    if (!at.pool().info().clean) throw std::runtime_error("the pool was not closed properly");
  });
}

// Of CCACHE-1 and CCACHE-2: entries of one lane, of one length, in the same chunks.
testing::scenario chunk_cache(const level& l) {
  auto s = start("chunk-cache", l);
  for (unsigned k = 0; k < 2; ++k) {
    long_log(s, 10 + 50 * k);
    short_log(s, 12 + 50 * k);
    long_log(s, 14 + 50 * k);
    long_log(s, 16 + 50 * k);
    long_undo(s, 20 + 50 * k);
    long_undo(s, 35 + 50 * k);
    long_log(s, 48 + 50 * k);
    again(s);
  }
  return s;
}

// The same of lanes in turn, which hand chunks on.
testing::scenario lanes(const level& l) {
  auto s = start("chunk-cache-lanes", l);
  s.lanes_in_turn();
  for (unsigned k = 0; k < 2; ++k) {
    short_log(s, 10 + 40 * k);
    for (unsigned i = 0; i < 3; ++i) long_log(s, 12 + 40 * k + 2 * i);
    long_undo(s, 20 + 40 * k);
    long_log(s, 40 + 40 * k);
  }
  return s;
}

// All chunks but one, in as few objects as it takes: the log of engine spec divides what is free,
// as zones do.
void fill_chunks(scute::pool& p, unsigned fill) {
  uint64_t left = p.info().chunks_free - 1;
  commit(p, 0, [&](change& c) {
    for (uint64_t slot = 2; left != 0; ++slot)
      for (uint64_t n = left;; --n) try {
          c.alloc(slot, n * 16000, fill);
          left -= n;
          break;
        } catch (const scute::error& e) {
          if (n == 1 || (e.which() != scute::errc::nospc && e.which() != scute::errc::range)) throw;
        }
  });
}

// Of CCACHE-3: an object in all the room that there is, cached chunks included.
testing::scenario full(const level& l) {
  auto s = start("chunk-cache-full", l);
  for (unsigned k = 0; k < 2; ++k) {
    long_log(s, 10 + 20 * k);
    s.step("objects in every free chunk but one", [k](scute::pool& p) {
      fill_chunks(p, 15 + 20 * k);
      if (p.info().chunks_free != 1) throw std::runtime_error("it took too few chunks");
    });
    short_log(s, 16 + 20 * k);
    s.step("no more of them", [](scute::pool& p) {
      commit(p, 0, [](change& c) {
        for (uint64_t slot = 2; slot < slots && c.has(slot); ++slot) c.free(slot);
      });
    });
  }
  long_log(s, 60);
  return s;
}

// Log-free: the parity of what frees an object is deferred when the object's chunk is wanted for
// another lane's log.
testing::scenario freed(const level& l, uint64_t) {
  constexpr uint64_t size = 30000;  // two chunks, as for a log
  auto s = start("chunk-cache-freed", l);
  s.lanes_in_turn();
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, large, 1);
      c.alloc(1, 40, 2);  // and slots for more
    });
    // All of them, so that the log gets the very chunks that are freed.
    if (p.info().chunks_free % 2 != 0) commit(p, 0, [](change& c) { c.alloc(2, size / 2, 3); });
    for (uint64_t slot = 3; p.info().chunks_free != 0; ++slot)
      commit(p, 0, [slot](change& c) { c.alloc(slot, size, static_cast<unsigned>(slot)); });
  });
  const auto last = [](scute::pool& p) {
    uint64_t slot = slots - 1;
    while (oid_of(p, 0, slot) == 0) --slot;
    return slot;
  };
  for (unsigned k = 0; k < 2; ++k) {
    s.step("free the last", [last](scute::pool& p) {
      const uint64_t slot = last(p);
      commit(p, 0, [slot](change& c) { c.free(slot); });
    });
    long_log(s, 20 + 10 * k);
    again(s);
    s.step("have it again", [k, last](scute::pool& p) {
      const uint64_t slot = last(p) + 1;
      commit(p, 0, [k, slot](change& c) { c.alloc(slot, size, 70 + k); });
    });
  }
  return s;
}

// Two threads, each of whose transactions needs chunks, and a run or a span now and then.
testing::scenario threads(const level& l) {
  auto s = with_directories(std::string("chunk-cache-threads/") + l.name, l.protection, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t)
      commit(p, t, [t](change& c) {
        c.alloc(0, chunk / 4, 1 + t);
        c.alloc(1, 100, 3 + t);
      });
  });
  for (unsigned t = 0; t < 2; ++t) {
    auto mine = s.in_thread(t);
    const auto step = [&](const char* what, const std::function<void(change&)>& body) {
      mine.step(what, [t, body](scute::pool& p) { commit(p, t, body); });
    };
    for (unsigned k = 0; k < 2; ++k) {
      const unsigned fill = 10 + 40 * t + 20 * k;
      step("a small change", [=](change& c) { c.edit(0, 50, 30, fill); });
      step("more than a ring holds", [=](change& c) { c.overwrite(0, fill + 1); });
      step("again", [=](change& c) { c.overwrite(0, fill + 2); });
      step("a span", [=](change& c) { c.alloc(2, chunk + 1000, fill + 3); });
      step("no more of it", [](change& c) { c.free(2); });
    }
  }
  return s;
}

}  // namespace

void add_chunk_cache_scenarios(std::vector<entry>& to) {
  add_at_all_levels(
      {{"chunk-cache", "logs of one lane that overflow, in the same chunks", chunk_cache},
       {"chunk-cache-lanes", "the same of lanes in turn", lanes},
       {"chunk-cache-full", "chunks kept for logs are needed for objects", full}},
      to);
  add_at({levels[1], levels[2], levels[3]},
         {{"chunk-cache-threads", "two threads whose logs overflow", threads}}, to);
  add_log_free(
      {{"chunk-cache-freed", "a chunk is lent as soon as the object in it is freed", freed}}, to);
}

}  // namespace scute::explore
