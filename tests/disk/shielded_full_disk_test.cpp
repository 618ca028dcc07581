// SPDX-License-Identifier: BSD-3-Clause
// A file system without room under a shielded file. Calls that need a block fail with
// SCUTE_E_NOSPC, and change nothing. Existing bytes remain usable, and with more room everything
// continues (BLOCK-1).
#include <gtest/gtest.h>

#include <scute/shield_room.h>

#include <unistd.h>

#include "disk/own_process.hpp"
#include "disk/small_disk.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

class shielded_full_disk : public testing::TestWithParam<scute_engine> {};

TEST_P(shielded_full_disk, Add) {
  in_own_process([] {
    uint64_t refused = 0;
    for (uint64_t pages = 0;; pages += 5) {
      shielded f;
      f.make(400001);
      small_disk::begin(pages);
      const scute_options o = shielded::options(GetParam());
      const int e = scute_shield_add(f.path.c_str(), &o, 3 * mib, 0);
      small_disk::end();
      f.expect_file();
      if (e == SCUTE_OK) break;
      ASSERT_EQ(e, SCUTE_E_NOSPC) << scute_errormsg();
      EXPECT_EQ(f.dir.count(), 1u) << "a file is left over";
      ++refused;
      ASSERT_LT(pages, 3 * mib / 4096);
    }
    EXPECT_GT(refused, 2u);
  });
}

TEST_P(shielded_full_disk, Grow) {
  in_own_process([] {
    shielded f;
    f.make(400001);
    small_disk::begin(5000);
    f.add(shielded::options(GetParam()), 3 * mib);
    small_disk::set_free(0);
    f.open();
    const uint64_t wanted = 2 * mib + 17;
    uint64_t refused = 0;
    for (uint64_t pages = 0;; pages += 40) {
      small_disk::set_free(pages);
      const int e = scute_shield_grow(f.pool, wanted);
      if (e == SCUTE_OK) break;
      ASSERT_EQ(e, SCUTE_E_NOSPC) << scute_errormsg();
      EXPECT_EQ(f.state().size, f.content.size());
      EXPECT_EQ(scute_shield_reserve(f.pool, wanted), SCUTE_E_NOSPC);
      f.write(f.content.size() - 100, pattern(pages + 2, 100));
      f.expect_sound();
      ++refused;
      ASSERT_LT(pages, 4 * mib / 4096);
    }
    EXPECT_GT(refused, 2u);
    f.content.resize(wanted);
    f.write(wanted - 100, pattern(3, 100));
    f.expect_content();
    f.expect_sound();
    small_disk::set_free(0);
    f.reopen();
    f.expect_content();
    f.expect_sound();
    f.close();
    f.expect_file();
  });
}

// A growth for which FILE.scute had no room has made FILE longer: that is no damage. The next
// session finishes the growth or gives it up.
TEST_P(shielded_full_disk, GrowAndReopen) {
  for (uint64_t pages = 0; pages < 1000; pages += 45)
    in_own_process([&] {
      SCOPED_TRACE(pages);
      shielded f;
      f.make(400001);
      small_disk::begin(5000);
      f.add(shielded::options(GetParam()), 3 * mib);
      small_disk::set_free(pages);
      f.open();
      const int e = scute_shield_grow(f.pool, 2 * mib);
      ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_NOSPC) << scute_errormsg();
      f.in().abandon();
      delete std::exchange(f.pool, nullptr);
      small_disk::set_free(2000);
      f.open();
      const uint64_t size = f.state().size;
      EXPECT_TRUE(size == 2 * mib || (e != SCUTE_OK && size == f.content.size())) << size;
      f.content.resize(size);
      f.expect_content();
      f.expect_sound();
      f.close();
    });
}

INSTANTIATE_TEST_SUITE_P(Engines, shielded_full_disk,
                         testing::Values(SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_REDO,
                                         SCUTE_ENGINE_SPEC),
                         [](const auto& p) {
                           return p.param == SCUTE_ENGINE_LOGFREE ? "logfree"
                                  : p.param == SCUTE_ENGINE_REDO  ? "redo"
                                                                  : "spec";
                         });

}  // namespace
}  // namespace scute::test
