// SPDX-License-Identifier: BSD-3-Clause
// scute_obj_open, _commit, _discard: one object at a time.
#include <gtest/gtest.h>

#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class object : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override {
    f.create(2 * mib, GetParam());
    oid = f.alloc(was);
  }
  unsigned char* open() {
    void* p = nullptr;
    EXPECT_EQ(SCUTE_OK, scute_obj_open(f, oid, &p)) << scute_errormsg();
    return static_cast<unsigned char*>(p);
  }
  const bytes was = pattern(1, 9000);
  pool_file f;
  scute_oid oid = 0;
};

TEST_P(object, CommitWritesWhatChanged) {
  unsigned char* p = open();
  ASSERT_EQ(0, std::memcmp(p, was.data(), was.size()));
  EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(p) % 64);
  p[5000] ^= 1;
  EXPECT_TRUE(f.read(oid) == was) << "not before the commit";
  const auto before = f.stats();
  SCUTE_OKAY(scute_obj_commit(p));
  EXPECT_LE(f.stats().bytes_data - before.bytes_data, 8u);  // differences are found by words
  bytes want = was;
  want[5000] ^= 1;
  EXPECT_TRUE(f.read(oid) == want);
  f.expect_sound();
}

TEST_P(object, DiscardWritesNothing) {
  unsigned char* p = open();
  p[0] ^= 1;
  scute_obj_discard(p);
  scute_obj_discard(nullptr);
  EXPECT_TRUE(f.read(oid) == was);
}

TEST_P(object, ChangedMeanwhile) {
  unsigned char *a = open(), *b = open();
  a[0] ^= 1, b[8999] ^= 1;
  SCUTE_OKAY(scute_obj_commit(a));
  SCUTE_FAILS(SCUTE_E_CONFLICT, scute_obj_commit(b));
  bytes want = was;
  want[0] ^= 1;
  EXPECT_TRUE(f.read(oid) == want);
  SCUTE_OKAY(scute_obj_commit(open()));
}

TEST_P(object, FreedMeanwhile) {
  unsigned char* p = open();
  ASSERT_EQ(SCUTE_OK, f.free(oid));
  p[0] ^= 1;
  SCUTE_FAILS(SCUTE_E_FREED, scute_obj_commit(p));
  // The same place, another object of the same size: not ours either.
  oid = f.alloc(was);
  p = open();
  ASSERT_EQ(SCUTE_OK, f.free(oid));
  const scute_oid next = f.alloc(pattern(2, 9000));
  p[0] ^= 1;
  const int e = scute_obj_commit(p);
  EXPECT_TRUE(e == SCUTE_E_CONFLICT || e == SCUTE_E_FREED) << e;
  EXPECT_TRUE(f.read(next) == pattern(2, 9000));
}

TEST_P(object, NotInsideATransaction) {
  unsigned char* p = open();
  p[0] ^= 1;
  transaction tx(f);
  SCUTE_FAILS(SCUTE_E_INVALID, scute_obj_commit(p));
  SCUTE_OKAY(tx.commit());
  EXPECT_TRUE(f.read(oid) == was);
}

// The buffer outlives the pool; there is nothing left that it could be written to.
TEST_P(object, PoolClosedMeanwhile) {
  unsigned char *a = open(), *b = open(), *c = open();
  a[0] ^= 1;
  f.close();
  SCUTE_FAILS(SCUTE_E_INVALID, scute_obj_commit(a));
  scute_obj_discard(b);
  f.open();
  SCUTE_FAILS(SCUTE_E_INVALID, scute_obj_commit(c));  // not the same session
  EXPECT_TRUE(f.read(oid) == was);
}

TEST_P(object, BufferMayChangeThreads) {
  unsigned char* p = open();
  p[7] ^= 1;
  std::thread([&] { SCUTE_OKAY(scute_obj_commit(p)); }).join();
  EXPECT_EQ(f.read(oid)[7], was[7] ^ 1);
}

INSTANTIATE_TEST_SUITE_P(Protection, object, every_protection, protection_name);

}  // namespace
}  // namespace scute::test
