// SPDX-License-Identifier: BSD-3-Clause
// Reading objects with their checksums tested, and repaired where they fail (T2, F5).
#pragma once

#include "heap/zone_table.hpp"
#include "pool/state.hpp"

namespace scute::tx {

// File offset of an oid's payload; throws SCUTE_E_OID for null and for other pools' oids.
uint64_t payload_of(const pool::state& s, uint64_t oid);

// The first header of an object, plausible and live; repairs it if it is neither live nor free.
// Throws SCUTE_E_FREED, SCUTE_E_CORRUPT. Its checksum is tested where it vouches for no payload.
format::fragment_header live_header(pool::state& s, pool::lane* l, const heap::object& o);

// Copies [from, to) of an object to `out`. Every fragment concerned is verified; whole fragments
// in their copy, so that what was verified is what is returned.
void copy_verified(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size,
                   uint64_t from, uint64_t to, std::byte* out);

// Verifies (and repairs) every fragment where it lies.
void verify_object(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size);

}  // namespace scute::tx
