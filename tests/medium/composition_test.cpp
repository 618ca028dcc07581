// SPDX-License-Identifier: BSD-3-Clause
// A medium of two files: every way to its bytes reaches the right file, and both are made durable
// (JOIN-1 to JOIN-3).
#include "core/medium/composition.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "core/medium/mapped_medium.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

constexpr uint64_t page = medium::medium::page;
// Two segments of four pages in a first file of 32.
constexpr medium::segments places{5 * page, 12 * page, 4 * page, 2};

class composition : public testing::TestWithParam<scratch::where> {
 protected:
  composition() : dir(GetParam()), first(dir.file("first")), second(dir.file("second")) {
    write_file(first, bytes(32 * page, 1));
    resize(6 * page + 100);
  }
  void resize(uint64_t size) {
    bytes b(size);
    for (uint64_t i = 0; i < size; ++i) b[i] = static_cast<unsigned char>(2 + i / page);
    write_file(second, b);
  }
  void open(medium::access how = medium::access::write,
            medium::medium::sharing sharing = medium::medium::sharing::shared) {
    const int fd = open_registered(second.c_str(), O_RDWR | O_CLOEXEC);
    struct stat st{};
    ASSERT_EQ(::fstat(fd, &st), 0);
    other = medium::file_handle::adopt(fd, second, static_cast<uint64_t>(st.st_size));
    m = medium::map_file(medium::file_handle::open(first, how), SCUTE_MEDIUM_AUTO, how);
    m->join(other, places, other.size(), sharing);
  }
  // The byte that must be visible at an offset.
  unsigned char expected(uint64_t offset) const {
    for (uint64_t z = 0; z < 2; ++z) {
      const uint64_t begin = places.first + z * places.stride;
      if (offset < begin || offset >= begin + places.share) continue;
      const uint64_t at = z * places.share + offset - begin;
      if (at < other.size()) return static_cast<unsigned char>(2 + at / page);
      if (at < (other.size() + page - 1) / page * page) return 0;
    }
    return 1;
  }
  scratch dir;
  std::string first, second;
  medium::file_handle other;
  std::unique_ptr<medium::medium> m;
};

TEST_P(composition, ReadsThroughBoth) {
  open();
  bytes all(32 * page);
  ASSERT_TRUE(m->read(0, all.data(), all.size()));
  for (uint64_t at = 0; at < 32 * page; ++at) {
    ASSERT_EQ(static_cast<unsigned char>(m->base()[at]), expected(at)) << at;
    ASSERT_EQ(all[at], expected(at)) << at;
  }
  bytes across(3 * page);
  ASSERT_TRUE(m->read(4 * page + 7, across.data(), across.size()));
  EXPECT_EQ(std::memcmp(across.data(), all.data() + 4 * page + 7, across.size()), 0);
}

TEST_P(composition, WritesReachTheirFile) {
  open();
  medium::writer w(*m);
  const bytes b(2 * page, 9);
  w.stream(m->base() + 4 * page, b.data(), b.size(), medium::purpose::data);
  w.fence(fence_site::create);
  EXPECT_FALSE(m->failed());
  EXPECT_EQ(read_at(second, 0, 1)[0], 9);
  EXPECT_EQ(read_at(second, page, 1)[0], 3);
  EXPECT_EQ(read_at(first, 4 * page, 1)[0], 9);
  EXPECT_EQ(read_at(first, 5 * page, 1)[0], 1);  // hidden by the other file
}

TEST_P(composition, LostPagesComeBackInTheirFile) {
  open();
  medium::writer w(*m);
  bytes noise(page, 77), right(page, 8);
  for (const uint64_t at : {4 * page, 5 * page, 8 * page, 17 * page, 18 * page, 20 * page}) {
    m->lose_page(at, reinterpret_cast<const std::byte*>(noise.data()));
    EXPECT_TRUE(m->is_revoked(at));
    EXPECT_FALSE(m->read(at, right.data(), 1));
    ASSERT_TRUE(m->restore_page(w, at, reinterpret_cast<const std::byte*>(right.data())));
    EXPECT_EQ(static_cast<unsigned char>(m->base()[at + 50]), 8);
    EXPECT_FALSE(m->is_revoked(at));
  }
  for (const uint64_t at : {uint64_t{0}, 3 * page, 4 * page, 5 * page})
    EXPECT_EQ(read_at(second, at, 1)[0], 8) << at;
  for (const uint64_t at : {4 * page, 20 * page}) EXPECT_EQ(read_at(first, at, 1)[0], 8) << at;
  for (const uint64_t at : {5 * page, 8 * page, 17 * page, 18 * page})
    EXPECT_EQ(read_at(first, at, 1)[0], 1) << at;
  EXPECT_EQ(std::filesystem::file_size(second), 6 * page + 100);
}

// JOIN-2
TEST_P(composition, LastPageEndsWhereTheFileEnds) {
  open();
  medium::writer w(*m);
  const bytes right(page, 8);
  const uint64_t last = 19 * page;
  m->revoke_page(last);
  ASSERT_TRUE(m->restore_page(w, last, reinterpret_cast<const std::byte*>(right.data())));
  EXPECT_EQ(std::filesystem::file_size(second), 6 * page + 100);
  EXPECT_EQ(read_at(second, 6 * page + 99, 1)[0], 8);
  ASSERT_EQ(m->reserve(0, 32 * page), 0);
  ASSERT_EQ(m->fill_holes(0, 32 * page), 0);
  EXPECT_EQ(std::filesystem::file_size(second), 6 * page + 100);
  EXPECT_EQ(std::filesystem::file_size(first), 32 * page);
}

TEST_P(composition, Grows) {
  open();
  ASSERT_EQ(::ftruncate(other.fd(), static_cast<off_t>(7 * page + 5)), 0);
  EXPECT_EQ(static_cast<unsigned char>(m->base()[20 * page]), 1);
  m->extend_joined(7 * page + 5);
  EXPECT_EQ(static_cast<unsigned char>(m->base()[20 * page]), 0);
  m->base()[20 * page + 4] = std::byte{5};
  EXPECT_EQ(read_at(second, 7 * page + 4, 1)[0], 5);
  // The first file's bytes there are gone.
  EXPECT_EQ(read_at(first, 20 * page, 1)[0], 0);
  EXPECT_EQ(read_at(first, 21 * page, 1)[0], 1);
}

TEST_P(composition, CopiesAndReadersLeaveTheFileAlone) {
  const bytes before = read_file(second);
  const bytes right(page, 8);
  for (const auto how : {medium::access::write, medium::access::read}) {
    open(how, medium::medium::sharing::as_copy);
    medium::writer w(*m);
    m->base()[5 * page + 3] = std::byte{99};
    m->revoke_page(6 * page);
    ASSERT_TRUE(m->restore_page(w, 6 * page, reinterpret_cast<const std::byte*>(right.data())));
    EXPECT_EQ(static_cast<unsigned char>(m->base()[6 * page]), 8);
    m.reset();
    EXPECT_TRUE(read_file(second) == before);
  }
  open(medium::access::write, medium::medium::sharing::as_copy);
  m->base()[5 * page + 3] = std::byte{99};
  m->join(other, places, other.size(), medium::medium::sharing::shared);
  EXPECT_EQ(static_cast<unsigned char>(m->base()[5 * page + 3]), 2);
  m->base()[5 * page + 3] = std::byte{98};
  EXPECT_EQ(read_at(second, 3, 1)[0], 98);
}

TEST_P(composition, RefreshKeepsBoth) {
  open();
  m->base()[5 * page + 3] = std::byte{99};
  m->base()[3] = std::byte{98};
  m->refresh();
  EXPECT_EQ(static_cast<unsigned char>(m->base()[5 * page + 3]), 99);
  EXPECT_EQ(static_cast<unsigned char>(m->base()[3]), 98);
  for (uint64_t at = 100; at < 32 * page; at += page)
    EXPECT_EQ(static_cast<unsigned char>(m->base()[at]), expected(at)) << at;
}

INSTANTIATE_TEST_SUITE_P(Media, composition, testing::Values(scratch::memory, scratch::disk),
                         [](const auto& p) {
                           return std::string(p.param == scratch::disk ? "disk" : "memory");
                         });

TEST(composition, HasToBeOfOneKind) {
  scratch memory(scratch::memory), disk(scratch::disk);
  write_file(memory.file("a"), bytes(32 * page, 1));
  write_file(disk.file("b"), bytes(4 * page, 2));
  const auto other = medium::file_handle::adopt(
      open_registered(disk.file("b").c_str(), O_RDWR | O_CLOEXEC), disk.file("b"), 4 * page);
  auto m = medium::map_file(medium::file_handle::open(memory.file("a"), medium::access::write),
                            SCUTE_MEDIUM_AUTO, medium::access::write);
  if (m->what() == medium::kind::file) GTEST_FAIL() << "no memory file system to test with";
  try {
    m->join(other, places, 4 * page, medium::medium::sharing::shared);
    FAIL();
  } catch (const failure& e) {
    EXPECT_EQ(e.code(), SCUTE_E_UNSUPPORTED);
  }
}

}  // namespace
}  // namespace scute::test
