// SPDX-License-Identifier: BSD-3-Clause
// Fragments: the unit of protection. A fragment is a 32-byte header and the payload that its
// checksum covers: 32 bytes of a metadata object, up to 4 KiB of a user's object, or none (a free
// slot, and any slot of a pool without object checksums).
//
// FRAG-1 A header is valid if its checksum matches the bytes it covers and the place where it lies,
//    and its generation is its chunk's. Zero bytes are never a valid header.
// FRAG-2 A stored checksum is the scrambled sum of checksum and place (bind()), which is not
//    linear. CRCs are affine: the XOR of three valid messages of one length is valid. So if one
//    row's fragment in a column is new and the parity old, decoding another row's fragment of that
//    length would give a wrong one with a right CRC.
//
// (core/engine/logfree/logfree.hpp, LF-4, depends on FRAG-2.)
#pragma once

#include <cstdint>

#include "codec/checksum/crc32c.hpp"
#include "core/shared/state.hpp"

namespace scute::core::pool {

struct fragment {
  uint64_t header = 0;  // file offsets
  uint64_t payload = 0;
  uint32_t room = 0;         // the most payload bytes of this fragment, at most 4096
  uint64_t object_room = 0;  // index 0: the most bytes of the whole object
  uint64_t index = 0;        // in its object
  uint32_t type = 0;         // metadata: the type it must have
  uint16_t generation = 0;
  bool metadata = false;
};

// A fragment at a fixed place: zone descriptor, root anchor, chunk header.
fragment metadata_fragment(uint64_t header, uint32_t type) noexcept;

inline constexpr uint32_t not_covered = UINT32_MAX;

// Payload bytes that the checksum of a header h of f covers, or not_covered if h cannot be a header
// of f at all (impossible state, generation, size or ring).
uint32_t covered(const state& s, const fragment& f, const format::fragment_header& h) noexcept;

// FRAG-2. A bijection of 32-bit words that no sum of XORs carries through; its constants are those
// of the finalizer of MurmurHash3 (A. Appleby, public domain), and their inverses modulo 2^32.
constexpr uint32_t scramble(uint32_t x) noexcept {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ x >> 16;
}
constexpr uint32_t unscramble(uint32_t x) noexcept {
  x ^= x >> 16;
  x *= 0x7ed1b41du;
  x ^= x >> 13 ^ x >> 26;
  x *= 0xa5cb9243u;
  return x ^ x >> 16;
}
static_assert(unscramble(scramble(0x12345678u)) == 0x12345678u &&
              unscramble(scramble(0xfedcba98u)) == 0xfedcba98u && scramble(1) != 1);
constexpr uint32_t word_of(uint64_t place) noexcept {
  return static_cast<uint32_t>(place >> 5) ^ static_cast<uint32_t>(place >> 37);
}

// The value stored for the checksum of a fragment whose header lies at `place`, and the reverse.
inline uint32_t bind(uint32_t sum, uint64_t place) noexcept {
  return scramble(sum ^ word_of(place));
}
inline uint32_t unbind(uint32_t bound, uint64_t place) noexcept {
  return unscramble(bound) ^ word_of(place);
}

inline codec::checksum_kind checksum_kind(const state& s, const fragment& f,
                                          uint32_t length) noexcept {
  return f.metadata || length == 0 ? codec::checksum_kind::crc32c : s.checksum;
}

// Of a header whose payload of `length` bytes, or none, has this kind of checksum.
inline uint32_t header_checksum(codec::checksum_kind kind, uint64_t place,
                                const format::fragment_header& h, const void* payload,
                                uint32_t length) noexcept {
  static_assert(format::header_tail == codec::crc32c_tail);
  const std::byte* tail = reinterpret_cast<const std::byte*>(&h) + 4;
  return bind(kind == codec::checksum_kind::crc32c
                  ? codec::crc32c_with_tail(payload, length, tail)
                  : codec::checksum(kind, payload, length, tail, format::header_tail),
              place);
}
inline uint32_t header_checksum(const state& s, const fragment& f, const format::fragment_header& h,
                                const void* payload, uint32_t length) noexcept {
  return header_checksum(checksum_kind(s, f, length), f.header, h, payload, length);
}

// Makes `next` the next member in the ring of a sealed header; length: the bytes it covers.
void join_ring(const state& s, const fragment& f, format::fragment_header& h, uint32_t length,
               uint64_t next) noexcept;

// Tests header and payload as they are in memory at `h` and `payload`.
bool valid(const state& s, const fragment& f, const format::fragment_header& h,
           const void* payload) noexcept;

// Tests a fragment in the pool, as its parity has it: ranges that a transaction has open in place
// count with their old bytes.
bool valid(const state& s, const fragment& f) noexcept;
// The same, and gives the header that was tested.
bool valid(const state& s, const fragment& f, format::fragment_header& h) noexcept;
// The same for a thread that holds stripes, but perhaps not all of the fragment's: false also where
// a page of it is lost (INFLIGHT-3).
bool valid_unless_lost(const state& s, const fragment& f, format::fragment_header& h) noexcept;

// Completes a header that l's next log entry will write: tag, ring, checksum over `length` bytes.
void seal(const state& s, const lane& l, const fragment& f, format::fragment_header& h,
          const void* payload, uint32_t length) noexcept;

// The same for a metadata object, which is its header followed by 32 bytes.
template <typename Metadata>
void seal_metadata(const state& s, const lane& l, uint64_t offset, uint32_t type,
                   Metadata& m) noexcept {
  const fragment f = metadata_fragment(offset, type);
  m.header.type = type;
  m.header.meta = format::make_meta(sizeof m - format::header_size, format::role::live, 0);
  seal(s, l, f, m.header, reinterpret_cast<const std::byte*>(&m) + format::header_size,
       sizeof m - format::header_size);
}

}  // namespace scute::core::pool
