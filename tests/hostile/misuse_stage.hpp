// SPDX-License-Identifier: BSD-3-Clause
// Pools and oids to call functions wrongly with. After every refused call the outputs must be what
// they were; at the end the pool must be, too, and proper calls must work.
#pragma once

#include <functional>
#include <thread>

#include "support/pool_file.hpp"

// The call is refused with this code and a message, and writes no output.
#define REFUSED(code, ...)          \
  do {                              \
    SCUTE_FAILS(code, __VA_ARGS__); \
    s.expect_outputs_untouched();   \
  } while (false)

namespace scute::test {

class misuse_stage {
 public:
  static constexpr uint32_t lanes = 2;

  misuse_stage() {
    for (pool_file* f : {&pool, &other, &read_only}) {
      scute_options o = options(2 * mib);
      o.lanes = lanes;
      f->create(o);
    }
    SCUTE_OKAY_E(scute_root(pool, 64, 1, &root));
    live = pool.alloc(pattern(1, 100));
    big = pool.alloc(pattern(2, 9000));
    stale = pool.alloc(pattern(3, 100));
    SCUTE_OKAY_E(pool.free(stale));
    foreign = other.alloc(pattern(4, 100));
    read_only_live = read_only.alloc(pattern(5, 100));
    read_only.reopen(SCUTE_READONLY);
    before_ = contents();
  }

  // All bad oids, each with what a call must say to it.
  void for_bad_oids(const std::function<void(int, scute_oid)>& refused) const {
    const scute_oid tag = live & ~0xffff'ffff'ffffu;
    for (const auto& [code, bad] : {std::pair{SCUTE_E_OID, scute_oid{0}},
                                    {SCUTE_E_OID, foreign},
                                    {SCUTE_E_FREED, stale},
                                    {SCUTE_E_OID, live + 8},
                                    {SCUTE_E_OID, big + 4096},
                                    {SCUTE_E_OID, big - 32},
                                    {SCUTE_E_OID, tag},
                                    {SCUTE_E_OID, tag | 0xffff'ffff'ffffu},
                                    {SCUTE_E_OID, tag | 2 * mib},
                                    {SCUTE_E_OID, live & 0xffff'ffff'ffffu},
                                    {SCUTE_E_OID, UINT64_MAX}}) {
      SCOPED_TRACE("oid " + std::to_string(bad));
      refused(code, bad);
    }
  }
  // Ranges of an object of `size` bytes that are none.
  static void for_bad_ranges(uint64_t size,
                             const std::function<void(int, uint64_t, uint64_t)>& refused) {
    for (const auto& [code, offset, length] :
         {std::tuple{SCUTE_E_INVALID, uint64_t{0}, uint64_t{0}},
          {SCUTE_E_INVALID, size, uint64_t{0}},
          {SCUTE_E_RANGE, uint64_t{0}, size + 1},
          {SCUTE_E_RANGE, size, uint64_t{1}},
          {SCUTE_E_RANGE, uint64_t{1}, size},
          {SCUTE_E_RANGE, uint64_t{0}, UINT64_MAX},
          {SCUTE_E_RANGE, UINT64_MAX, uint64_t{1}},
          {SCUTE_E_RANGE, UINT64_MAX, UINT64_MAX},
          {SCUTE_E_RANGE, uint64_t{1}, UINT64_MAX},
          {SCUTE_E_RANGE, UINT64_MAX - 1, uint64_t{4}}}) {
      SCOPED_TRACE("range " + std::to_string(offset) + ", " + std::to_string(length));
      refused(code, offset, length);
    }
  }
  // Handles that are none of this thread's: null, garbage, ended, another thread's, one whose pool
  // was closed.
  void for_bad_handles(const std::function<void(scute_tx*)>& refused) {
    refused(nullptr);
    refused(reinterpret_cast<scute_tx*>(this));
    scute_tx* ended = nullptr;
    SCUTE_OKAY(scute_tx_begin(pool, &ended));
    SCUTE_OKAY(scute_tx_commit(ended));
    refused(ended);
    SCUTE_OKAY(scute_tx_begin(pool, &ended));
    SCUTE_OKAY(scute_tx_abort(ended));
    refused(ended);
    scute_tx* mine = nullptr;
    SCUTE_OKAY(scute_tx_begin(pool, &mine));
    std::thread([&] { refused(mine); }).join();
    SCUTE_OKAY(scute_tx_commit(mine));
    pool_file closed;
    closed.create();
    scute_tx* orphan = nullptr;
    SCUTE_OKAY(scute_tx_begin(closed, &orphan));
    std::thread([&] { closed.close(); }).join();
    refused(orphan);
  }

  void expect_outputs_untouched() const {
    EXPECT_EQ(p, poison_address);
    EXPECT_EQ(q, poison_address);
    EXPECT_EQ(oid, poison_number);
    EXPECT_EQ(number, poison_number);
    EXPECT_EQ(handle, poison_address);
    EXPECT_EQ(tx, poison_address);
  }
  // Checks that wrong calls have changed nothing.
  void expect_nothing_happened() {
    for (const pool_file* f : {&pool, &other, &read_only})
      EXPECT_EQ(scute_tx_current(*f), nullptr) << "a transaction is left open";
    EXPECT_EQ(contents(), before_);
    pool.overwrite(live, pattern(9, 100));
    EXPECT_TRUE(pool.read(live) == pattern(9, 100));
    const scute_oid made = pool.alloc(pattern(8, 3000));
    EXPECT_TRUE(pool.read(made) == pattern(8, 3000));
    EXPECT_EQ(SCUTE_OK, pool.free(made)) << scute_errormsg();
    pool.expect_sound();
    pool.reopen();
    EXPECT_TRUE(pool.read(live) == pattern(9, 100));
    pool.expect_sound();
  }

  pool_file pool, other, read_only;
  scute_oid root = 0, live = 0, big = 0, stale = 0, foreign = 0, read_only_live = 0;
  // For outputs.
  static inline char poison;
  void* const poison_address = &poison;
  static constexpr uint64_t poison_number = 0x7777;
  void* p = &poison;
  const void* q = &poison;
  scute_oid oid = poison_number;
  uint64_t number = poison_number;
  scute_pool* handle = reinterpret_cast<scute_pool*>(&poison);
  scute_tx* tx = reinterpret_cast<scute_tx*>(&poison);

 private:
  std::vector<bytes> contents() {
    std::vector<bytes> all;
    scute_oid at = 0;
    SCUTE_OKAY_E(scute_first(pool, SCUTE_TYPE_ANY, &at));
    while (at != 0) {
      all.push_back(pool.read(at));
      SCUTE_OKAY_E(scute_next(pool, at, SCUTE_TYPE_ANY, &at));
    }
    return all;
  }
  std::vector<bytes> before_;
};

}  // namespace scute::test
