// SPDX-License-Identifier: BSD-3-Clause
//
// hash.hpp: hash functions whose values may be stored.
//
// std::hash promises nothing from one build to the next; a stored table needs the same function
// for ever. scute::hash<K> covers integers, enumerations, pointers, scute::string (as its text) and
// structs without padding. For other keys specialise it, or give hash_map another function object:
//
//   uint64_t operator()(const K& key, uint64_t seed) const noexcept;
//
// All 64 bits of the result are used. The seed differs from pool to pool, so that an attacker that
// chooses the keys cannot make them collide. Values that are equal by == must hash equally.
#ifndef SCUTE_CONTAINERS_HASH_HPP
#define SCUTE_CONTAINERS_HASH_HPP

#include <scute/containers/string.hpp>
#include <scute/ptr.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace scute {

namespace detail {

/// Both halves of the 128-bit product, folded.
constexpr uint64_t fold(uint64_t a, uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t hash_word(uint64_t word, uint64_t seed) noexcept {
  uint64_t h = word ^ seed;
  h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93ULL;
  h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93ULL;
  return h ^ (h >> 32);
}

/// Eight bytes at a time, little-endian words. The values are part of the data format.
inline uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  uint64_t h = seed ^ fold(size + 0x9E3779B97F4A7C15ULL, 0xA0761D6478BD642FULL);
  while (size > 0) {
    const size_t n = std::min<size_t>(size, 8);
    uint64_t word = 0;
    std::memcpy(&word, at, n);
    h = fold(h ^ word ^ 0xE7037ED1A0B428DBULL, 0x8EBC6AF09C88C6E3ULL) + h;
    at += n;
    size -= n;
  }
  return hash_word(h, 0);
}

}  // namespace detail

template <class K>
struct hash {
  uint64_t operator()(const K& key, uint64_t seed) const noexcept {
    if constexpr (std::is_integral_v<K> || std::is_enum_v<K>) {
      return detail::hash_word(static_cast<uint64_t>(key), seed);
    } else {
      static_assert(std::has_unique_object_representations_v<K>,
                    "scute: keys with padding or floating-point members have no default hash: "
                    "specialise scute::hash<K>");
      return detail::hash_bytes(&key, sizeof key, seed);
    }
  }
};

template <class T>
struct hash<ptr<T>> {
  uint64_t operator()(ptr<T> key, uint64_t seed) const noexcept {
    return detail::hash_word(key.oid(), seed);
  }
};

/// Strings are hashed as their text.
template <>
struct hash<string> {
  uint64_t operator()(std::string_view text, uint64_t seed) const noexcept {
    return detail::hash_bytes(text.data(), text.size(), seed);
  }
};

}  // namespace scute

#endif
