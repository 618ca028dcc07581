// SPDX-License-Identifier: BSD-3-Clause
// The program has closed the file of a view, and the number of its descriptor is a file of the
// program by now: that one is not written and not moved (NUMBER-1).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "viewed_file.hpp"

namespace scute::view_tests {
namespace {

TEST(closed_file, OfAViewIsReplacedByItsMapping) {
  constexpr uint64_t size = 256 * view::page_size;
  constexpr off_t position = 5;
  viewed_file f(size);
  f.medium.put(view::page_size, std::vector<std::byte>(3 * view::page_size, std::byte{7}));
  auto& v = f.open();
  const int own = ::memfd_create("own", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(own, size), 0);
  ASSERT_EQ(::dup2(own, f.content.file()), f.content.file());
  ASSERT_EQ(::lseek(own, position, SEEK_SET), position);
  ASSERT_TRUE(v.load());
  EXPECT_TRUE(f.same());
  view::flusher t;
  f.store(size - 64, 9);
  ASSERT_TRUE(v.write_back(&t, 0, size, view::write_reason::sync));
  EXPECT_EQ(f.durable(size - 64), 9U);
  EXPECT_EQ(v.first_unintercepted(4096, 4096), 4096U) << "it is not known any more";
  struct stat s{};
  ASSERT_EQ(::fstat(own, &s), 0);
  EXPECT_EQ(s.st_blocks, 0) << "bytes were written to it";
  EXPECT_EQ(::lseek(own, 0, SEEK_CUR), position);
  ::close(own);
}

}  // namespace
}  // namespace scute::view_tests
