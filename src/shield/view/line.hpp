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

// Makes a word that distinguishes the contents of lines. A different line has the same word with
// probability 2^-64, even if an attacker chooses the contents, since he does not know the key. A
// line of zeros has 0, so that the digests of a file with holes have holes too. The digest does not
// depend on the line's place, which is in the checksums of the medium. Digests are kept in memory
// only, so the function may change with every release.
class digest_key {
 public:
  explicit constexpr digest_key(uint64_t seed) noexcept {
    for (uint64_t& k : key_) {  // SplitMix64 (Steele, Lea, Flood; OOPSLA 2014)
      uint64_t x = seed += 0x9e3779b97f4a7c15;
      x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
      x = (x ^ x >> 27) * 0x94d049bb133111eb;
      k = x ^ x >> 31;
    }
    constexpr uint64_t zeros[8] = {};
    zeros_ = mixed(zeros);
  }
  uint64_t of(const line& l) const noexcept {
    uint64_t words[8];
    std::memcpy(words, l.bytes.data(), sizeof words);
    return of(words);
  }
  uint64_t of(const uint64_t (&words)[8]) const noexcept { return mixed(words) ^ zeros_; }

 private:
  __extension__ using wide = unsigned __int128;

  static constexpr uint64_t folded(uint64_t a, uint64_t b) noexcept {
    const wide product = static_cast<wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  // Four products that do not wait for one another, then one for the whole. Both halves of each
  // product are used, so that every bit of either factor reaches some bit of the result.
  constexpr uint64_t mixed(const uint64_t (&w)[8]) const noexcept {
    uint64_t sum = folded(w[0] + key_[0], w[1] + key_[1]);
    sum = (sum << 23 | sum >> 41) + folded(w[2] + key_[2], w[3] + key_[3]);
    sum = (sum << 23 | sum >> 41) + folded(w[4] + key_[4], w[5] + key_[5]);
    sum = (sum << 23 | sum >> 41) + folded(w[6] + key_[6], w[7] + key_[7]);
    return folded(sum ^ 0x2545f4914f6cdd1d, 0xa0761d6478bd642f);
  }

  uint64_t key_[8] = {}, zeros_ = 0;
};

}  // namespace scute::core::view
