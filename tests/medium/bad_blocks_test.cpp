// SPDX-License-Identifier: BSD-3-Clause
// The kernel's bad-block lists, made up, and the pages of a file that they mean.
#include "core/medium/bad_blocks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/scratch.hpp"

namespace scute::test {
using namespace core;
namespace {

using medium::bad_pages_of;
using medium::device_range;
using pages = std::vector<uint64_t>;

TEST(bad_blocks, ListsAreReadInSectors) {
  const auto bad = medium::parse_bad_blocks("8 1\n1024 16\n");
  ASSERT_EQ(bad.size(), 2u);
  EXPECT_EQ(bad[0].device, 4096u);
  EXPECT_EQ(bad[0].length, 512u);
  EXPECT_EQ(bad[1].device, 524288u);
  EXPECT_EQ(bad[1].length, 8192u);
  EXPECT_TRUE(medium::parse_bad_blocks("").empty());
  EXPECT_TRUE(medium::parse_bad_blocks("nonsense\n").empty());
  EXPECT_TRUE(medium::parse_bad_blocks("99999999999999999999 1\n").empty());
}

TEST(bad_blocks, ExtentsBringThemToTheFile) {
  // Two extents of the file, in the other order on the device.
  const std::vector<device_range> file{{1 << 20, 0, 8192}, {65536, 8192, 16384}};
  EXPECT_EQ(bad_pages_of({{1 << 20, 0, 512}}, file), pages({0}));
  EXPECT_EQ(bad_pages_of({{65536 + 512, 0, 512}}, file), pages({8192}));
  EXPECT_EQ(bad_pages_of({{65536 + 4096, 0, 8192}, {(1 << 20) + 4096, 0, 512}}, file),
            pages({4096, 12288, 16384}));
  EXPECT_EQ(bad_pages_of({{0, 0, 1 << 30}}, file), pages({0, 4096, 8192, 12288, 16384, 20480}));
  EXPECT_TRUE(bad_pages_of({{0, 0, 65536}, {65536 + 16384, 0, 512}}, file).empty());
}

class fake_sysfs : public testing::Test {
 protected:
  void SetUp() override {
    fd = ::open(dir.file("data").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(fd, 0);
    const std::vector<char> bytes(65536, 'x');
    ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ASSERT_EQ(::fsync(fd), 0);
    struct stat st{};
    ASSERT_EQ(::fstat(fd, &st), 0);
    number = std::to_string(major(st.st_dev)) + ":" + std::to_string(minor(st.st_dev));
    std::filesystem::create_directories(root() + "/dev/block");
  }
  void TearDown() override { ::close(fd); }
  std::string root() const { return dir.file("sys"); }
  static void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }

  scratch dir{scratch::disk};
  int fd = -1;
  std::string number;
};

TEST_F(fake_sysfs, NothingIsBadWhereNothingIsListed) {
  EXPECT_TRUE(medium::find_bad_pages(fd, root()).empty());
  write(root() + "/dev/block/" + number + "/badblocks", "");
  EXPECT_TRUE(medium::find_bad_pages(fd, root()).empty());
}

// If the file system of the scratch folder reports extents, a bad sector in the middle of the file
// is found through the whole way; otherwise there is nothing to find.
TEST_F(fake_sysfs, OfADeviceAndOfAPartition) {
  const auto extents = medium::ranges_of(fd);
  const auto page_at = [&](uint64_t file) -> uint64_t {
    for (const device_range& e : extents)
      if (file >= e.file && file < e.file + e.length) return e.device + (file - e.file);
    return 0;
  };
  const uint64_t at = page_at(20480);
  const pages expected = at == 0 ? pages{} : pages{20480};
  write(root() + "/dev/block/" + number + "/badblocks", std::to_string(at / 512 + 3) + " 1\n");
  EXPECT_EQ(medium::find_bad_pages(fd, root()), at == 0 ? pages{} : expected);
  // A partition that begins at sector 2048 of a disk, whose list counts from the disk's begin.
  std::filesystem::remove_all(root());
  write(root() + "/devices/disk/badblocks", std::to_string(at / 512 + 3 + 2048) + " 1\n");
  write(root() + "/devices/disk/part1/start", "2048\n");
  std::filesystem::create_directories(root() + "/dev/block");
  std::filesystem::create_directory_symlink(root() + "/devices/disk/part1",
                                            root() + "/dev/block/" + number);
  EXPECT_EQ(medium::find_bad_pages(fd, root()), expected);
}

}  // namespace
}  // namespace scute::test
