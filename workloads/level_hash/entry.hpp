// SPDX-License-Identifier: BSD-3-Clause
// The entries of level hashing, as its paper measures it (Zuo, Hua, Wu: Write-Optimized and
// High-Performance Hashing Index Scheme for Persistent Memory, OSDI 2018): keys of 16 bytes, values
// of 15.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "workloads/maps/key_hash.hpp"

namespace scute::workloads::level {

struct key {
  uint64_t words[2];

  // Different keys for different numbers.
  static key of(uint64_t number) noexcept { return {{number, key_hash(number)}}; }
  friend bool operator==(const key&, const key&) = default;
};

struct value {
  uint8_t bytes[15];

  static value of(uint64_t number) noexcept {
    value v{};
    std::memcpy(v.bytes, &number, sizeof number);
    std::memcpy(v.bytes + 8, &number, 7);
    return v;
  }
  uint64_t number() const noexcept {
    uint64_t n = 0;
    std::memcpy(&n, bytes, sizeof n);
    return n;
  }
  friend bool operator==(const value&, const value&) = default;
};

inline constexpr unsigned slots = 4;  // of a bucket

// The two hashes of a key.
struct hashes {
  uint64_t first, second;

  explicit hashes(const key& k) noexcept
      : first(key_hash(k.words[0] ^ key_hash(k.words[1] + 0x5bd1e995))),
        second(key_hash(k.words[1] ^ key_hash(k.words[0] + 0xc2b2ae35))) {}

  // The two buckets of a level of 2^n buckets: one in each half, so that they differ.
  std::array<uint64_t, 2> in(uint64_t buckets) const noexcept {
    const uint64_t half = buckets / 2;
    return {first % half, half + second % half};
  }
  // The one that is not `bucket`.
  uint64_t other(uint64_t buckets, uint64_t bucket) const noexcept {
    const auto both = in(buckets);
    return both[0] == bucket ? both[1] : both[0];
  }
};

}  // namespace scute::workloads::level
