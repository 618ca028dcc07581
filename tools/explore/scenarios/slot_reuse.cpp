// SPDX-License-Identifier: BSD-3-Clause
// Objects that are large enough to be prewritten, in slots: in chunks of 64 KiB, of which three fit
// one. (In the chunks of other scenarios an object of that size has a chunk to itself, and its
// chunk gets no other use before a log has let go of it.) So what is prewritten lies where the log
// has something of an older object; and ranges in place come there, which end well, or do not.
#include <algorithm>
#include <random>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

constexpr uint64_t prewritten = 20000;
constexpr unsigned hands = 3;  // entries of the directory that are used: as many as slots of a run

scute_options roomy(const level& l) {
  scute_options o = testing::small_pool(l.protection);
  o.chunk_size = 64 << 10;
  // Chunks enough for a run of such objects, the others, and logs.
  o.size += 768 << 10;
  return o;
}

// A log in a file has two chunks, and grows. Where it is in the pool, it is as large as usual.
testing::scenario start(const std::string& name, const level& l, log_in where) {
  scute_options o = roomy(l);
  if (where == log_in::file) o.log_cap = 4096;
  testing::scenario s((where == log_in::file ? "log-file-" : "") + name + "/" + l.name, o);
  if (where == log_in::file) s.with_log_file();
  return s;
}

void in_place(testing::scenario& s, uint64_t at, uint64_t length, unsigned fill, bool ends_well) {
  s.step(ends_well ? "in place" : "in place, aborted", [=](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(0, at, length, fill);
    if (ends_well)
      c.commit();
    else
      c.abort();
  });
}

// The log has all bytes of an object in the slot, or a part of them, or nothing, when the next one
// is prewritten there.
template <log_in where>
testing::scenario reuse(const level& l) {
  auto s = start("slot-reuse", l, where);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.setup(make_directories);
  for (unsigned round = 0; round < 3; ++round) {
    s.step("allocate one of 20064", [=](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.alloc(0, prewritten + 64, 10 * round); });
    });
    if (round != 2)
      s.step("overwrite all of it, or a part", [=](scute::pool& p) {
        commit(p, 0, [&](change& c) {
          if (round == 0)
            c.overwrite(0, 10 * round + 1);
          else
            c.edit(0, 4000, 900, 10 * round + 1);
        });
      });
    s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(0); }); });
    s.step("another one in its slot", [=](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.alloc(0, prewritten + round, 10 * round + 2); });
    });
    in_place(s, 4096, 100, 10 * round + 3, false);
    in_place(s, 4100, 50, 10 * round + 4, true);
    in_place(s, prewritten - 7, 7, 10 * round + 5, false);
    if (round == 1) s.step("checkpoint", [](scute::pool& p) { p.drain(); });
    in_place(s, 4000, 300, 10 * round + 6, false);
    in_place(s, prewritten - 9, 9, 10 * round + 7, true);
    s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(0); }); });
  }
  return s;
}

void change_one(scute::pool& p, uint64_t number) {
  std::mt19937_64 random(number);
  if (random() % 10 == 0) return p.drain();
  change c(p, 0);
  const uint64_t slot = random() % hands;
  const auto fill = static_cast<unsigned>(random());
  if (!c.has(slot)) {
    c.alloc(slot, prewritten - random() % 3000, fill);
  } else {
    const uint64_t n = c.size(slot), at = random() % n;
    const uint64_t length = 1 + random() % std::min<uint64_t>(n - at, 3000);
    switch (random() % 7) {
      case 0:
      case 1: c.free(slot); break;
      case 2: c.overwrite(slot, fill); break;
      case 3: c.edit(slot, at, length, fill); break;
      default: c.edit_in_place(slot, at, length, fill);
    }
  }
  if (random() % 4 == 0)
    c.abort();
  else
    c.commit();
}

testing::scenario random(const level& l, log_in where, uint64_t seed) {
  auto s = start("slot-reuse-random", l, where);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.may_run_full().lanes_in_turn();
  s.setup([=](scute::pool& p) {
    make_directories(p);
    for (uint64_t k = 0; k < 8; ++k) change_one(p, seed * 1000 + 900 + k);
  });
  for (uint64_t k = 0; k < 20; ++k)
    s.step("random transaction " + std::to_string(k),
           [n = seed * 1000 + k](scute::pool& p) { change_one(p, n); });
  return s;
}

// Of one thread, concurrently with another one that checkpoints at any moment.
testing::scenario beside_checkpoints(const level& l, log_in where, uint64_t seed) {
  auto s = start("slot-reuse-threads", l, where);
  s.may_run_full();
  s.setup([=](scute::pool& p) {
    make_directories(p);
    for (uint64_t k = 0; k < 8; ++k) change_one(p, seed * 1000 + 900 + k);
  });
  s.in_thread(0).observe([](scute::pool& p) { return contents(p, 0); });
  for (uint64_t k = 0; k < 10; ++k) {
    s.in_thread(0).step("random transaction " + std::to_string(k),
                        [n = seed * 1000 + k](scute::pool& p) { change_one(p, n); });
    if (k % 3 == 0) s.in_thread(1).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  return s;
}

}  // namespace

void add_slot_reuse_scenarios(std::vector<entry>& to) {
  const auto varied = [&](const char* name, const char* about, const level& l, log_in where,
                          auto make) {
    to.push_back({(where == log_in::file ? "log-file-" : "") + std::string(name) + "/" + l.name,
                  about, [=](uint64_t seed) { return make(l, where, seed); }});
  };
  add_at_all_levels(
      {{"slot-reuse", "prewritten objects in slots of older ones, and ranges in place of them",
        reuse<log_in::pool>}},
      to);
  for (const level& l : every_level)
    varied("slot-reuse-random", "the same, at random", l, log_in::pool, random);
  for (const level& l : spec_levels)
    varied("slot-reuse-threads", "the same, while another thread checkpoints", l, log_in::pool,
           beside_checkpoints);
  for (const level& l : spec_levels) {
    to.push_back({std::string("log-file-slot-reuse/") + l.name,
                  "engine spec, a log file: prewritten objects in slots of older ones",
                  [l](uint64_t) { return reuse<log_in::file>(l); }});
    varied("slot-reuse-random", "engine spec, a log file: the same, at random", l, log_in::file,
           random);
    varied("slot-reuse-threads",
           "engine spec, a log file: the same, while another thread checkpoints", l, log_in::file,
           beside_checkpoints);
  }
}

}  // namespace scute::explore
