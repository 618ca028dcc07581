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
inline uint64_t digest_of(const line& l) noexcept {
  constexpr uint64_t factors[8] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
                                   0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db,
                                   0x8ebc6af09c88c6e3, 0x589965cc75374cc3};
  uint64_t words[8];
  std::memcpy(words, l.bytes.data(), sizeof words);
  uint64_t sum = 0;
  for (unsigned i = 0; i < 8; i += 2) {
    // Multiplication of two sums, both halves of the product: every bit of both words reaches the middle ones. Four
    // of them, independent of each other, then one more round for the whole.
    const auto product =
        static_cast<unsigned __int128>(words[i] + factors[i]) * (words[i + 1] + factors[i + 1]);
    const auto folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    sum = (sum << 23 | sum >> 41) + folded;
  }
  const auto last = static_cast<unsigned __int128>(sum ^ factors[0]) * factors[6];
  return static_cast<uint64_t>(last) ^ static_cast<uint64_t>(last >> 64);
}

}  // namespace scute::core::view
