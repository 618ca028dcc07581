// SPDX-License-Identifier: BSD-3-Clause
#include "pow/file/space.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace scute::core::pow {
namespace {

uint64_t resident_bytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A file that may grow to 1 TiB: what is kept of a segment is touched when there is such a segment.
TEST(Space, RoomForManySegmentsCostsNothing) {
  const uint64_t size = 256 * 1024, most = (uint64_t{1} << 40) / size;
  const uint64_t before = resident_bytes();
  space s({log::redundancy::one_copy, size, true}, size, 6, most);
  EXPECT_LT(resident_bytes(), before + (uint64_t{8} << 20));
  s.grown_to(20);
  EXPECT_EQ(s.note(19).what.load(), use::free);
  EXPECT_EQ(s.note(19).after.load(), 0xffffffffU);
  EXPECT_EQ(s.free_count(), 14U);
}

}  // namespace
}  // namespace scute::core::pow
