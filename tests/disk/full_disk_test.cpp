// SPDX-License-Identifier: BSD-3-Clause
// A file system without room, in every operation that can meet it. The result is SCUTE_E_NOSPC,
// with nothing changed, and no store or load finds a missing block. Existing objects remain usable.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <tuple>

#include "disk/own_process.hpp"
#include "disk/small_disk.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

using parameters = std::tuple<pool_kind, scute_medium>;

class full_disk : public testing::TestWithParam<parameters> {
 protected:
  static scute_options how() {
    scute_options o = options(2 * mib, std::get<0>(GetParam()));
    o.medium = std::get<1>(GetParam());
    return o;
  }
  static int open(pool_file& f, uint32_t flags = 0) {
    scute_options o = how();
    o.flags = flags;
    return scute_open(f.path.c_str(), &o, &f.pool);
  }
  static scute_oid try_alloc(pool_file& f, size_t n, int& e) {
    transaction tx(f);
    scute_oid oid = 0;
    void* p = nullptr;
    e = scute_tx_alloc(tx, n, 1, &oid, &p);
    if (e != SCUTE_OK) return 0;
    std::memcpy(p, pattern(7, n).data(), n);
    e = tx.commit();
    return oid;
  }
  // Objects until none of any size fits. Each with its content.
  static std::vector<std::pair<scute_oid, bytes>> fill(pool_file& f) {
    std::vector<std::pair<scute_oid, bytes>> all;
    for (const size_t n : sizes)
      for (size_t i = 0; i < 20000; ++i) {
        int e = SCUTE_OK;
        const scute_oid oid = try_alloc(f, n, e);
        if (e != SCUTE_OK) {
          EXPECT_EQ(e, SCUTE_E_NOSPC) << scute_errormsg();
          EXPECT_EQ(errno, ENOSPC);
          EXPECT_NE(std::string(scute_errormsg()).find("file system"), std::string::npos)
              << scute_errormsg();
          break;
        }
        all.emplace_back(oid, pattern(7, n));
      }
    EXPECT_GT(all.size(), std::size(sizes));
    return all;
  }
  // Of so many bytes that they fit the log of the smallest lane.
  static void change(pool_file& f, std::pair<scute_oid, bytes>& object, size_t at) {
    const bytes fresh = pattern(at + 3, std::min<size_t>(300, object.second.size() - at));
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, object.first, at, fresh.size(), &p));
    std::memcpy(p, fresh.data(), fresh.size());
    SCUTE_OKAY(tx.commit());
    std::copy(fresh.begin(), fresh.end(), object.second.begin() + static_cast<ptrdiff_t>(at));
  }
  // Everything that needs no further block.
  static void use(pool_file& f, std::vector<std::pair<scute_oid, bytes>>& all) {
    for (size_t i = 0; i < all.size(); i += 7) change(f, all[i], all[i].second.size() / 3);
    EXPECT_EQ(SCUTE_OK, f.free(all.back().first)) << scute_errormsg();
    all.pop_back();
    for (const auto& [oid, expected] : all) EXPECT_TRUE(f.read(oid) == expected);
    // Freed room can be allocated again.
    int e = SCUTE_OK;
    all.emplace_back(try_alloc(f, sizes[std::size(sizes) - 1], e),
                     pattern(7, sizes[std::size(sizes) - 1]));
    EXPECT_EQ(e, SCUTE_OK) << scute_errormsg();
    f.expect_sound();
    EXPECT_EQ(f.check(true).damaged, 0u);
    scute_location l{};
    l.struct_size = sizeof l;
    for (uint64_t at = 0; at < 2 * mib; at += 10000) EXPECT_EQ(SCUTE_OK, scute_locate(f, at, &l));
  }
  static void crash(pool_file& f) {
    f.in().abandon();
    delete std::exchange(f.pool, nullptr);
  }
  // A copy with a hole wherever a page is zeros.
  static void copy_sparsely(const std::string& from, const std::string& to) {
    const bytes all = read_file(from);
    const bytes zeros(4096);
    write_file(to, {});
    ASSERT_EQ(0, ::truncate(to.c_str(), static_cast<off_t>(all.size())));
    for (size_t at = 0; at < all.size(); at += 4096)
      if (std::memcmp(all.data() + at, zeros.data(), 4096) != 0)
        write_at(to, at, all.data() + at, 4096);
  }

  static constexpr size_t sizes[] = {60000, 9000, 1000, 100};
};

// BLOCK-1.
TEST_P(full_disk, Create) {
  in_own_process([] {
    uint64_t refused = 0;
    for (uint64_t pages = 0;; pages += 3) {
      pool_file f;
      small_disk::begin(pages);
      scute_options o = how();
      const int e = scute_create(f.path.c_str(), &o, &f.pool);
      if (e == SCUTE_OK) break;
      ASSERT_EQ(e, SCUTE_E_NOSPC) << scute_errormsg();
      EXPECT_EQ(f.dir.count(), 0u) << "a file is left over";
      ++refused;
      ASSERT_LT(pages, 2 * mib / 4096);
    }
    EXPECT_GT(refused, 2u);
  });
}

// BLOCK-1: what the file system says is too little is not taken at all.
TEST_P(full_disk, CreateTooLarge) {
  for (const uint32_t flags : {uint32_t{0}, uint32_t{SCUTE_PREALLOCATE}})
    in_own_process([&] {
      pool_file f;
      // Without reservation the structures fit; the whole file does not.
      const uint64_t pages = flags == 0 ? 3 : 400;
      small_disk::begin(pages);
      small_disk::report_free();
      scute_options o = how();
      o.flags = flags;
      ASSERT_EQ(SCUTE_E_NOSPC, scute_create(f.path.c_str(), &o, &f.pool)) << scute_errormsg();
      EXPECT_EQ(errno, ENOSPC);
      EXPECT_NE(std::string(scute_errormsg())
                    .find("has " + std::to_string(pages * 4096) + " bytes free, and "),
                std::string::npos)
          << scute_errormsg();
      EXPECT_EQ(small_disk::free_pages(), pages) << "blocks were taken";
      EXPECT_EQ(f.dir.count(), 0u) << "a file is left over";
      small_disk::set_free(2000);
      SCUTE_OKAY(scute_create(f.path.c_str(), &o, &f.pool));
    });
}

// BLOCK-1.
TEST_P(full_disk, FillAndUse) {
  for (const uint64_t pages : {0, 100, 301})
    in_own_process([&] {
      SCOPED_TRACE(pages);
      pool_file f;
      small_disk::begin(200);
      f.create(how());
      const scute_oid first = f.alloc(bytes(100));
      ASSERT_NE(first, 0u);
      // Others take the rest of the free pages.
      small_disk::set_free(pages);
      auto all = fill(f);
      all.emplace_back(first, bytes(100));
      std::swap(all.front(), all.back());
      use(f, all);
      f.close();
      SCUTE_OKAY(open(f));
      use(f, all);
      crash(f);
      SCUTE_OKAY(open(f));
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      use(f, all);
      f.close();
      SCUTE_OKAY(open(f, SCUTE_READONLY));
      for (const auto& [oid, expected] : all) EXPECT_TRUE(f.read(oid) == expected);
      f.expect_sound();
      f.close();
      // With room there is more.
      small_disk::set_free(300);
      SCUTE_OKAY(open(f));
      int e = SCUTE_OK;
      try_alloc(f, 30000, e);
      EXPECT_EQ(e, SCUTE_OK) << scute_errormsg();
      f.expect_sound();
    });
}

// Pages of zeros in objects, and in structures, become holes in a copy. (BLOCK-2)
TEST_P(full_disk, SparseCopy) {
  in_own_process([] {
    pool_file f;
    f.create(how());
    const scute_oid zeros = f.alloc(bytes(200000)), other = f.alloc(pattern(1, 5000));
    f.close();
    pool_file g;
    copy_sparsely(f.path, g.path);
    const bytes before = read_file(g.path);
    small_disk::begin(5);
    SCUTE_FAILS(SCUTE_E_NOSPC, open(g));
    EXPECT_NE(std::string(scute_errormsg()).find("read-only"), std::string::npos);
    EXPECT_TRUE(read_file(g.path) == before) << "a refused opening changes nothing";
    small_disk::set_free(400);
    SCUTE_OKAY(open(g));
    small_disk::set_free(0);
    EXPECT_TRUE(g.read(zeros) == bytes(200000));
    std::pair object(zeros, bytes(200000));
    for (size_t at = 0; at < 200000; at += 4096) change(g, object, at);
    EXPECT_TRUE(g.read(other) == pattern(1, 5000));
    g.expect_sound();
    g.close();
    SCUTE_OKAY(open(g));
    EXPECT_TRUE(g.read(zeros) == object.second);
    EXPECT_TRUE(g.read(other) == pattern(1, 5000));
  });
}

// A hole is punched into an object: with parity and checksums its page comes back. (BLOCK-2)
TEST_P(full_disk, PunchedHole) {
  in_own_process([] {
    pool_file f;
    f.create(how());
    const scute_oid oid = f.alloc(pattern(1, 50000));
    const uint64_t page = (f.offset_of(oid) + 20000) / 4096 * 4096;
    f.close();
    const int fd = ::open(f.path.c_str(), O_RDWR);
    ASSERT_EQ(0, ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             static_cast<off_t>(page), 4096));
    ::close(fd);
    small_disk::begin(0);
    // Blocks that were reserved and never written are lost as well with the disk's own account.
    SCUTE_FAILS(SCUTE_E_NOSPC, open(f));
    small_disk::set_free(400);
    SCUTE_OKAY(open(f));
    small_disk::set_free(0);
    if (f.info().protection == SCUTE_PROTECT_MLPC) {
      EXPECT_TRUE(f.read(oid) == pattern(1, 50000));
      f.expect_sound();
    }
    const void* at = scute_get(f, oid);
    ASSERT_NE(at, nullptr);
    std::pair object(oid, bytes(50000));
    std::memcpy(object.second.data(), at, 50000);
    change(f, object, 20000);
    EXPECT_TRUE(f.read(oid) == object.second);
  });
}

// With four rows of parity such a pool is full before the disk is.
const auto with_room_for_the_disk_to_be_full = testing::Values(
    pool_kind(SCUTE_PROTECT_NONE), pool_kind(SCUTE_PROTECT_ML), pool_kind(SCUTE_PROTECT_MLP),
    pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
    pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE),
    pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 3), with_spec(SCUTE_PROTECT_NONE),
    with_spec(SCUTE_PROTECT_ML), with_spec(SCUTE_PROTECT_MLP), with_spec(SCUTE_PROTECT_MLPC));
INSTANTIATE_TEST_SUITE_P(Medium, full_disk,
                         testing::Combine(with_room_for_the_disk_to_be_full,
                                          testing::Values(SCUTE_MEDIUM_RAM, SCUTE_MEDIUM_FILE)),
                         [](const auto& p) {
                           const testing::TestParamInfo<pool_kind> kind(std::get<0>(p.param), 0);
                           return protection_name(kind) +
                                  (std::get<1>(p.param) == SCUTE_MEDIUM_RAM ? "_ram" : "_file");
                         });

}  // namespace
}  // namespace scute::test
