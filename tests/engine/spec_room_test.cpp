// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: room in its log, and checkpoints concurrently with open transactions.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

scute_options small_log(uint64_t size, uint64_t cap, scute_protection level = SCUTE_PROTECT_MLPC) {
  scute_options o = options(size, {level, SCUTE_ENGINE_SPEC});
  o.lanes = 4;
  o.log_cap = cap;
  return o;
}

// The smallest pools are not all log.
TEST(spec_room, TheSmallestPoolHoldsObjects) {
  for (const auto level :
       {SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP, SCUTE_PROTECT_MLPC}) {
    pool_file pool;
    pool.create(options(SCUTE_SIZE_MIN, {level, SCUTE_ENGINE_SPEC}));
    ASSERT_NE(pool.info().chunks_free, 0u);
    const scute_oid oid = pool.alloc(bytes(200, 1));
    for (unsigned char k = 0; k < 100; ++k) {
      transaction tx(pool);
      void* at = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, oid, 0, 200, &at));
      std::memset(at, k, 200);
      SCUTE_OKAY(tx.commit());
    }
    EXPECT_EQ(pool.read(oid), bytes(200, 99));
    pool.expect_sound();
  }
}

// However a pool is cut, a log of the usual size can be listed.
TEST(spec_room, TheUsualLogFits) {
  for (const uint32_t rows : {1u, 2u, 4u, 20u, 100u})
    for (uint32_t parity = 1; parity <= 4; ++parity)
      for (const uint64_t size : {8 * mib, 20 * mib}) {
        scute_options o = options(size, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
        o.rows = rows;
        o.parity = parity;
        pool_file pool;
        const int made = scute_create(pool.path.c_str(), &o, &pool.pool);
        if (made == SCUTE_E_RANGE) {
          EXPECT_EQ(std::string(scute_errormsg()).find("this pool can list"), std::string::npos)
              << rows << ' ' << parity << ' ' << size << ": " << scute_errormsg();
          continue;
        }
        ASSERT_EQ(made, SCUTE_OK) << scute_errormsg();
        const scute_oid oid = pool.alloc(bytes(200, 1));
        EXPECT_EQ(pool.read(oid), bytes(200, 1));
      }
}

// ROOM-1, CLOG-4.
TEST(spec_room, ATransactionLargerThanTheLogBorrowsChunks) {
  for (const auto level : {SCUTE_PROTECT_NONE, SCUTE_PROTECT_MLPC}) {
    pool_file pool;
    pool.create(small_log(32 * mib, mib, level));
    const uint64_t cap = pool.info().log_cap;
    EXPECT_LE(cap, mib + mib / 2);
    const uint64_t size = 3 * mib;
    const scute_oid large = pool.alloc(bytes(size, 1)), small = pool.alloc(bytes(64, 1));
    const uint64_t free_before = pool.info().chunks_free;
    for (unsigned char k = 2; k < 5; ++k) {
      transaction tx(pool);
      void* at = nullptr;
      SCUTE_OKAY(scute_tx_open(tx, large, &at));
      std::memset(at, k, size);
      SCUTE_OKAY(tx.commit());
      EXPECT_GT(pool.info().log_cap, size);
    }
    EXPECT_EQ(pool.read(large), bytes(size, 4));
    pool.expect_sound();
    // The next thread that commits finds that all of it is checkpointed.
    for (int k = 0; k < 3; ++k) {
      SCUTE_OKAY(scute_drain(pool));
      transaction tx(pool);
      void* at = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, large, 0, 2, &at));
      SCUTE_OKAY(scute_tx_open(tx, small, &at));
      std::memset(at, k, 64);
      SCUTE_OKAY(tx.commit());
    }
    EXPECT_EQ(pool.info().log_cap, cap);
    EXPECT_EQ(pool.info().chunks_free, free_before);
    pool.reopen();
    EXPECT_EQ(pool.read(large), bytes(size, 4));
    pool.expect_sound();
  }
}

// Overwrites all of it, which takes more log than there is.
void overwrite(pool_file& pool, scute_oid large, uint64_t size, int with) {
  transaction tx(pool);
  void* at = nullptr;
  ASSERT_EQ(scute_tx_open(tx, large, &at), SCUTE_OK) << scute_errormsg();
  std::memset(at, with, size);
  ASSERT_EQ(tx.commit(), SCUTE_OK) << scute_errormsg();
}

// CLOG-4. The lane of a thread that had ended stayed at one of the chunks, and so none of them ever
// went back.
TEST(spec_room, AThreadThatIsGoneKeepsNoChunks) {
  pool_file pool;
  pool.create(small_log(32 * mib, mib));
  const uint64_t cap = pool.info().log_cap, size = 3 * mib;
  const scute_oid large = pool.alloc(bytes(size, 1)), small = pool.alloc(bytes(64, 1));
  std::thread([&] { overwrite(pool, large, size, 2); }).join();
  EXPECT_GT(pool.info().log_cap, size);
  for (int k = 0; k < 3; ++k) {
    SCUTE_OKAY(scute_drain(pool));
    pool.overwrite(small, bytes(64, static_cast<unsigned char>(k)));
  }
  EXPECT_EQ(pool.info().log_cap, cap);
  pool.expect_sound();
}

// ROOM-5. All of these used to be refused until a thread had committed after a checkpoint.
TEST(spec_room, ObjectsHaveTheRoomThatTheLogNeedsNoMore) {
  pool_file pool;
  pool.create(small_log(16 * mib, mib));
  pool.in().idle.stop();  // only a thread that needs the room checkpoints
  const uint64_t cap = pool.info().log_cap, size = 3 * mib;
  const scute_oid large = pool.alloc(bytes(size, 1));
  const uint64_t chunks = pool.info().chunks_free;
  overwrite(pool, large, size, 2);
  EXPECT_GT(pool.info().log_cap, size);
  EXPECT_LT(pool.info().chunks_free, chunks);
  {
    transaction tx(pool);
    scute_oid oid = 0;
    for (uint64_t i = 0; i < chunks; ++i)
      SCUTE_OKAY(scute_tx_alloc(tx, pool.info().chunk_size - 1024, 7, &oid, nullptr)) << i;
  }
  EXPECT_EQ(pool.info().log_cap, cap);
  EXPECT_EQ(pool.read(large), bytes(size, 2));
  pool.expect_sound();
}

// Chunks that a crash had left lent and listed were overlaid twice, and once when they had gone
// back. Objects in them read as zeros. (Found by torture.)
TEST(spec_room, ChunksThatACrashLeftInTheLogHoldObjectsAgain) {
  for (const auto level : {SCUTE_PROTECT_ML, SCUTE_PROTECT_MLPC}) {
    pool_file pool;
    pool.create(small_log(16 * mib, mib, level));
    const uint64_t cap = pool.info().log_cap, size = 3 * mib;
    const scute_oid large = pool.alloc(bytes(size, 1)), small = pool.alloc(bytes(64, 1));
    overwrite(pool, large, size, 2);
    EXPECT_GT(pool.info().log_cap, size);
    pool.in().abandon();
    pool.reopen();
    for (int k = 0; k < 3; ++k) {
      SCUTE_OKAY(scute_drain(pool));
      pool.overwrite(small, bytes(64, static_cast<unsigned char>(k)));
    }
    EXPECT_EQ(pool.info().log_cap, cap);
    std::vector<scute_oid> all;
    const uint64_t each = pool.info().chunk_size - 1024;
    for (uint64_t n = pool.info().chunks_free; n > 2; --n)
      all.push_back(pool.alloc(pattern(n, each)));
    for (const scute_oid o : all) {
      const bytes there = pool.read(o);
      transaction tx(pool);
      void* copy = nullptr;
      SCUTE_OKAY(scute_tx_open(tx, o, &copy));
      ASSERT_EQ(std::memcmp(copy, there.data(), each), 0);
    }
    pool.expect_sound();
  }
}

// The error names the least size, and with that it goes.
TEST(spec_room, RefusesATooSmallPoolAndNamesTheLeastSize) {
  const auto refused = [](scute_options o) {
    const scratch dir;
    const std::string path = dir.file("pool");
    scute_pool* p = nullptr;
    EXPECT_EQ(scute_create(path.c_str(), &o, &p), SCUTE_E_RANGE);
    const std::string said = scute_errormsg();
    const size_t at = said.find("choose at least ");
    if (at == std::string::npos) {
      ADD_FAILURE() << said;
      return;
    }
    const uint64_t least = std::stoull(said.substr(at + std::strlen("choose at least "))) * kib;
    EXPECT_GT(least, o.size);
    o.size = least;
    pool_file pool;
    pool.create(o);
    EXPECT_NE(pool.alloc(bytes(100, 1)), 0U);
    pool.expect_sound();
  };
  // (The smallest pool holds objects next to a log of the least size, but not next to a log of
  // the requested size.)
  refused(small_log(256 * kib, 256 * kib));
  refused(small_log(mib, mib));
  scute_options o = options(512 * kib, {SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC});
  o.lanes = 64;
  refused(o);
}

// ROOM-3, CKPT-3: all of an object that is larger than the log is open in place while another
// thread turns the log over.
TEST(spec_room, ThereIsRoomForTheOldBytesOfWhatIsOpen) {
  pool_file pool;
  pool.create(small_log(32 * mib, mib));
  const scute_oid large = pool.alloc(bytes(2 * mib, 1)), other = pool.alloc(bytes(4000, 0));
  {
    transaction tx(pool);
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, large, 0, 2 * mib, &at));
    std::memset(at, 9, 2 * mib);
    std::thread([&] {
      for (int i = 0; i < 3000; ++i) {
        transaction mine(pool);
        void* to = nullptr;
        ASSERT_EQ(scute_tx_open(mine, other, &to), SCUTE_OK) << scute_errormsg();
        std::memset(to, i, 4000);
        ASSERT_EQ(mine.commit(), SCUTE_OK) << scute_errormsg();
      }
    }).join();
    scute_tx_abort(tx);
  }
  EXPECT_EQ(pool.read(large), bytes(2 * mib, 1));
  EXPECT_EQ(pool.read(other), bytes(4000, static_cast<unsigned char>(2999)));
  pool.expect_sound();
}

// ROOM-2: allocations continue, steps of the allocator included, while ranges in place have
// reserved all the room.
TEST(spec_room, StepsFindRoomWhileMuchIsReserved) {
  pool_file pool;
  pool.create(small_log(16 * mib, mib));
  std::vector<scute_oid> large;
  for (int i = 0; i < 4; ++i) large.push_back(pool.alloc(bytes(300'000, 1)));
  transaction tx(pool);
  for (const scute_oid o : large) {
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, o, 0, 300'000, &at));
    std::memset(at, 2, 300'000);
  }
  std::thread([&] {
    for (unsigned i = 0; i < 200; ++i) ASSERT_NE(pool.alloc(pattern(i, 16 + i * 37)), 0U);
  }).join();
  SCUTE_OKAY(tx.commit());
  for (const scute_oid o : large) EXPECT_EQ(pool.read(o), bytes(300'000, 2));
  pool.expect_sound();
}

// CKPT-2: a checkpoint does not wait for a transaction, whatever it has open.
TEST(spec_room, ADrainDoesNotWaitForWhatIsOpen) {
  pool_file pool;
  pool.create(small_log(4 * mib, 0));
  const scute_oid a = pool.alloc(bytes(300, 1));
  transaction tx(pool);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_inplace(tx, a, 10, 200, &at));
  std::memset(at, 2, 200);
  std::thread([&] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(scute_drain(pool), SCUTE_OK);
  }).join();
  SCUTE_OKAY(tx.commit());
  pool.expect_sound();
}

TEST(spec_room, MoreThanThePoolHasIsRefusedAndNothingIsLost) {
  pool_file pool;
  pool.create(small_log(8 * mib, mib));
  const scute_oid large = pool.alloc(bytes(4 * mib, 1));
  {
    transaction tx(pool);
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, large, &at));
    std::memset(at, 2, 4 * mib);
    EXPECT_EQ(tx.commit(), SCUTE_E_NOSPC);
  }
  EXPECT_EQ(pool.read(large), bytes(4 * mib, 1));
  pool.expect_sound();
  pool.reopen();
  EXPECT_EQ(pool.read(large), bytes(4 * mib, 1));
}

}  // namespace
}  // namespace scute::test
