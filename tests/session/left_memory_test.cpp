// SPDX-License-Identifier: BSD-3-Clause
// A pool that was closed, and one that could not be opened, leave no memory allocated.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "support/left_memory.hpp"
#include "support/pool_file.hpp"

#ifdef SCUTE_TEST_COUNTS_MEMORY

namespace scute::test {
namespace {

class left_memory : public testing::TestWithParam<scute_engine> {};
INSTANTIATE_TEST_SUITE_P(Engine, left_memory, every_engine, engine_name);

// The measure itself: one byte of each round is noticed.
TEST(left_memory_measure, NoticesTheSmallestPiece) {
  std::vector<std::unique_ptr<char>> kept;
  kept.reserve(2000);
  EXPECT_NONFATAL_FAILURE(expect_none_left([&] { kept.push_back(std::make_unique<char>()); }),
                          "memory_in_use()");
  expect_none_left([] { std::vector<std::unique_ptr<char>>(1)[0] = std::make_unique<char>(); });
}

TEST_P(left_memory, OfPoolsThatWereClosed) {
  pool_file f;
  f.create(options(2 * mib, {SCUTE_PROTECT_MLPC, GetParam()}));
  const scute_oid oid = f.alloc(pattern(1, 100));
  expect_none_left([&] {
    f.reopen();
    f.overwrite(oid, pattern(2, 100));
  });
}

TEST_P(left_memory, OfPoolsThatWereNotOpened) {
  pool_file f;
  f.create(options(2 * mib, {SCUTE_PROTECT_MLPC, GetParam()}));
  scute_options o = opening();
  expect_none_left([&] {
    scute_pool* second = nullptr;
    SCUTE_FAILS(SCUTE_E_BUSY, scute_open(f.path.c_str(), &o, &second));
  });
}

// The memory of a thread is freed when it ends, its last error as well.
TEST_P(left_memory, OfThreads) {
  pool_file f;
  f.create(options(2 * mib, {SCUTE_PROTECT_MLPC, GetParam()}));
  const scute_oid oid = f.alloc(pattern(1, 100));
  expect_none_left([&] {
    std::thread([&] {
      f.overwrite(oid, pattern(3, 100));
      SCUTE_FAILS(SCUTE_E_NOTX, scute_tx_commit(nullptr));
    }).join();
  });
}

// A thread whose transaction ended with its pool learns so, even if the next pool has taken its
// place in the library's tables.
TEST_P(left_memory, ATransactionOfAPoolThatIsGoneStaysGone) {
  pool_file f;
  f.create(options(2 * mib, {SCUTE_PROTECT_MLPC, GetParam()}));
  scute_tx* tx = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  std::thread([&] { f.reopen(); }).join();
  SCUTE_FAILS(SCUTE_E_NOTX, scute_tx_commit(tx));
  EXPECT_NE(0u, f.alloc(pattern(4, 50)));
}

}  // namespace
}  // namespace scute::test

#endif
