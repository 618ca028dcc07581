// SPDX-License-Identifier: BSD-3-Clause
#include "tx/verify.hpp"

#include <cstring>
#include <string>

namespace scute::tx {
namespace {

void repair(pool::state& s, pool::lane* l, const pool::fragment& f) {
  if (s.healer == nullptr)
    throw failure(SCUTE_E_CORRUPT, "an object is damaged and nothing can repair it");
  s.healer->repair(l, f, "object");
}

void count_verified(pool::lane* l, uint64_t n) {
  if (l != nullptr) l->w.count.verified_bytes.add(n);
}

}  // namespace

uint64_t payload_of(const pool::state& s, uint64_t oid) {
  if (oid == 0) throw failure(SCUTE_E_OID, "the oid is null");
  if ((oid & 0xffff'0000'0000'0000u) != s.oid_tag)
    throw failure(SCUTE_E_OID, "the oid belongs to another pool than " + s.path +
                                   " (or is no oid at all)");
  return oid & 0x0000'ffff'ffff'ffffu;
}

format::fragment_header live_header(pool::state& s, pool::lane* l, const heap::object& o) {
  const pool::fragment f = o.fragment(0);
  format::fragment_header h;
  const auto suspicious = [&] {
    std::memcpy(&h, s.at(f.header), sizeof h);
    const uint32_t n = pool::covered(s, f, h);
    if (n == pool::not_covered) return true;
    // A header that vouches for a payload is tested with it, by whoever reads the payload.
    return n == 0 && h.checksum != pool::header_checksum(s, f, h, nullptr, 0);
  };
  if (suspicious()) {
    repair(s, l, f);
    if (suspicious())
      throw failure(SCUTE_E_CORRUPT, "the header of the object at oid offset " +
                                         std::to_string(o.payload) + " is beyond repair");
  }
  if (format::meta_state(h.meta) != format::state::live)
    throw failure(SCUTE_E_FREED,
                  "the object at oid offset " + std::to_string(o.payload) + " has been freed");
  return h;
}

void copy_verified(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size,
                   uint64_t from, uint64_t to, std::byte* out) {
  if (!s.has_checksums) {
    std::memcpy(out, s.at(o.payload + from), to - from);
    return;
  }
  for (uint64_t i = from / format::fragment_payload; i * format::fragment_payload < to; ++i) {
    const pool::fragment f = o.fragment(i);
    const uint64_t base = i * format::fragment_payload;
    const uint64_t end = std::min(base + format::fragment_payload, size);
    const uint64_t low = std::max(from, base), high = std::min(to, end);
    const bool whole = low == base && high == end;
    for (bool again = false;; again = true) {
      format::fragment_header h;
      std::memcpy(&h, s.at(f.header), sizeof h);
      std::memcpy(out + (low - from), s.at(o.payload + low), high - low);
      const uint32_t n = pool::covered(s, f, h);
      const std::byte* bytes = whole ? out + (low - from) : s.at(f.payload);
      if (n == end - base && h.checksum == pool::header_checksum(s, f, h, bytes, n)) {
        count_verified(l, n);
        break;
      }
      if (again)
        throw failure(SCUTE_E_CORRUPT, "the object at oid offset " + std::to_string(o.payload) +
                                           " changes while it is read; two threads may not use "
                                           "one object without a lock");
      repair(s, l, f);
    }
  }
}

void verify_object(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size) {
  if (!s.has_checksums) return;
  for (uint64_t i = 0; i * format::fragment_payload < size; ++i) {
    const pool::fragment f = o.fragment(i);
    if (!pool::valid(s, f)) repair(s, l, f);
    count_verified(l, f.room);
  }
}

}  // namespace scute::tx
