// SPDX-License-Identifier: BSD-3-Clause
// Threads that write one object without a lock, each its own word of it: the later one is refused,
// and does it again. And pools whose column blocks share locks, as those of large pools do.
#include <cstring>
#include <memory>
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

// Objects 0 and 1 of directory 0: of one fragment, and of several.
constexpr uint64_t sizes[] = {200, 9000};
// Words of a thread in each: in the first fragment, and in the last one.
uint64_t word_at(unsigned thread, uint64_t slot, bool last) {
  return last ? sizes[slot] - 8 * (thread + 1) : 8 * thread;
}

uint64_t word_of(scute::pool& p, unsigned thread, uint64_t slot, bool last) {
  const void* bytes = nullptr;
  scute::detail::check(scute_get_verified(p.native_handle(), oid_of(p, 0, slot), &bytes));
  uint64_t n = 0;
  std::memcpy(&n, static_cast<const char*>(bytes) + word_at(thread, slot, last), sizeof n);
  return n;
}

// Until it is not refused any more. A thread that is refused gives its turn away, or no thread
// would ever end the conflicting transaction.
template <typename Try>
void again_and_again(Try&& attempt) {
  for (int k = 0; k < 1000; ++k) {
    const int e = attempt();
    if (e != SCUTE_E_CONFLICT) return scute::detail::check(e);
    testing::give_way();
  }
  throw std::runtime_error("refused a thousand times");
}

void count(void* bytes, unsigned thread, uint64_t slot) {
  for (const bool last : {false, true}) {
    uint64_t n = 0;
    char* at = static_cast<char*>(bytes) + word_at(thread, slot, last);
    std::memcpy(&n, at, sizeof n);
    ++n;
    std::memcpy(at, &n, sizeof n);
  }
}

// One object, as pool::update() does it.
void update(scute::pool& p, unsigned thread, uint64_t slot) {
  again_and_again([&] {
    void* bytes = nullptr;
    if (const int e = scute_obj_open(p.native_handle(), oid_of(p, 0, slot), &bytes)) return e;
    count(bytes, thread, slot);
    return scute_obj_commit(bytes);
  });
}

// Both, in one transaction.
void both(scute::pool& p, unsigned thread) {
  const scute_oid oids[] = {oid_of(p, 0, 0), oid_of(p, 0, 1)};
  again_and_again([&] {
    scute_tx* tx = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    for (uint64_t slot = 0; slot < 2; ++slot) {
      void* bytes = nullptr;
      if (const int e = scute_tx_open(tx, oids[slot], &bytes)) {
        scute::detail::check(scute_tx_abort(tx));
        return e;
      }
      count(bytes, thread, slot);
    }
    return scute_tx_commit(tx);
  });
}

// Two words in place; or taken back again.
void in_place(scute::pool& p, unsigned thread, bool commits) {
  const scute_oid oid = oid_of(p, 0, 1);
  again_and_again([&] {
    scute_tx* tx = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    for (const bool last : {false, true}) {
      void* bytes = nullptr;
      if (const int e = scute_tx_inplace(tx, oid, word_at(thread, 1, last), 8, &bytes)) {
        scute::detail::check(scute_tx_abort(tx));
        return e;
      }
      uint64_t n = 0;
      std::memcpy(&n, bytes, sizeof n);
      ++n;
      std::memcpy(bytes, &n, sizeof n);
    }
    return commits ? scute_tx_commit(tx) : scute_tx_abort(tx);
  });
}

testing::scenario contenders(const level& l) {
  testing::scenario s(std::string("contenders/") + l.name, testing::small_pool(l.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      for (uint64_t slot = 0; slot < 2; ++slot) c.alloc_zeros(slot, sizes[slot]);
    });
  });
  for (unsigned t = 0; t < 2; ++t) {
    s.in_thread(t).step("count in the small one", [t](scute::pool& p) { update(p, t, 0); });
    // Below mlpc headers do not reveal changes: of two that opened the object whole the later one
    // wins.
    if (l.protection.protection == SCUTE_PROTECT_MLPC)
      s.in_thread(t).step("count in both", [t](scute::pool& p) { both(p, t); });
    s.in_thread(t).step("count in the large one", [t](scute::pool& p) { update(p, t, 1); });
    s.in_thread(t).step("count in place", [t](scute::pool& p) { in_place(p, t, true); });
    s.in_thread(t).step("in place, aborted", [t](scute::pool& p) { in_place(p, t, false); });
    s.in_thread(t).observe([t](scute::pool& p) {
      const uint64_t large = word_of(p, t, 1, true);
      if (large != word_of(p, t, 1, false) || word_of(p, t, 0, true) != word_of(p, t, 0, false))
        throw std::runtime_error("half a transaction");
      return std::to_string(word_of(p, t, 0, false)) + " " + std::to_string(large);
    });
  }
  return s;
}

// Thread 0 has opened a small object, and commits when thread 1 has a range of it open in place.
testing::scenario opened_before(const level& l, uint64_t) {
  scute_options o = testing::small_pool(l.protection);
  o.lanes = 2;
  testing::scenario s(std::string("contenders-opened-before/") + l.name, o);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc_zeros(0, sizes[0]); });
  });
  struct locks {
    testing::mutex opened, placed, tried;
  };
  const auto of = std::make_shared<locks>();
  s.in_thread(0).step("take the locks", [of](scute::pool&) {
    of->opened.lock();
    of->tried.lock();
  });
  s.in_thread(0).step("open, and commit later", [of](scute::pool& p) {
    const scute_oid oid = oid_of(p, 0, 0);
    scute_tx* tx = nullptr;
    void* bytes = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    scute::detail::check(scute_tx_open(tx, oid, &bytes));
    of->opened.unlock();
    of->placed.lock();
    of->placed.unlock();
    count(bytes, 0, 0);
    const int e = scute_tx_commit(tx);
    of->tried.unlock();
    if (e == SCUTE_E_CONFLICT) return update(p, 0, 0);
    scute::detail::check(e);
  });
  s.in_thread(1).step("in place meanwhile", [of](scute::pool& p) {
    of->placed.lock();
    of->opened.lock();
    of->opened.unlock();
    const scute_oid oid = oid_of(p, 0, 0);
    scute_tx* tx = nullptr;
    void* bytes = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    const int e = scute_tx_inplace(tx, oid, 0, sizes[0], &bytes);
    if (e == SCUTE_OK) count(bytes, 1, 0);
    of->placed.unlock();
    of->tried.lock();
    of->tried.unlock();
    if (e == SCUTE_OK && scute_tx_commit(tx) == SCUTE_OK) return;
    if (e != SCUTE_OK) scute::detail::check(scute_tx_abort(tx));
    update(p, 1, 0);
  });
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) {
      if (word_of(p, t, 0, true) != word_of(p, t, 0, false))
        throw std::runtime_error("half a transaction");
      return std::to_string(word_of(p, t, 0, false));
    });
  return s;
}

// Both counts of an object, opened as a whole or each for itself. The latter goes the general way
// of a commit, since the transaction has a large object open as well, which it does not change.
void count_in(scute::pool& p, uint64_t slot, bool whole) {
  if (whole) return update(p, 0, slot);
  const scute_oid oid = oid_of(p, 0, slot), other = oid_of(p, 0, 1);
  again_and_again([&] {
    scute_tx* tx = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    void* large = nullptr;
    scute::detail::check(scute_tx_open(tx, other, &large));
    for (const bool last : {false, true}) {
      void* bytes = nullptr;
      if (const int e = scute_tx_add_range(tx, oid, word_at(0, slot, last), 8, &bytes)) {
        scute::detail::check(scute_tx_abort(tx));
        return e;
      }
      uint64_t n = 0;
      std::memcpy(&n, bytes, sizeof n);
      ++n;
      std::memcpy(bytes, &n, sizeof n);
    }
    return scute_tx_commit(tx);
  });
}

// Stores in place what a count by thread 0 would, and aborts.
void take_back(scute::pool& p, uint64_t slot) {
  const scute_oid oid = oid_of(p, 0, slot);
  scute_tx* tx = nullptr;
  scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
  void* bytes = nullptr;
  const int e = scute_tx_inplace(tx, oid, word_at(0, slot, false), 8, &bytes);
  if (e == SCUTE_OK) {
    uint64_t n = 0;
    std::memcpy(&n, bytes, sizeof n);
    ++n;
    std::memcpy(bytes, &n, sizeof n);
  }
  if (e != SCUTE_E_CONFLICT) scute::detail::check(e);
  scute::detail::check(scute_tx_abort(tx));
}

// A range is opened in place, gets what the other thread is about to write, and is taken back.
testing::scenario undone(const level& l, const char* name, uint64_t slot, bool whole) {
  testing::scenario s(std::string(name) + "/" + l.name, testing::small_pool(l.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      for (uint64_t k = 0; k < 2; ++k) c.alloc_zeros(k, sizes[k]);
    });
  });
  for (int k = 0; k < 6; ++k) {
    s.in_thread(0).step("count", [=](scute::pool& p) { count_in(p, slot, whole); });
    s.in_thread(1).step("in place, aborted", [slot](scute::pool& p) { take_back(p, slot); });
  }
  // The other word is whatever thread 1 has stored, while it has it open; the checksum covers it
  // afterwards.
  s.in_thread(0).observe(
      [slot](scute::pool& p) { return std::to_string(word_of(p, 0, slot, true)); });
  return s;
}

// Thread 0's own word counts, with all of the object open; the other word is never owned
// permanently. A thread that copies the object, or rolls it back, must find the word as it was.
void count_last(scute::pool& p, bool in_place) {
  const scute_oid oid = oid_of(p, 0, 0);
  again_and_again([&] {
    scute_tx* tx = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    void* bytes = nullptr;
    if (const int e = in_place ? scute_tx_inplace(tx, oid, 0, sizes[0], &bytes)
                               : scute_tx_open(tx, oid, &bytes)) {
      scute::detail::check(scute_tx_abort(tx));
      return e;
    }
    uint64_t n = 0;
    char* at = static_cast<char*>(bytes) + word_at(0, 0, true);
    std::memcpy(&n, at, sizeof n);
    ++n;
    std::memcpy(at, &n, sizeof n);
    return scute_tx_commit(tx);
  });
}

// The word that is always taken back, in a copy.
uint64_t first_word(scute::pool& p) {
  const scute_oid oid = oid_of(p, 0, 0);
  uint64_t n = 0;
  again_and_again([&] {
    scute_tx* tx = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    void* bytes = nullptr;
    const int e = scute_tx_open(tx, oid, &bytes);
    if (e == SCUTE_OK) std::memcpy(&n, static_cast<char*>(bytes) + word_at(0, 0, false), sizeof n);
    scute::detail::check(scute_tx_abort(tx));
    return e;
  });
  return n;
}

testing::scenario taken_back(const level& l, const char* name, bool in_place) {
  testing::scenario s(std::string(name) + "/" + l.name, testing::small_pool(l.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc_zeros(0, sizes[0]); });
  });
  for (int k = 0; k < 6; ++k) {
    s.in_thread(0).step("count", [=](scute::pool& p) { count_last(p, in_place); });
    s.in_thread(1).step("in place, aborted", [](scute::pool& p) { take_back(p, 0); });
  }
  s.in_thread(0).observe([](scute::pool& p) {
    return std::to_string(word_of(p, 0, 0, true)) + " " + std::to_string(first_word(p));
  });
  return s;
}
testing::scenario taken_back_whole(const level& l) {
  return taken_back(l, "contenders-taken-back", false);
}
testing::scenario taken_back_in_place(const level& l) {
  return taken_back(l, "contenders-taken-back-in-place", true);
}

testing::scenario undone_whole(const level& l) {
  return undone(l, "contenders-undone", 0, true);
}
testing::scenario undone_ranges(const level& l) {
  return undone(l, "contenders-undone-ranges", 0, false);
}
testing::scenario undone_large(const level& l) {
  return undone(l, "contenders-undone-large", 1, true);
}

// After a death ranges are opened in place, one after the other, before anything was resolved: what
// one of them holds is what the next one's block has its lock in.
testing::scenario ranges_after_death(const level& l, uint64_t seed) {
  testing::scenario s(std::string("collisions-in-place/") + l.name,
                      testing::small_pool(l.protection));
  s.share_locks(2);
  s.setup(make_scene).observe([](scute::pool& p) {
    ring_version(p, 0, {0, 1, 2});
    ring_version(p, 0, {3, 4});
    version_of(p, 0, 5);
    return contents(p, 1);
  });
  for (unsigned k = 0; k < 3; ++k)
    cut_short(
        s, "others are opened in place", dice_of(seed, k), death::phase::any, 2 * k + 2,
        [](change& c, unsigned v) { overwrite_all(c, {0, 1, 2}, v); },
        [k](scute::pool& p) {
          commit(p, 1, [k](change& c) {
            for (unsigned i = 0; i < 4; ++i) c.edit_in_place((i + k) % 4, 8 * k, 40, 10 * k + i);
          });
        });
  s.step("resolve the rest", resolve);
  return s;
}

}  // namespace

void add_contender_scenarios(std::vector<entry>& to) {
  add_at_all_levels(
      {{"contenders", "two threads write the same objects without a lock", contenders},
       {"contenders-undone", "one of two threads takes back what it has stored in place",
        undone_whole},
       {"contenders-undone-ranges", "the same, and the other one opens ranges", undone_ranges},
       {"contenders-undone-large", "the same, with an object of several fragments", undone_large},
       {"contenders-taken-back", "bytes rolled back in place get into no copy", taken_back_whole},
       {"contenders-taken-back-in-place", "nor into the old bytes of another range in place",
        taken_back_in_place}},
      to);
  add_log_free({{"contenders-opened-before",
                 "one opens, the other one opens in place, the first one commits", opened_before},
                {"collisions-in-place", "in place after a death, where blocks share locks",
                 ranges_after_death}},
               to);
}

}  // namespace scute::explore
