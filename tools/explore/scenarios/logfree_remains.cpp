// SPDX-License-Identifier: BSD-3-Clause
// The traces of a log-free commit that was cut short: in
// slots, chunks and unused room, in caches, and next to damage. (The rest of instant recovery is in
// logfree_unresolved.cpp.)
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

using phase = death::phase;

testing::scenario start(const level& kind, const std::string& name) {
  testing::scenario s(name + "/" + kind.name, testing::small_pool(kind.protection));
  s.setup(make_scene);
  return s;
}

// Allocations and frees as members; their slots are used again before the scan.
testing::scenario slots_again(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-slots");
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 6; ++k) c.alloc(k, ring_size, fill_of(k, 0));
    });
    commit(p, 1, [](change& c) { c.alloc(0, ring_size, 1); });
  });
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 1});
    contents(p, 0);  // no pointer leads nowhere
    return contents(p, 1);
  });
  for (unsigned k = 0; k < 4; ++k)
    cut_short(
        s, "others allocate", dice_of(seed, k), phase::any, 2 * k + 2,
        [](change& c, unsigned v) {
          overwrite_all(c, {0, 1}, v);
          const uint64_t one = 2 + (v - 1) / 2 % 3;
          if (c.has(one))
            c.free(one);
          else
            c.alloc(one, ring_size, 40 + v);
        },
        [k](scute::pool& p) {
          commit(p, 1, [k](change& c) {
            c.alloc(4 + k, ring_size, 50 + k);
            if (k == 2) c.free(4);
          });
        });
  s.step("resolve the rest", resolve);
  return s;
}

// A run that a ring has emptied is used for another size before the ring is resolved. The chunks
// that the ring freed do not lie in the block where the new slots begin, and there is no other
// room.
testing::scenario chunks_again(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-chunks");
  constexpr uint64_t large = 4000;  // three to a chunk
  s.may_run_full();
  s.setup([](scute::pool& p) {
    make_directories(p);
    spread(p, 0, 2, ring_size);
    commit(p, 0, [](change& c) {
      for (unsigned k = 6; k < 9; ++k) c.alloc(k, large, k);
    });
    commit(p, 1, [](change& c) { c.alloc(0, 300, 1); });
    for (;;) {
      try {
        commit(p, 0, [](change& c) { c.alloc(5, 2000, 1); });
      } catch (const scute::error& e) {
        if (e.which() != errc::nospc) throw;
        break;
      }
    }
    commit(p, 0, [](change& c) {
      c.free(6);
      c.free(8);
    });
  });
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 1});
    contents(p, 0);  // no pointer leads nowhere
    return contents(p, 1);
  });
  cut_short(
      s, "its chunk gets another use", dice_of(seed, 0),
      seed % 2 == 1 ? phase::decided : phase::any, 2,
      [](change& c, unsigned v) {
        overwrite_all(c, {0, 1}, v);
        c.free(7);
      },
      [](scute::pool& p) { commit(p, 1, [](change& c) { c.alloc(4, 60, 5); }); });
  s.step("a bystander", [](scute::pool& p) { commit(p, 1, [](change& c) { c.overwrite(0, 6); }); });
  s.step("the ring", [](scute::pool& p) { commit_ring(p, 0, {0, 1}, 3); });
  s.step("resolve the rest", resolve);
  return s;
}

// The process is killed, and everything that it has stored is in caches when the next one finds it.
testing::scenario killed(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-killed");
  s.setup([](scute::pool& p) {
    make_scene(p);
    commit(p, 1, [](change& c) { c.free(1); });  // so that the next object lies in the columns of 1
  });
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 2});
    version_of(p, 0, 1);
    contents(p, 0);
    return contents(p, 1);
  });
  for (unsigned k = 0; k < 4; ++k) {
    s.step_on_stage(
        "a ring is killed; then others write in its columns", [=](const testing::stage& at) {
          resolve(at.pool());
          commit(at.pool(), 0, [](change& c) {
            if (c.has(6)) c.free(6);
          });
          const death d(at);
          commit(at.pool(), 0, [k](change& c) {
            overwrite_all(c, {0, 2}, k + 1);
            c.alloc(6, ring_size, k);
          });
          const uint64_t apart = offset_of(at.pool(), 0, 6) - offset_of(at.pool(), 0, 1);
          if (apart % at.pool().info().row_size != 0) throw std::runtime_error("other columns");
          d.kill(k == 0 ? phase::decided : k == 1 ? phase::torn : phase::any, dice_of(seed, k));
          commit_ring(at.pool(), 0, {1}, k + 1);
          commit(at.pool(), 1, [k](change& c) { c.overwrite(0, 10 + k); });
        });
    s.step("the other way round", [k](scute::pool& p) {
      commit(p, 1, [k](change& c) { c.overwrite(0, 20 + k); });
      commit_ring(p, 0, {1}, 10 + k);
    });
  }
  // With its parity stored, and left to the next fence.
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage("a process dies with a window open", [k](const testing::stage& at) {
      resolve(at.pool());
      commit_ring(at.pool(), 0, {0, 2}, 40 + k);
      at.abandon();
      at.open();
      if (k == 0) resolve(at.pool());
      commit(at.pool(), 1, [k](change& c) { c.overwrite(0, 30 + k); });
    });
  return s;
}

// Two rings of two lanes are cut short together. One of them takes a slot in use whose object does
// not fill it; in the columns of the rest, which no checksum covers, lies an object of the other
// one (LF-5).
testing::scenario room(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-room");
  constexpr uint64_t wide = 3553;  // of 4096
  s.setup([](scute::pool& p) {
    make_directories(p);
    spread(p, 0, 3, ring_size);
    commit(p, 0, [](change& c) {
      c.alloc(3, wide, 3);
      c.alloc(4, 4096, 4);
    });
    place(p, 0, 0, 30, fill_of(0, 0), {0, 4, 3616});
    commit(p, 0, [](change& c) { c.free(4); });
  });
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 1});
    contents(p, 0);
    return contents(p, 1);
  });
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("two rings are cut short", [=](const testing::stage& at) {
      resolve(at.pool());
      commit(at.pool(), 0, [](change& c) {
        if (c.has(4)) c.free(4);
      });
      const death d(at);
      commit(at.pool(), 0, [k](change& c) { c.alloc(4, wide, k); });
      commit_ring(at.pool(), 0, {0, 1}, k + 1);
      d.die(phase::torn, dice_of(seed, k));
      if (k != 0) resolve(at.pool());
    });
    s.step("read", [](scute::pool& p) { ring_version(p, 0, {1, 0}); });
  }
  return s;
}

// Of a decided ring one member is damaged, whose columns have their parity already, while those of
// another one do not. All of it is known, so all of it must be there.
testing::scenario damaged(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-damage");
  s.observe([](scute::pool& p) {
    return std::to_string(ring_version(p, 0, {0, 1, 2})) + "; " + contents(p, 1);
  });
  for (unsigned k = 0; k < 3; ++k) {
    s.step("a ring", [k](scute::pool& p) { commit_ring(p, 0, {0, 1, 2}, 2 * k + 1); });
    s.step_on_stage("a decided ring is cut short; a member is damaged",
                    [=](const testing::stage& at) {
                      resolve(at.pool());
                      const death d(at);
                      commit_ring(at.pool(), 0, {0, 1, 2}, 2 * k + 2);
                      const uint64_t offset = offset_of(at.pool(), 0, k) - header_size;
                      d.die(phase::decided, 0, {offset, ring_size + header_size});
                      scribble(at, offset + header_size + dice_of(seed, k) % 400, 8, 7);
                    });
    s.step(k == 1 ? "read" : "resolve", [k](scute::pool& p) { k == 1 ? void() : resolve(p); });
    s.step("a bystander",
           [k](scute::pool& p) { commit(p, 1, [k](change& c) { c.overwrite(k % 3, 20 + k); }); });
  }
  return s;
}

}  // namespace

void add_remains_scenarios(std::vector<entry>& to) {
  add_log_free({{"unresolved-slots", "slots of a ring cut short are used again", slots_again},
                {"unresolved-chunks", "a chunk of a ring cut short gets another use", chunks_again},
                {"unresolved-room", "two rings cut short, one in the other's unused room", room},
                {"unresolved-damage", "a member of a decided ring is damaged as well", damaged},
                {"unresolved-killed", "a process is killed, then the power fails", killed}},
               to);
}

}  // namespace scute::explore
