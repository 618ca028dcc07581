// SPDX-License-Identifier: BSD-3-Clause
// A file system without room for a pool's log: met when the log is made, or made larger, and in no
// commit (LOGFILE-6).
#include <gtest/gtest.h>

#include "disk/small_disk.hpp"
#include "support/child.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

scute_options on_disk() {
  scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  o.lanes = 4;
  return o;
}

TEST(log_file_disk, NoRoomForALog) {
  in_child([] {
    const scute_options o = on_disk();
    unsigned refused = 0, made = 0;
    for (uint64_t pages = 0; pages < 400 && made < 3; pages += 15) {
      pool_file f(scratch::disk);
      small_disk::begin(pages);
      const int e = scute_create(f.path.c_str(), &o, &f.pool);
      if (e == SCUTE_OK) {
        // The room that a log gets when it is made is enough for commits: they overwrite blocks.
        small_disk::set_free(0);
        const scute_oid oid = f.alloc(pattern(1, 300));
        if (oid != 0) {
          for (unsigned k = 0; k < 300; ++k) f.overwrite(oid, pattern(k, 300));
          EXPECT_EQ(f.read(oid), pattern(299, 300));
        }
        f.close();
        ++made;
      } else {
        SCUTE_FAILS(SCUTE_E_NOSPC, e);
        EXPECT_EQ(f.dir.count(), 0U) << "something was left";
        ++refused;
      }
      small_disk::end();
    }
    EXPECT_GT(refused, 3U);
    EXPECT_EQ(made, 3U);
  });
}

TEST(log_file_disk, NoRoomForALargerOne) {
  in_child([] {
    pool_file f(scratch::disk);
    scute_options o = on_disk();
    o.size = 8 * mib;
    o.log_cap = 256 * kib;
    small_disk::begin(100'000);
    f.create(o);
    std::vector<scute_oid> many;
    for (unsigned i = 0; i < 12; ++i) many.push_back(f.alloc(pattern(i, 40000)));
    f.reopen();  // the log has its own size
    small_disk::set_free(2);
    {
      transaction tx(f);
      for (unsigned i = 0; i < 12; ++i) {
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_open(tx, many[i], &p));
        std::memcpy(p, pattern(100 + i, 40000).data(), 40000);
      }
      SCUTE_FAILS(SCUTE_E_NOSPC, tx.commit());
    }
    for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(f.read(many[i]), pattern(i, 40000));
    f.overwrite(many[0], pattern(7, 40000));  // continues
    EXPECT_EQ(f.read(many[0]), pattern(7, 40000));
    f.expect_sound();
    f.close();
    small_disk::end();
  });
}

}  // namespace
}  // namespace scute::test
