// SPDX-License-Identifier: BSD-3-Clause
// Rings through further fragments of objects, which only the
// chunk headers and their own checksums reveal once the object has been freed: by the lane's next
// transaction, which shares the fence, or by a thread in the session after a crash, before the
// ring's other members are resolved.
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

using phase = death::phase;

// Objects of several fragments: slots of a run, one chunk, and chunks whose payload is prewritten.
constexpr uint64_t sizes[] = {7000, 15000, 20000};
constexpr uint64_t large = 4,
                   ring_members = 2;  // slots: large objects from there on; and below that

bool share_columns(scute::pool& p, uint64_t a, uint64_t a_size, uint64_t b) {
  constexpr uint64_t headers = 6 * header_size;
  const uint64_t row = p.info().row_size;
  const uint64_t from = offset_of(p, 0, b) - header_size;
  const uint64_t apart = (from + row - (offset_of(p, 0, a) - headers) % row) % row;
  return apart < a_size + headers || apart + ring_size + header_size > row;
}

// The witness alone in its block, which writing it resolves; the last fragment lies next to the
// next one.
void make_members(scute::pool& p) {
  spread(p, 1, 2, ring_size);
  spread(p, 0, ring_members, ring_size);
}

// Directory 0: the ring's other members, each in a block of its own, and a large object of each
// size, in columns of its own. Directory 1: the witness, which says what had been decided when it
// was written.
testing::scenario start(const level& kind, const std::string& name) {
  scute_options pool = testing::small_pool(kind.protection);
  pool.size += 192 * 1024;
  testing::scenario s(name + "/" + kind.name, pool);
  s.setup([](scute::pool& p) {
    make_directories(p);
    make_members(p);
    constexpr uint64_t spare = 8, spares = 4;
    for (uint64_t k = 0; k < 3; ++k) {
      const uint64_t slot = large + k;
      const auto again = [&] {
        return share_columns(p, slot, sizes[k], 0) || share_columns(p, slot, sizes[k], 1);
      };
      commit(p, 0, [&](change& c) { c.alloc(slot, sizes[k], fill_of(slot, 0)); });
      // A badly placed object keeps its place until another one is found.
      for (uint64_t i = 0; again(); ++i) {
        if (i == spares) throw std::runtime_error("no large object comes to lie apart");
        commit(p, 0, [&](change& c) {
          c.free(slot);
          c.alloc(spare + i, sizes[k], 1);
        });
        commit(p, 0, [&](change& c) { c.alloc(slot, sizes[k], fill_of(slot, 0)); });
      }
      commit(p, 0, [&](change& c) {
        for (uint64_t i = 0; i < spares; ++i)
          if (c.has(spare + i)) c.free(spare + i);
      });
    }
  });
  return s;
}

// Ranges of further fragments of a large object, and other members.
void ring_through_parts(scute::pool& p, uint64_t slot, unsigned v) {
  const uint64_t logged = p.stats().logged;
  commit(p, 0, [=](change& c) {
    c.edit(slot, 5000, 400, v);
    if (c.size(slot) > 9000) c.edit(slot, 9000, 30, v);
    overwrite_all(c, {0, 1}, v);
  });
  if (p.stats().logged != logged) throw std::runtime_error("a ring went through a log");
}

// The lane's next transaction frees the object, or writes its first fragment; no column in common,
// so both share a fence.
testing::scenario freed(const level& kind, uint64_t seed) {
  auto s = start(kind, "parts-freed");
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 3; ++k) {
    const uint64_t slot = large + (seed + k) % 3, next = sizes[(seed + k + 1) % 3];
    const unsigned v = 5 * k;
    s.step("a ring through further fragments",
           [=](scute::pool& p) { ring_through_parts(p, slot, v + 1); });
    s.step("its first fragment is written",
           [=](scute::pool& p) { commit(p, 0, [=](change& c) { c.edit(slot, 10, 50, v + 2); }); });
    s.step("another ring", [=](scute::pool& p) { ring_through_parts(p, slot, v + 3); });
    s.step("its object is freed",
           [=](scute::pool& p) { commit(p, 0, [=](change& c) { c.free(slot); }); });
    s.step("another one takes its place",
           [=](scute::pool& p) { commit(p, 0, [=](change& c) { c.alloc(slot, next, v + 4); }); });
  }
  return s;
}

// A ring that the witness says was decided has to be there.
std::string observe(scute::pool& p) {
  const unsigned decided = version_of(p, 1, 0);
  if (ring_version(p, 0, {0, 1}) < decided)
    throw std::runtime_error("a transaction that had returned was taken back");
  contents(p, 0);
  return contents(p, 1);
}

// The parity of the large object's columns is durable, that of the others is not. The next session
// frees the object, and uses its place in one way or another, before any thread asks for the
// others.
testing::scenario unresolved(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-parts");
  s.observe(observe);
  for (unsigned k = 0; k < 3; ++k)
    s.step_on_stage("a ring through further fragments is cut short; then its object is freed",
                    [=](const testing::stage& at) {
                      const uint64_t slot = large + (seed + k) % 3;
                      resolve(at.pool());
                      const uint64_t payload = offset_of(at.pool(), 0, slot);
                      const death d(at);
                      ring_through_parts(at.pool(), slot, k + 1);
                      d.die(phase::decided, dice_of(seed, k), {payload - 6 * header_size, 20000});
                      commit(at.pool(), 1, [=](change& c) { c.overwrite(0, fill_of(0, k + 1)); });
                      commit(at.pool(), 0, [=](change& c) { c.free(slot); });
                      // In its place: something prewritten, or slots of another size.
                      commit(at.pool(), 0, [=](change& c) {
                        if (k % 2 == 0)
                          c.alloc(slot, 17000, k);
                        else
                          for (unsigned i = 8; i < 12; ++i) c.alloc(i, 4000, i);
                      });
                    });
  return s;
}

// The same in runs whose slots are so large that what takes them is prewritten: nothing but the
// prewriting itself reports that a member is overwritten.
testing::scenario prewritten(const level& kind, uint64_t seed) {
  scute_options pool = testing::small_pool(kind.protection);
  pool.size = (768 + 128 * kind.protection.parity) * 1024;
  pool.chunk_size = 65536;
  testing::scenario s(std::string("unresolved-prewritten/") + kind.name, pool);
  s.setup([](scute::pool& p) {
    make_directories(p);
    make_members(p);
    for (uint64_t k = 0; k < 3; ++k)  // a chunk full
      commit(p, 0, [k](change& c) { c.alloc(large + k, 20000, fill_of(large + k, 0)); });
  });
  s.observe(observe);
  for (unsigned k = 0; k < 3; ++k)
    s.step_on_stage("a ring is cut short; another object takes the slot of a member",
                    [=](const testing::stage& at) {
                      const uint64_t slot = large + (seed + k) % 3;
                      resolve(at.pool());
                      const uint64_t payload = offset_of(at.pool(), 0, slot);
                      const death d(at);
                      ring_through_parts(at.pool(), slot, k + 1);
                      d.die(phase::decided, dice_of(seed, k), {payload - 6 * header_size, 20000});
                      commit(at.pool(), 1, [=](change& c) { c.overwrite(0, fill_of(0, k + 1)); });
                      commit(at.pool(), 0, [=](change& c) { c.free(slot); });
                      commit(at.pool(), 0, [=](change& c) { c.alloc(slot, 20000, 50 + k); });
                      if (offset_of(at.pool(), 0, slot) != payload)
                        throw std::runtime_error("it lies elsewhere");
                    });
  return s;
}

// A process dies when all it did was durable, and a row's length of noise lies over the large
// object. The next session reads the bystander first, which has its columns in common with a
// further fragment.
testing::scenario scribbled(const level& kind, uint64_t seed) {
  testing::scenario s(std::string("unresolved-scribbled/") + kind.name,
                      testing::small_pool(kind.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc(large, sizes[1], 1); });
    place(p, 1, 0, ring_size, 2, {0, large, 8096});
    commit(p, 0, [](change& c) { c.alloc(0, sizes[0], 3); });
  });
  s.observe([](scute::pool& p) {
    const std::string first = contents(p, 1);
    return first + contents(p, 0);
  });
  for (unsigned k = 0; k < 2; ++k) {
    s.step("ranges of both", [k](scute::pool& p) {
      commit(p, 0, [k](change& c) {
        c.edit(large, 6000 * k, 500, 10 + k);
        c.edit(0, 20, 30, 20 + k);
      });
    });
    s.step_on_stage("a process dies; noise over its object", [=](const testing::stage& at) {
      const layout where(at);
      const uint64_t from = offset_of(at.pool(), 0, large) - dice_of(seed, k) % 8192;
      scute::detail::check(scute_drain(at.pool().native_handle()));
      at.abandon();
      scribble(at, from, where.row_size - page * (k + 1), 5 + k);
      at.open();
    });
    s.step("the rest is resolved", [](scute::pool& p) {
      if (p.check(true, {}, {}).lost != 0) throw std::runtime_error("something is lost");
    });
  }
  return s;
}

}  // namespace

void add_parts_scenarios(std::vector<entry>& to) {
  add_log_free(
      {{"parts-freed", "a ring through fragments of an object freed next", freed},
       {"unresolved-parts", "the same, cut short; freed before it is resolved", unresolved},
       {"unresolved-prewritten", "the same, and a prewritten object takes its slot", prewritten},
       {"unresolved-scribbled", "an unclean end, then a row of noise; reads at once", scribbled}},
      to);
}

}  // namespace scute::explore
