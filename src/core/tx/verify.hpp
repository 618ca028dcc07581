// SPDX-License-Identifier: BSD-3-Clause
// Reads objects with their checksums tested, and repaired if they fail (TX-2, POOL-5).
#pragma once

#include "base/failure.hpp"
#include "core/heap/zone_table.hpp"
#include "core/shared/state.hpp"
#include "core/tx/origins.hpp"

namespace scute::core::tx {

// File offset of an oid's payload; throws SCUTE_E_OID for null and for other pools' oids.
uint64_t payload_of(const pool::state& s, uint64_t oid);

// The first header of a live object, after its first fragment has been verified (and repaired).
// Throws SCUTE_E_FREED, SCUTE_E_CORRUPT.
format::fragment_header live_header(pool::state& s, pool::lane* l, const heap::object& o);

// The same, but only the header is tested (and repaired if it is no header of a live or free
// object). For an object whose copy is verified next.
format::fragment_header live_header_unverified(pool::state& s, pool::lane* l,
                                               const heap::object& o);

// The same for an object that is freed, verified and repaired like a live one (VERIFY-2). An object
// that cannot be repaired can be freed as well, with the header as it is.
format::fragment_header header_to_free(pool::state& s, pool::lane* l, const heap::object& o);

// Copies [from, to) of an object to `out`, and verifies the copy: its part of each fragment is of
// one version, the one noted in `seen`. Repairs fragments that fail, and copies them again. Ranges
// that other transactions have open in place are copied with their old bytes.
void copy_verified(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size,
                   uint64_t from, uint64_t to, std::byte* out, origins* seen = nullptr);

// Verifies (and repairs) every fragment except the first where it lies.
void verify_object(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size);

// The program gets [from, to) of an object as it lies in the pool. To be called if
// s.verify_on_read. Policy conservative verifies the fragments concerned; other policies account
// for them. known: the first fragment was verified just now.
enum class first_fragment : uint8_t { known, unknown };
void hand_out(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size, uint64_t from,
              uint64_t to, first_fragment is);

// Whether a read from `offset` on verifies the first fragment before it relies on anything.
inline first_fragment first_of_read(const pool::state& s, uint64_t offset) noexcept {
  return s.policy == SCUTE_POLICY_CONSERVATIVE && offset < format::fragment_payload
             ? first_fragment::known
             : first_fragment::unknown;
}

// Calls fn with the size of a live object. known: its first fragment is verified before. Otherwise
// its header says the size as it lies there; VERIFY-3.
template <typename Fn>
void with_size(pool::state& s, pool::lane* l, const heap::object& o, first_fragment is, Fn&& fn) {
  if (is == first_fragment::unknown) {
    try {
      return fn(format::meta_size(live_header_unverified(s, l, o).meta));
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_FREED && e.code() != SCUTE_E_RANGE) throw;
    }
  }
  fn(format::meta_size(live_header(s, l, o).meta));
}

}  // namespace scute::core::tx
