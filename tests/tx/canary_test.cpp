// SPDX-License-Identifier: BSD-3-Clause
// Writes beyond a micro-buffer: the transaction aborts and nothing of it reaches the pool; under
// AddressSanitizer the write itself is caught.
#include <gtest/gtest.h>

#include "codec/parity/parity.hpp"
#include "core/tx/arena.hpp"
#include "support/pool_file.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SCUTE_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCUTE_TEST_ASAN 1
#endif
#endif

namespace scute::test {
using namespace core;
namespace {

class canary : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    // A child of fork() may not use the parent's pool, so it begins this test again.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    f.create(4 * mib);
    oid = f.alloc(pattern(1, GetParam()));
    other = f.alloc(pattern(2, 100));
  }
  // Overwrites one byte at `at` of the buffer that `open` gives, which lies outside of it.
  template <typename Open>
  void overrun(int64_t at, Open&& open) {
#ifdef SCUTE_TEST_ASAN
    EXPECT_DEATH(
        {
          transaction tx(f);
          static_cast<volatile unsigned char*>(open(tx))[at] = 1;
        },
        "use-after-poison");
#else
    {
      transaction tx(f);
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_open(tx, other, &p));
      std::memset(p, 9, 100);
      auto* b = static_cast<unsigned char*>(open(tx));
      b[at] = static_cast<unsigned char>(~b[at]);
      SCUTE_FAILS(SCUTE_E_CANARY, tx.commit());
    }
    EXPECT_TRUE(f.read(other) == pattern(2, 100));
    EXPECT_TRUE(f.read(oid) == pattern(1, GetParam()));
    EXPECT_EQ(f.objects(), 2u);
    f.expect_sound();
    f.overwrite(other, pattern(2, 100));  // the next transaction is a fresh start
#endif
  }
  pool_file f;
  scute_oid oid = 0, other = 0;
};

// TX-3.
TEST_P(canary, AroundAnOpenedObject) {
  const auto n = static_cast<int64_t>(GetParam());
#ifdef SCUTE_TEST_ASAN
  const int64_t last = n + 20;  // its granules are of 8 bytes, so it misses the end of the canary
#else
  const int64_t last = n + 31;
#endif
  for (const int64_t at : {n, n + 7, last, int64_t{-1}, int64_t{-32}})
    overrun(at, [&](scute_tx* tx) {
      void* p = nullptr;
      EXPECT_EQ(SCUTE_OK, scute_tx_open(tx, oid, &p));
      return p;
    });
}

TEST_P(canary, AroundAFreshObject) {
  const auto n = static_cast<int64_t>(GetParam());
  for (const int64_t at : {n, int64_t{-1}})
    overrun(at, [&](scute_tx* tx) {
      void* p = nullptr;
      scute_oid fresh = 0;
      EXPECT_EQ(SCUTE_OK, scute_tx_alloc(tx, GetParam(), 1, &fresh, &p));
      return p;
    });
}

TEST_P(canary, AfterTheLastRange) {
  overrun(1, [&](scute_tx* tx) {
    void* p = nullptr;
    EXPECT_EQ(SCUTE_OK, scute_tx_add_range(tx, oid, GetParam() - 1, 1, &p));
    return p;
  });
}

TEST_P(canary, BeforeTheFirstRange) {
  for (const int64_t at : {int64_t{-1}, int64_t{-32}})
    overrun(at, [&](scute_tx* tx) {
      void* p = nullptr;
      EXPECT_EQ(SCUTE_OK, scute_tx_add_range(tx, oid, 0, 1, &p));
      return p;
    });
}

TEST_P(canary, AroundABufferOutsideTransactions) {
  for (const int64_t at : {static_cast<int64_t>(GetParam()), int64_t{-1}}) {
    void* p = nullptr;
    SCUTE_OKAY(scute_obj_open(f, oid, &p));
    auto* b = static_cast<volatile unsigned char*>(p);
#ifdef SCUTE_TEST_ASAN
    EXPECT_DEATH(b[at] = 1, "use-after-poison");
    scute_obj_discard(p);
#else
    b[0] = 77;
    b[at] = static_cast<unsigned char>(~b[at]);
    SCUTE_FAILS(SCUTE_E_CANARY, scute_obj_commit(p));
    EXPECT_TRUE(f.read(oid) == pattern(1, GetParam()));
#endif
  }
}

// The room for headers before the buffer of a large object is large as well (here 8 MiB, for an
// object of 1 GiB). Planting guard bytes, and testing them, must not touch all of it, or an edit of
// one byte costs milliseconds.
TEST(arena, GuardsATakenBufferWithAFewBytesWhateverItsSize) {
#ifndef SCUTE_TEST_ASAN
  constexpr uint64_t size = gib, front = size / 4096 * 32;
  tx::arena a;
  std::byte* p = a.take(size, front);
  EXPECT_TRUE(tx::arena::intact(p, size, front));
  const std::byte* const begin = p - front;
  EXPECT_TRUE(codec::is_zero(begin, front - tx::front_canary_max)) << "guard bytes everywhere";
  for (const int64_t at : {int64_t{-256}, int64_t{-1}, int64_t{size}, int64_t{size + 31}}) {
    p[at] ^= std::byte{1};
    EXPECT_FALSE(tx::arena::intact(p, size, front)) << at;
    p[at] ^= std::byte{1};
  }
  EXPECT_TRUE(tx::arena::intact(p, size, front));
#endif
}

INSTANTIATE_TEST_SUITE_P(Size, canary, testing::Values(1, 32, 100, 4096, 5000, 200000));

}  // namespace
}  // namespace scute::test
