// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/bad_blocks.hpp"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/rounding.hpp"

namespace scute::core::medium {
namespace {

constexpr uint64_t sector = 512, page = 4096;

bool read_text(const std::filesystem::path& path, std::string& text) {
  std::ifstream in(path);
  if (!in) return false;
  std::ostringstream all;
  all << in.rdbuf();
  text = all.str();
  return true;
}

}  // namespace

std::vector<device_range> parse_bad_blocks(const std::string& list) {
  std::vector<device_range> bad;
  std::istringstream in(list);
  uint64_t first = 0, count = 0;
  while (in >> first >> count)
    if (first < UINT64_MAX / sector / 2 && count < UINT64_MAX / sector / 2)
      bad.push_back({first * sector, 0, count * sector});
  return bad;
}

std::vector<device_range> ranges_of(int fd) {
  constexpr uint32_t at_once = 64;
  std::vector<device_range> extents;
  alignas(fiemap) char room[sizeof(fiemap) + at_once * sizeof(fiemap_extent)];
  for (uint64_t from = 0;;) {
    std::memset(room, 0, sizeof room);
    auto* map = reinterpret_cast<fiemap*>(room);
    map->fm_start = from;
    map->fm_length = FIEMAP_MAX_OFFSET - from;
    map->fm_extent_count = at_once;
    if (::ioctl(fd, FS_IOC_FIEMAP, map) != 0 || map->fm_mapped_extents == 0) return extents;
    for (uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
      const fiemap_extent& e = map->fm_extents[i];
      constexpr uint32_t nowhere = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC |
                                   FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_INLINE;
      if ((e.fe_flags & nowhere) == 0)
        extents.push_back({e.fe_physical, e.fe_logical, e.fe_length});
      if ((e.fe_flags & FIEMAP_EXTENT_LAST) != 0) return extents;
      from = e.fe_logical + e.fe_length;
    }
  }
}

std::vector<uint64_t> bad_pages_of(const std::vector<device_range>& bad,
                                   const std::vector<device_range>& extents) {
  std::vector<uint64_t> pages;
  for (const device_range& b : bad)
    for (const device_range& e : extents) {
      const uint64_t begin = std::max(b.device, e.device);
      const uint64_t end = std::min(b.device + b.length, e.device + e.length);
      if (begin >= end) continue;
      for (uint64_t at = round_down(e.file + (begin - e.device), page);
           at < e.file + (end - e.device); at += page)
        pages.push_back(at);
    }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

std::vector<uint64_t> find_bad_pages(int fd, const std::string& sysfs) {
  struct stat st{};
  if (::fstat(fd, &st) != 0) return {};
  const std::filesystem::path device = sysfs + "/dev/block/" + std::to_string(major(st.st_dev)) +
                                       ":" + std::to_string(minor(st.st_dev));
  std::string list, start;
  uint64_t shift = 0;  // start of the partition on its disk; the list counts from the disk's start
  if (!read_text(device / "badblocks", list)) {
    if (!read_text(device / "start", start)) return {};
    std::error_code none;
    const auto real = std::filesystem::canonical(device, none);
    if (none || !read_text(real.parent_path() / "badblocks", list)) return {};
    shift = std::strtoull(start.c_str(), nullptr, 10) * sector;
  }
  auto bad = parse_bad_blocks(list);
  if (bad.empty()) return {};
  for (device_range& b : bad) {
    if (b.device + b.length <= shift) {
      b.length = 0;  // before the partition
      continue;
    }
    const uint64_t cut = b.device < shift ? shift - b.device : 0;
    b.device = b.device + cut - shift;
    b.length -= cut;
  }
  return bad_pages_of(bad, ranges_of(fd));
}

}  // namespace scute::core::medium
