// SPDX-License-Identifier: BSD-3-Clause
// Huge pages of shared memory. Whether the kernel grants them depends on its version and settings,
// so tests assert what holds either way, and that a yes is true: then, and only then, must the
// evidence be there.
#include "base/huge_pages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr int access_all = PROT_READ | PROT_WRITE;

// A file of `size` bytes, all of it a hole.
struct sparse_file {
  explicit sparse_file(uint64_t length) : path(dir.file("file")), size(length) {
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(0, ::ftruncate(fd, static_cast<off_t>(size)));
  }
  ~sparse_file() { ::close(fd); }
  sparse_file(const sparse_file&) = delete;
  sparse_file& operator=(const sparse_file&) = delete;

  void write(uint64_t offset, const bytes& b) const {
    EXPECT_EQ(static_cast<ssize_t>(b.size()),
              ::pwrite(fd, b.data(), b.size(), static_cast<off_t>(offset)));
  }
  struct stat status() const {
    struct stat st{};
    EXPECT_EQ(0, ::fstat(fd, &st));
    return st;
  }
  uint64_t allocated() const { return static_cast<uint64_t>(status().st_blocks) * 512; }

  scratch dir;
  std::string path;
  uint64_t size;
  int fd = -1;
};

// A mapping made by map_aligned(), for the length of a scope.
struct mapping {
  mapping(const sparse_file& f, uint64_t length, uint64_t offset = 0) : size(length) {
    void* p = map_aligned(size, access_all, MAP_SHARED, f.fd, offset);
    EXPECT_NE(p, MAP_FAILED) << std::strerror(errno);
    at = static_cast<unsigned char*>(p);
  }
  ~mapping() { ::munmap(at, size); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;

  bytes copy() const { return {at, at + size}; }

  unsigned char* at;
  uint64_t size;
};

uint64_t address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  EXPECT_NE(pages, 0u);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Bytes of shared memory under [at, at + n) that huge pages of this process's page table map.
uint64_t mapped_huge(const void* at, uint64_t n) {
  const auto low = reinterpret_cast<uintptr_t>(at);
  std::ifstream in("/proc/self/smaps");
  bool here = false;
  uint64_t kilobytes = 0;
  for (std::string line; std::getline(in, line);) {
    unsigned long begin = 0, end = 0;
    unsigned long long number = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      here = begin < low + n && low < end;
    else if (here && std::sscanf(line.c_str(), "ShmemPmdMapped: %llu", &number) == 1)
      kilobytes += number;
    else if (here && std::sscanf(line.c_str(), "FilePmdMapped: %llu", &number) == 1)
      kilobytes += number;
  }
  return kilobytes * kib;
}

// True if the kernel grants huge pages here and now.
bool granted() {
  const sparse_file f(huge_page);
  const mapping m(f, huge_page);
  return make_huge(f.fd, 0, m.at, huge_page);
}

TEST(huge_pages, MappingsAreAlignedAndShowTheRightBytes) {
  const sparse_file f(3 * huge_page);
  f.write(0, pattern(1, 9000));
  f.write(huge_page - 100, pattern(2, 9000));
  f.write(2 * huge_page + 5000, pattern(3, 9000));
  const bytes all = read_file(f.path);
  for (const uint64_t offset : {uint64_t{0}, huge_page, 2 * huge_page})
    for (const uint64_t n : {uint64_t{1}, uint64_t{4096}, uint64_t{20000}, huge_page}) {
      const mapping m(f, n, offset);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(m.at) % huge_page, 0u);
      ASSERT_TRUE(m.copy() == bytes(all.begin() + static_cast<ptrdiff_t>(offset),
                                    all.begin() + static_cast<ptrdiff_t>(offset + n)))
          << offset << "+" << n;
    }
  const mapping m(f, huge_page, huge_page);
  m.at[123] = 77;
  EXPECT_EQ(read_at(f.path, huge_page + 123, 1)[0], 77);
}

TEST(huge_pages, MappingsLeaveNothingBehind) {
  constexpr int rounds = 200;
  constexpr uint64_t allowed = rounds * huge_page / 8;
  const sparse_file f(2 * huge_page);
  uint64_t before = address_space();
  {
    // They stay until the end, and their lengths differ. So the room for one begins at every
    // distance from a multiple, and the parts to give back lie before it and after it.
    std::vector<std::unique_ptr<mapping>> all;
    uint64_t mapped = 0;
    for (uint64_t i = 0; i < rounds; ++i) {
      all.push_back(std::make_unique<mapping>(f, 4096 * (1 + i * 37 % 500)));
      mapped += all.back()->size;
    }
    EXPECT_LT(address_space(), before + mapped + allowed);
  }
  EXPECT_LT(address_space(), before + allowed);

  before = address_space();
  for (int i = 0; i < rounds; ++i) {
    errno = 0;
    ASSERT_EQ(map_aligned(huge_page, access_all, MAP_SHARED, -1), MAP_FAILED);
    ASSERT_EQ(errno, EBADF);
  }
  EXPECT_LT(address_space(), before + allowed);
  // An offset that no mapping can have; a file that may not be written.
  EXPECT_EQ(map_aligned(huge_page, access_all, MAP_SHARED, f.fd, 1), MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
  const int read_only = ::open(f.path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(map_aligned(huge_page, access_all, MAP_SHARED, read_only), MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  ::close(read_only);
}

TEST(huge_pages, BytesStayAndHolesBecomeZeros) {
  const sparse_file f(4 * huge_page + 12288);
  // A page at the beginning, at the end and across a border; whole pages of the file stay holes.
  f.write(0, pattern(1, 4096));
  f.write(2 * huge_page - 3000, pattern(2, 9000));
  f.write(4 * huge_page - 1, pattern(3, 1000));
  const bytes before = read_file(f.path);
  const mapping m(f, f.size);
  const bool yes = make_huge(f.fd, 0, m.at, f.size);
  EXPECT_TRUE(m.copy() == before);
  EXPECT_TRUE(read_file(f.path) == before);
  EXPECT_EQ(f.status().st_size, static_cast<off_t>(f.size));
  std::memset(m.at + huge_page + 5000, 5, 10);
  EXPECT_TRUE(read_at(f.path, huge_page + 5000, 10) == bytes(10, 5));
  if (yes) {
    EXPECT_GE(f.allocated(), 4 * huge_page);
    EXPECT_EQ(mapped_huge(m.at, m.size), 4 * huge_page);
  }
}

TEST(huge_pages, OnlyWholeOnesOfTheRange) {
  const sparse_file f(4 * huge_page);
  const mapping m(f, f.size);
  const bool yes = make_huge(f.fd, huge_page, m.at + huge_page, 2 * huge_page - 1);
  if (yes) {
    EXPECT_EQ(mapped_huge(m.at, m.size), huge_page);
    EXPECT_EQ(mapped_huge(m.at + huge_page, huge_page), huge_page);
    EXPECT_EQ(f.allocated(), huge_page);
  }
  EXPECT_TRUE(m.copy() == bytes(f.size));
  const sparse_file small(huge_page);
  const mapping part(small, huge_page);
  make_huge(small.fd, 0, part.at, huge_page - 1);
  EXPECT_EQ(small.allocated(), 0u);
}

// As where a page was lost and its access taken away.
TEST(huge_pages, AreRefusedWhereAPageIsOutOfReach) {
  const sparse_file f(huge_page);
  f.write(0, pattern(1, 20000));
  const bytes before = read_file(f.path);
  const mapping m(f, huge_page);
  ASSERT_EQ(0, ::mprotect(m.at + 8192, 4096, PROT_NONE));
  EXPECT_FALSE(make_huge(f.fd, 0, m.at, huge_page));
  EXPECT_EQ(::pwrite(f.fd, m.at + 8192, 1, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_TRUE(read_file(f.path) == before);
  ASSERT_EQ(0, ::mprotect(m.at + 8192, 4096, access_all));
  EXPECT_TRUE(m.copy() == before);
}

TEST(huge_pages, AreRefusedWhereNoBlockCanBeReserved) {
  const sparse_file f(huge_page);
  f.write(5000, pattern(1, 100));
  const bytes before = read_file(f.path);
  const mapping m(f, huge_page);
  const int read_only = ::open(f.path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(make_huge(read_only, 0, m.at, huge_page));
  ::close(read_only);
  EXPECT_TRUE(m.copy() == before);
}

// The choice is made once per process, so the case is a process of its own.
TEST(huge_pages, CanBeTurnedOff) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("SCUTE_HUGE_PAGES", "never", 1);
        bool right = false;
        {  // ends before the process does, so that the folder goes
          const sparse_file f(huge_page);
          const mapping m(f, huge_page);
          right = !make_huge(f.fd, 0, m.at, huge_page) && f.allocated() == 0;
          pool_file p;
          p.create(options(16 * mib));
          right = right && p.read(p.alloc(pattern(1, 5000))) == pattern(1, 5000) &&
                  mapped_huge(p.raw(0), 16 * mib) == 0;
          p.close();
        }
        std::exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Whether or not they are granted. The blocks are reserved in steps of 64 MiB.
TEST(huge_pages, PreallocatedPoolsHaveEveryBlock) {
  for (const uint64_t size : {mib, 6 * mib + 12 * kib, 65 * mib + 4 * kib}) {
    pool_file f;
    scute_options o = options(size);
    o.flags |= SCUTE_PREALLOCATE;
    f.create(o);
    struct stat st{};
    ASSERT_EQ(0, ::stat(f.path.c_str(), &st));
    EXPECT_EQ(static_cast<uint64_t>(st.st_size), size);
    EXPECT_GE(static_cast<uint64_t>(st.st_blocks) * 512, size);
    f.expect_sound();
  }
}

TEST(huge_pages, ThePartOfAPoolInUseHasThem) {
  const bool before = granted();
  pool_file f;
  scute_options o = options(64 * mib);
  o.medium = SCUTE_MEDIUM_RAM;
  f.create(o);
  const scute_oid oid = f.alloc(pattern(1, 300000));
  const uint64_t huge = mapped_huge(f.raw(0), 64 * mib);
  struct stat st{};
  ASSERT_EQ(0, ::stat(f.path.c_str(), &st));
  if (before && granted()) {
    EXPECT_GT(huge, 0u);
    EXPECT_LT(static_cast<uint64_t>(st.st_blocks) * 512, 48 * mib) << "the rest stays a hole";
  }
  f.reopen();
  EXPECT_TRUE(f.read(oid) == pattern(1, 300000));
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
