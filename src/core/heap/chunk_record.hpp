// SPDX-License-Identifier: BSD-3-Clause
// The state of a chunk in memory. Everything here is rebuilt from the chunk's header and its slots'
// headers (invariant POOL-6); nothing of it is stored.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "base/locks/spin_lock.hpp"

namespace scute::core::heap {

enum class use : uint8_t {
  virgin = 0,  // beyond the zone's high-water mark
  free,
  run,
  span,
  span_body,
  log,
  pending_span,  // its head and its bodies, until a transaction makes it a span (PEND-2)
  lost           // its header is beyond repair; left alone
};

// Zero bytes are the state of a virgin chunk: a zone's table is allocated zeroed and lazily.
struct chunk_record {
  std::atomic<use> kind;
  spin_lock mutex;
  bool owned SCUTE_GUARDED_BY(mutex);   // some lane allocates from it
  bool listed SCUTE_GUARDED_BY(mutex);  // in its class's list of chunks with room
  int8_t size_class SCUTE_GUARDED_BY(mutex);
  uint8_t reserved[3];
  // The fields that readers of stale oids may read while the chunk changes its use are atomic. The
  // result of a mixture stays within the chunk (zone_table::locate).
  std::atomic<uint16_t> generation;
  uint16_t slots_hint SCUTE_GUARDED_BY(mutex);  // word of free_bits to look at first
  std::atomic<uint32_t> slot_size;
  uint32_t slots;
  std::atomic<uint32_t> formatted;
  std::atomic<uint32_t> prepared;  // slots that the heap gives out, pending ones included (PEND-2)
  std::atomic<uint32_t> length;    // span: chunks; span_body: distance to its head
  uint32_t free_count SCUTE_GUARDED_BY(mutex);
  std::atomic<uint64_t> reciprocal;  // 2^40 / slot_size, rounded up
  std::atomic<uint64_t*> free_bits;  // run: bit set = prepared and free; null: not scanned yet
  uint32_t index, zone;

  // Offsets inside a chunk are below 2^18 and slots at least 64 bytes, so the product is exact.
  uint32_t slot_of(uint64_t inside) const noexcept {
    return static_cast<uint32_t>(inside * reciprocal >> 40);
  }
  static uint64_t reciprocal_of(uint32_t slot_size) noexcept {
    return ((uint64_t{1} << 40) + slot_size - 1) / slot_size;
  }
};

}  // namespace scute::core::heap
