// SPDX-License-Identifier: BSD-3-Clause
// A program that closes all descriptors, those of the library's too, and opens files of its own,
// which get their numbers: nothing of theirs is touched (NUMBER-1, NUMBER-2 in
// base/process/kept_number.hpp), and lost pages are rebuilt (CLOSED-1).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "scute/pow.h"
#include "scute/shield.h"
#include "support/child.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class files_of_the_program {
 public:
  // Closes all descriptors, and has the numbers from 3 on for files of its own.
  explicit files_of_the_program(const scratch& dir) : dir_(dir) {
    ::close_range(3, ~0U, 0);
    for (int fd = 3; fd < 3 + files; ++fd) {
      const std::string path = dir_.file(("own-" + std::to_string(fd)).c_str());
      EXPECT_EQ(fd, ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
      EXPECT_EQ(static_cast<ssize_t>(size), ::write(fd, text(fd).data(), size));
    }
  }
  // They are open, and what they were.
  void expect_untouched() const {
    for (int fd = 3; fd < 3 + files; ++fd) {
      struct stat st{};
      ASSERT_EQ(0, ::fstat(fd, &st)) << fd << " was closed";
      EXPECT_EQ(static_cast<off_t>(size), st.st_size) << fd;
      std::string now(2 * size, 0);
      EXPECT_EQ(static_cast<ssize_t>(size), ::pread(fd, now.data(), now.size(), 0));
      now.resize(size);
      EXPECT_EQ(now, text(fd)) << fd;
      EXPECT_EQ(st.st_blocks, blocks_of_one()) << fd << ": room was reserved in it";
    }
  }

 private:
  static constexpr int files = 60;
  static constexpr size_t size = 5000;
  static std::string text(int fd) { return std::string(size, static_cast<char>('a' + fd % 26)); }
  blkcnt_t blocks_of_one() const {
    const std::string path = dir_.file("one");
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(static_cast<ssize_t>(size), ::write(fd, text(0).data(), size));
    struct stat st{};
    EXPECT_EQ(0, ::fstat(fd, &st));
    ::close(fd);
    return st.st_blocks;
  }
  const scratch& dir_;
};

int allocate(scute_pool* pool, size_t n) {
  scute_tx* tx = nullptr;
  if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
  scute_oid oid = 0;
  void* to = nullptr;
  if (const int e = scute_tx_alloc(tx, n, 1, &oid, &to); e != SCUTE_OK) {
    scute_tx_abort(tx);
    return e;
  }
  std::memset(to, 'x', n);
  return scute_tx_commit(tx);
}

int change(scute_pool* pool, scute_oid oid, const bytes& content) {
  scute_tx* tx = nullptr;
  void* to = nullptr;
  if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
  if (const int e = scute_tx_open(tx, oid, &to); e != SCUTE_OK) {
    scute_tx_abort(tx);
    return e;
  }
  std::memcpy(to, content.data(), content.size());
  return scute_tx_commit(tx);
}

// Until it fails, or not at all.
template <typename Fn>
int first_error(unsigned most, Fn&& fn) {
  for (unsigned i = 0; i < most; ++i)
    if (const int e = fn(i); e != SCUTE_OK) return e;
  return SCUTE_OK;
}

// More of a pool in memory comes into use, and blocks are reserved for it. A change that needs
// no blocks continues to work.
TEST(closed_descriptors, GrowthOfAPool) {
  const scratch others;
  pool_file f;
  in_child([&] {
    f.create(64 * mib);
    const scute_oid oid = f.alloc(pattern(1, 3000));
    ASSERT_NE(oid, 0U);
    const files_of_the_program own(others);
    EXPECT_EQ(SCUTE_E_IO, first_error(60, [&](unsigned) { return allocate(f, mib); }));
    EXPECT_NE(std::string(scute_errormsg()).find("closed a descriptor"), std::string::npos)
        << scute_errormsg();
    own.expect_untouched();
    EXPECT_EQ(SCUTE_OK, change(f, oid, pattern(2, 3000)));
    EXPECT_EQ(f.read(oid), pattern(2, 3000));
    f.close();
    own.expect_untouched();
  });
  f.open();
  f.expect_sound();
}

// With a log next to it, which is written by system calls, and gets longer by a large
// transaction.
TEST(closed_descriptors, SyncAndGrowthOfALog) {
  for (const size_t n : {size_t{3000}, size_t{1} << 20}) {
    const scratch others(scratch::disk);
    pool_file f(scratch::disk);
    scute_oid oid = 0;
    int ready[2];
    ASSERT_EQ(0, ::pipe(ready));
    in_child([&] {
      scute_options o = options(32 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
      o.medium = SCUTE_MEDIUM_FILE;
      f.create(o);
      oid = f.alloc(pattern(1, n));
      ASSERT_NE(oid, 0U);
      EXPECT_EQ(static_cast<ssize_t>(sizeof oid), ::write(ready[1], &oid, sizeof oid));
      const files_of_the_program own(others);
      EXPECT_EQ(SCUTE_E_IO,
                first_error(60, [&](unsigned i) { return change(f, oid, pattern(2 + i, n)); }));
      own.expect_untouched();
      EXPECT_EQ(SCUTE_E_IO, change(f, oid, pattern(99, n)));
      scute_close(f.pool);
      own.expect_untouched();
    });
    ASSERT_EQ(static_cast<ssize_t>(sizeof oid), ::read(ready[0], &oid, sizeof oid));
    ::close(ready[0]), ::close(ready[1]);
    f.open();
    f.expect_sound();
    EXPECT_EQ(f.read(oid), pattern(1, n));
  }
}

// A pool on a disk whose log is in it, or that has none: fences sync the mapping, or the file.
TEST(closed_descriptors, SyncOfAPool) {
  for (const scute_engine engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE}) {
    SCOPED_TRACE(engine);
    const scratch others(scratch::disk);
    pool_file f(scratch::disk);
    in_child([&] {
      scute_options o = options(32 * mib, {SCUTE_PROTECT_MLPC, engine});
      o.medium = SCUTE_MEDIUM_FILE;
      f.create(o);
      const scute_oid oid = f.alloc(pattern(1, 3000));
      ASSERT_NE(oid, 0U);
      const files_of_the_program own(others);
      EXPECT_EQ(SCUTE_E_IO, first_error(200, [&](unsigned i) {
                  return i % 2 == 0 ? change(f, oid, pattern(i, 3000)) : allocate(f, 100'000);
                }));
      own.expect_untouched();
      scute_close(f.pool);
      own.expect_untouched();
    });
    f.open();
    f.expect_sound();
  }
}

// A shielded file, in memory and on a disk, gets longer: blocks are reserved in it and for its
// checksums.
TEST(closed_descriptors, GrowthOfAShieldedFile) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    SCOPED_TRACE(where);
    const scratch others(where), dir(where);
    const std::string file = dir.file("file");
    const bytes before = pattern(5, 300'000);
    write_file(file, before);
    scute_options o = options(0, {SCUTE_PROTECT_MLPC});
    if (where == scratch::disk) o.medium = SCUTE_MEDIUM_FILE;
    SCUTE_OKAY(scute_shield_add(file.c_str(), &o, 4 * mib, 0));
    in_child([&] {
      scute_pool* pool = nullptr;
      SCUTE_OKAY(scute_shield_open(file.c_str(), &o, &pool));
      const files_of_the_program own(others);
      SCUTE_FAILS(SCUTE_E_IO, scute_shield_grow(pool, 2 * mib));
      own.expect_untouched();
      scute_close(pool);
      own.expect_untouched();
    });
    scute_pool* pool = nullptr;
    SCUTE_OKAY(scute_shield_open(file.c_str(), &o, &pool));
    bytes now(before.size());
    SCUTE_OKAY(scute_shield_read(pool, 0, now.data(), now.size()));
    EXPECT_EQ(now, before);
    SCUTE_OKAY(scute_shield_grow(pool, 2 * mib));
    SCUTE_OKAY(scute_close(pool));
  }
}

// CLOSED-1: a page is lost, before or after, and rebuilt for whatever asks for it first.
void lose_a_page(scute_pool* pool, scute_region region, uint64_t seed) {
  scute_injection what;
  scute_injection_init(&what);
  what.kind = SCUTE_INJURE_LOSE_PAGE;
  what.region = region;
  what.count = 1;
  what.seed = seed;
  SCUTE_OKAY(scute_inject(pool, &what, nullptr, nullptr, nullptr));
}

class lost_with_closed_descriptors
    : public ::testing::TestWithParam<std::tuple<scute_engine, scratch::where, scute_region>> {};
INSTANTIATE_TEST_SUITE_P(
    , lost_with_closed_descriptors,
    ::testing::Combine(every_engine, ::testing::Values(scratch::memory, scratch::disk),
                       ::testing::Values(SCUTE_REGION_OBJECT, SCUTE_REGION_PARITY,
                                         SCUTE_REGION_SUPERBLOCK, SCUTE_REGION_LANE)));

TEST_P(lost_with_closed_descriptors, IsRebuilt) {
  const auto [engine, where, region] = GetParam();
  const bool memory = where == scratch::memory;
  enum class first : uint8_t { check, scrub, get, change, close };
  for (const first who : {first::check, first::scrub, first::get, first::change, first::close})
    for (const bool before : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(who)) + (before ? " before" : " after"));
      const scratch others(where);
      pool_file f(where);
      scute_options o = options(8 * mib, {SCUTE_PROTECT_MLPC, engine});
      if (!memory) o.medium = SCUTE_MEDIUM_FILE;
      const bytes content = pattern(1, 30'000), changed = pattern(2, 30'000);
      constexpr int objects = 10;
      scute_oid oids[objects] = {};
      int ready[2];
      ASSERT_EQ(0, ::pipe(ready));
      in_child([&] {
        f.create(o);
        for (scute_oid& oid : oids) ASSERT_NE(oid = f.alloc(content), 0U);
        EXPECT_EQ(static_cast<ssize_t>(sizeof oids), ::write(ready[1], oids, sizeof oids));
        if (before) lose_a_page(f, region, 7);
        const files_of_the_program own(others);
        if (!before) lose_a_page(f, region, 7);
        scute_report r{};
        r.struct_size = sizeof r;
        int e = SCUTE_OK;
        if (who == first::check) e = scute_check(f, 1, &r, nullptr, nullptr, nullptr);
        if (who == first::scrub) e = scute_scrub(f, nullptr, &r);
        const void* at = nullptr;
        if (who == first::get) e = scute_get_verified(f, oids[0], &at);
        if (who == first::change) e = change(f, oids[0], changed);
        if (memory)
          EXPECT_EQ(SCUTE_OK, e) << scute_errormsg();
        else
          EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_IO) << e << ": " << scute_errormsg();
        EXPECT_EQ(r.lost, 0U);
        for (const scute_oid oid : oids) {
          at = scute_get(f, oid);
          ASSERT_NE(at, nullptr);
          const bytes& now = who == first::change && oid == oids[0] ? changed : content;
          if (memory || who != first::change) {
            EXPECT_EQ(0, std::memcmp(at, now.data(), now.size()));
          }
        }
        own.expect_untouched();
        scute_close(f.pool);
        f.pool = nullptr;
        own.expect_untouched();
      });
      ASSERT_EQ(static_cast<ssize_t>(sizeof oids), ::read(ready[0], oids, sizeof oids));
      ::close(ready[0]), ::close(ready[1]);
      f.open();
      for (const scute_oid oid : oids) {
        const bytes now = f.read(oid);
        EXPECT_TRUE(now == content || (who == first::change && oid == oids[0] && now == changed));
      }
      f.expect_sound();
    }
}

// Segments of a store, in memory and on a disk.
TEST(closed_descriptors, SegmentsOfAStore) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    const scratch others(where), dir(where);
    const std::string path = dir.file("store");
    std::vector<std::string> objects(4000, std::string(2000, 'p'));
    const auto open = [&](scute_pow** db, scute_pow_file** file) {
      scute_pow_options o;
      scute_pow_options_init(&o);
      SCUTE_OKAY(scute_pow_open(path.c_str(), &o, db));
      SCUTE_OKAY(scute_pow_alloc(*db, "objects", 2000, file));
    };
    in_child([&] {
      scute_pow* db = nullptr;
      scute_pow_file* file = nullptr;
      open(&db, &file);
      SCUTE_OKAY(scute_pow_store(file, objects[0].data()));
      const files_of_the_program own(others);
      EXPECT_EQ(SCUTE_E_IO, first_error(4000, [&](unsigned i) {
                  return scute_pow_store(file, objects[i].data());
                }));
      own.expect_untouched();
      scute_pow_close(db);
      own.expect_untouched();
    });
    scute_pow* db = nullptr;
    scute_pow_file* file = nullptr;
    open(&db, &file);
    uint64_t n = 0, lost = 0;
    SCUTE_OKAY(scute_pow_count(file, &n));
    EXPECT_GE(n, 1U);
    SCUTE_OKAY(scute_pow_check(db, 0, nullptr, nullptr, &lost));
    EXPECT_EQ(lost, 0U);
    SCUTE_OKAY(scute_pow_close(db));
  }
}

// NUMBER-2: a fork handler that closed the library's old numbers would close the program's files.
TEST(closed_descriptors, InAChild) {
  const scratch others;
  pool_file f;
  in_child([&] {
    f.create(2 * mib);
    const files_of_the_program own(others);
    in_child([&] { own.expect_untouched(); });
    f.close();
    own.expect_untouched();
  });
}

}  // namespace
}  // namespace scute::test
