// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/layout.hpp"

#include <cstring>
#include <stdexcept>

#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

template <class Integer>
uint64_t number_at(std::span<const std::byte> file, uint64_t offset) {
  Integer n;
  std::memcpy(&n, file.data() + offset, sizeof n);
  return n;
}

}  // namespace

layout::layout(std::span<const std::byte> file)
    : size(file.size()),
      lanes(number_at<uint64_t>(file, 136)),
      lane_size(number_at<uint64_t>(file, 144)),
      lane_count(number_at<uint32_t>(file, 152)),
      zone(number_at<uint64_t>(file, 160)),
      row_size(number_at<uint64_t>(file, 176)),
      rows(number_at<uint32_t>(file, 188)),
      parities(number_at<uint32_t>(file, 192)),
      chunk_size(number_at<uint32_t>(file, 196)) {
  // The largest number of chunks that fits the data rows together with its table.
  const uint64_t data = row_size * rows;
  const auto base = [](uint64_t n) { return (page + 64 * n + page - 1) / page * page; };
  chunk_count = data / chunk_size;
  while (base(chunk_count) + chunk_count * chunk_size > data) --chunk_count;
  chunks = zone + base(chunk_count);
}

std::span<std::byte> file_of(const scute::pool& p) {
  const auto i = p.info();
  const uint64_t base = scute_direct_base(p.native_handle()) + (static_cast<uint64_t>(i.tag) << 48);
  return {reinterpret_cast<std::byte*>(base), i.size};
}

std::vector<std::byte> copy_of(const testing::stage& at, uint64_t offset, uint64_t n) {
  const auto bytes = at.bytes().subspan(offset, n);
  return {bytes.begin(), bytes.end()};
}

void scribble(const testing::stage& at, uint64_t offset, uint64_t n, unsigned fill) {
  std::vector<std::byte> noise(n);
  fill_bytes(noise.data(), n, fill);
  at.damage(offset, noise);
}

void misplace(const testing::stage& at, uint64_t from, uint64_t to, uint64_t n) {
  at.damage(to, copy_of(at, from, n));
}

column_meeting::column_meeting(uint64_t row_size, uint64_t first, uint64_t second,
                               uint64_t object_size, uint64_t n) {
  for (in_second = 0; in_second + n <= object_size; in_second += 64) {
    const uint64_t apart = second - first + in_second;
    in_first = apart % row_size;
    if (apart >= row_size && in_first + n <= object_size) return;
  }
  throw std::runtime_error("the two objects share no columns");
}

}  // namespace scute::explore
