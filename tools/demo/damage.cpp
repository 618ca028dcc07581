// SPDX-License-Identifier: BSD-3-Clause
#include "damage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace scute_demo {

namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t spacing = 4;  // pages from one hit column to the next

scute_location locate(const scute::pool& pool, uint64_t offset) {
  scute_location location{};
  location.struct_size = sizeof location;
  scute::detail::check(scute_locate(pool.native_handle(), offset, &location));
  return location;
}

class pool_file {
 public:
  explicit pool_file(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0) fail("open");
  }
  ~pool_file() { close(fd_); }
  pool_file(const pool_file&) = delete;
  pool_file& operator=(const pool_file&) = delete;

  std::vector<unsigned char> read(uint64_t offset, uint64_t length) const {
    std::vector<unsigned char> bytes(length);
    if (pread(fd_, bytes.data(), length, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(length))
      fail("read");
    return bytes;
  }
  void write(uint64_t offset, const std::vector<unsigned char>& bytes) const {
    if (pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes.size()))
      fail("write");
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw std::runtime_error(std::string("damaging the pool file: ") + what + ": " +
                             std::generic_category().message(errno));
  }
  int fd_;
};

}  // namespace

const char* name_of(injury_kind kind) {
  switch (kind) {
    case injury_kind::lost_page: return "lost pages of 4 KiB";
    case injury_kind::flipped_bits: return "bit flips, 1-64 wide";
    case injury_kind::parity_page: return "parity pages";
    case injury_kind::chunk_header: return "pages of chunk headers";
    case injury_kind::zone_header: return "zone headers";
    case injury_kind::superblock: return "superblock copies";
  }
  return "";
}

damage_plan::damage_plan(const scute::pool& pool, std::mt19937_64& random)
    : pool_(pool), info_(pool.info()), random_(random) {
  for (uint64_t zone = 0; zone < info_.zone_count; ++zone) {
    for (uint64_t p = 0; p < info_.row_size / page; p += spacing) columns_.emplace_back(zone, p);
  }
  std::shuffle(columns_.begin(), columns_.end(), random_);
}

uint64_t damage_plan::random_below(uint64_t bound) {
  return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_);
}

bool damage_plan::is_free(column c) const {
  const uint64_t first = c.second < spacing ? 0 : c.second - spacing + 1;
  const auto at = taken_.lower_bound({c.first, first});
  return at == taken_.end() || at->first != c.first || at->second >= c.second + spacing;
}

uint64_t damage_plan::page_at(column c, uint64_t row) const {
  uint64_t offset = 0;
  scute::detail::check(
      scute_offset_of(pool_.native_handle(), c.first, row, c.second * page, &offset));
  return offset;
}

bool damage_plan::holds_object(uint64_t offset) const {
  for (uint64_t at = 0; at < page; at += 512) {
    const scute_location location = locate(pool_, offset + at);
    if (location.region != SCUTE_REGION_OBJECT) return false;
    if (location.object != SCUTE_OID_NULL) return true;
  }
  return false;
}

std::vector<uint64_t> damage_plan::pages_of(scute_region region) const {
  std::vector<uint64_t> offsets;
  for (uint64_t offset = 0; offset < info_.size; offset += page) {
    if (locate(pool_, offset).region == region) offsets.push_back(offset);
  }
  return offsets;
}

std::optional<uint64_t> damage_plan::take_page_of_objects() {
  for (const column& c : columns_) {
    if (!is_free(c)) continue;
    const uint64_t start = random_below(info_.rows);
    for (uint64_t i = 0; i < info_.rows; ++i) {
      const uint64_t offset = page_at(c, (start + i) % info_.rows);
      if (!holds_object(offset)) continue;
      take(c);
      return offset;
    }
  }
  return std::nullopt;
}

void damage_plan::add_lost_page() {
  if (const auto offset = take_page_of_objects())
    injuries_.push_back({.kind = injury_kind::lost_page, .offset = *offset, .length = page});
}

void damage_plan::add_flipped_bits() {
  if (const auto offset = take_page_of_objects()) {
    injuries_.push_back({.kind = injury_kind::flipped_bits,
                         .offset = *offset + random_below(page - 16),
                         .length = 1 + random_below(64),
                         .first_bit = static_cast<unsigned>(random_below(8))});
  }
}

// In a column that holds objects, whose repair it must not stop.
void damage_plan::add_parity_page() {
  if (info_.parity == 0) return;
  for (const column& c : columns_) {
    if (!is_free(c) || !holds_object(page_at(c, 0))) continue;
    injuries_.push_back(
        {.kind = injury_kind::parity_page, .offset = page_at(c, info_.rows), .length = page});
    take(c);
    return;
  }
}

void damage_plan::add_in_region(injury_kind kind, scute_region region, uint64_t pages) {
  std::vector<uint64_t> offsets = pages_of(region);
  std::shuffle(offsets.begin(), offsets.end(), random_);
  for (const uint64_t offset : offsets) {
    if (pages == 0) return;
    const scute_location location = locate(pool_, offset);
    const column c{location.zone, location.column / page};
    if (!is_free(c)) continue;
    injuries_.push_back({.kind = kind, .offset = offset, .length = page});
    take(c);
    --pages;
  }
}

void damage_plan::add_chunk_headers(uint64_t pages) {
  add_in_region(injury_kind::chunk_header, SCUTE_REGION_CHUNK_HEADER, pages);
}

void damage_plan::add_zone_header() {
  add_in_region(injury_kind::zone_header, SCUTE_REGION_ZONE_HEADER, 1);
}

// Replicated, so outside the rows: any one copy.
void damage_plan::add_superblock() {
  const std::vector<uint64_t> copies = pages_of(SCUTE_REGION_SUPERBLOCK);
  if (copies.size() < 2) return;
  injuries_.push_back({.kind = injury_kind::superblock,
                       .offset = copies[random_below(copies.size())],
                       .length = page});
}

void inflict(const std::string& path, const std::vector<injury>& injuries,
             std::mt19937_64& random) {
  const pool_file file(path);
  for (const injury& i : injuries) {
    if (i.kind == injury_kind::flipped_bits) {
      std::vector<unsigned char> bytes = file.read(i.offset, (i.first_bit + i.length + 7) / 8);
      for (uint64_t bit = i.first_bit; bit < i.first_bit + i.length; ++bit)
        bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << (bit % 8)));
      file.write(i.offset, bytes);
    } else {
      std::vector<unsigned char> noise(i.length);
      for (unsigned char& byte : noise) byte = static_cast<unsigned char>(random());
      file.write(i.offset, noise);
    }
  }
}

std::map<injury_kind, uint64_t> by_kind(const std::vector<injury>& injuries) {
  std::map<injury_kind, uint64_t> counts;
  for (const injury& i : injuries) ++counts[i.kind];
  return counts;
}

}  // namespace scute_demo
