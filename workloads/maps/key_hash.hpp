// SPDX-License-Identifier: BSD-3-Clause
// The hash of the maps that need one: the finalizer of SplitMix64 (Steele, Lea, Flood; OOPSLA
// 2014). It is a bijection: different keys have different hashes. It is not keyed: a caller that
// chooses the keys can choose their hashes.
#pragma once

#include <cstdint>

namespace scute::workloads {

constexpr uint64_t key_hash(uint64_t key) noexcept {
  uint64_t z = key + 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

}  // namespace scute::workloads
