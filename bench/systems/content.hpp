// SPDX-License-Identifier: BSD-3-Clause
// The bytes that are written: random, except the low four bits of every byte, which are the
// batch's number modulo 16. So an object's next content differs from the last one in every single
// byte: a system that writes only what differs saves nothing. A batch reads from a window of a few
// KiB, which stays in the L1 cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "random.hpp"

namespace scute::bench {

// Fills n bytes, a multiple of 4, with a content that no other one of 2^32 versions has.
inline void fill_version(void* to, size_t n, uint64_t version) {
  const uint32_t word = static_cast<uint32_t>(version) * 0x9e3779b9u;
  for (size_t i = 0; i < n; i += sizeof word)
    std::memcpy(static_cast<std::byte*>(to) + i, &word, sizeof word);
}

// The content of one batch, object by object.
class content {
 public:
  static constexpr size_t positions = 4096;

  content(const std::byte* bytes, size_t start) : bytes_(bytes), at_(start) {}
  const std::byte* next() noexcept {
    at_ = (at_ + 72) % positions;
    return bytes_ + at_;
  }

 private:
  const std::byte* bytes_;
  size_t at_;
};

class content_source {
 public:
  content_source(uint64_t size_max, uint64_t seed) : window_(positions + size_max) {
    random_source random(seed);
    bytes_.resize(windows * window_);
    for (size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = static_cast<std::byte>((random.next() & 0xf0) | i / window_);
  }
  content of(uint64_t batch) const noexcept {
    return {bytes_.data() + batch % windows * window_, batch * 296};
  }

 private:
  static constexpr size_t positions = content::positions, windows = 16;
  size_t window_;
  std::vector<std::byte> bytes_;
};

}  // namespace scute::bench
