// SPDX-License-Identifier: BSD-3-Clause
// A program that closes all descriptors, those of the library's too, and opens files of its own, which get their numbers: nothing of theirs is
// touched (NUMBER-1, NUMBER-2 in medium/descriptor.hpp).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "scute/pow.h"
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

// More of a pool in memory comes into use: blocks are reserved for it. What needs none goes on.
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

// With a log beside it, which is written by system calls, and gets longer by a large transaction.
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

// A pool on a disk whose log is in it: fences sync the mapping, or the file.
TEST(closed_descriptors, SyncOfAPool) {
  const scratch others(scratch::disk);
  pool_file f(scratch::disk);
  in_child([&] {
    scute_options o = options(32 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
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

// NUMBER-2: a fork handler that closes what the library had would close what the program has.
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
