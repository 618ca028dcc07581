// SPDX-License-Identifier: BSD-3-Clause
// The unit of a view: 64 aligned bytes of the file, which processors write back as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace scute::core::view {

inline constexpr uint64_t line_size = 64, page_size = 4096;
inline constexpr uint64_t page_lines = page_size / line_size;

constexpr uint64_t line_of(uint64_t offset) noexcept {
  return offset / line_size;
}
constexpr uint64_t lines_of(uint64_t bytes) noexcept {
  return (bytes + line_size - 1) / line_size;
}

struct alignas(line_size) line {
  std::array<std::byte, line_size> bytes;
  bool operator==(const line& o) const noexcept {
    return std::memcmp(bytes.data(), o.bytes.data(), line_size) == 0;
  }
};
static_assert(sizeof(line) == line_size && alignof(line) == line_size);

// A word that tells one content of a line from another: 2^-64 that a wrong one passes. A line of zeros has 0, so that
// the digests of a file with holes have holes as well. It says nothing about where a line lies, since the place is in
// the checksums of the medium. Kept in memory only, so it may change with every release.
namespace detail {
__extension__ using wide = unsigned __int128;

constexpr uint64_t folded(uint64_t a, uint64_t b) noexcept {
  const wide product = static_cast<wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
// Four products, none of which waits for another one; then one more for the whole. Both halves of a product, so that
// every bit of either factor reaches some bit of it.
constexpr uint64_t mixed(const uint64_t (&w)[8]) noexcept {
  uint64_t sum = folded(w[0] + 0x9e3779b97f4a7c15, w[1] + 0xbf58476d1ce4e5b9);
  sum = (sum << 23 | sum >> 41) + folded(w[2] + 0x94d049bb133111eb, w[3] + 0xd6e8feb86659fd93);
  sum = (sum << 23 | sum >> 41) + folded(w[4] + 0xa0761d6478bd642f, w[5] + 0xe7037ed1a0b428db);
  sum = (sum << 23 | sum >> 41) + folded(w[6] + 0x8ebc6af09c88c6e3, w[7] + 0x589965cc75374cc3);
  return folded(sum ^ 0x2545f4914f6cdd1d, 0xa0761d6478bd642f);
}
inline constexpr uint64_t mixed_zeros = mixed({0, 0, 0, 0, 0, 0, 0, 0});
}  // namespace detail

inline uint64_t digest_of(const line& l) noexcept {
  uint64_t words[8];
  std::memcpy(words, l.bytes.data(), sizeof words);
  return detail::mixed(words) ^ detail::mixed_zeros;
}

}  // namespace scute::core::view
