// SPDX-License-Identifier: BSD-3-Clause
// A pool that is larger than 512 times the machine's memory, nearly all of it holes: it can be
// made, and what an opening after a kill does grows with what is in it, and not with its size.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "hostile/fault_injector.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// Bytes that this process has read by system calls.
uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  uint64_t n = 0;
  for (std::string word; io >> word;)
    if (word == "rchar:") io >> n;
  return n;
}

#if defined(__SANITIZE_THREAD__)
constexpr uint64_t addresses = uint64_t{1} << 40;  // it leaves few to a program
#else
constexpr uint64_t addresses = SCUTE_SIZE_MAX;
#endif

// n bytes, or, if the file system or the addresses do not suffice, the largest half, quarter, ...
uint64_t possible(uint64_t n) {
  const scratch dir(scratch::disk);
  const std::string path = dir.file("holes");
  write_file(path, {});
  while (n > addresses || ::truncate(path.c_str(), static_cast<off_t>(n)) != 0) n /= 2;
  return n / gib * gib;
}

TEST(large_pool, OpensAfterAKillWithoutAWalkOverItsHoles) {
  const uint64_t memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page;
  // (Its tables take blocks of the disk.)
  const uint64_t wanted = (513 * memory / gib + 1) * gib, size = possible(wanted);
  if (size < wanted)
    std::printf("no file of %llu GiB is possible here, so this pool is smaller than that\n",
                static_cast<unsigned long long>(wanted >> 30));
  for (const scute_protection level : {SCUTE_PROTECT_NONE, SCUTE_PROTECT_MLPC}) {
    SCOPED_TRACE(level);
    pool_file f(scratch::disk);
    scute_options o = options(size, {level, SCUTE_ENGINE_SPEC});
    o.medium = SCUTE_MEDIUM_FILE;
    f.create(o);
    const scute_oid one = f.alloc(pattern(1, 100000));
    f.overwrite(one, pattern(2, 100000));
    f.in().abandon();
    f.close();
    struct stat is{};
    ASSERT_EQ(::stat(f.path.c_str(), &is), 0);
    const uint64_t read = bytes_read(), asked = faults::residency_asked();
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
    std::printf("%llu GiB: %llu MiB read, %llu MiB looked for in the page cache\n",
                static_cast<unsigned long long>(size >> 30),
                static_cast<unsigned long long>((bytes_read() - read) >> 20),
                static_cast<unsigned long long>((faults::residency_asked() - asked) >> 20));
    EXPECT_LT(bytes_read() - read, 256 * mib);
    EXPECT_LT(faults::residency_asked() - asked, size / 1000);
    EXPECT_EQ(f.read(one), pattern(2, 100000));
  }
}

}  // namespace
}  // namespace scute::test
