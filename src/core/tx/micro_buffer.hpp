// SPDX-License-Identifier: BSD-3-Clause
// One object in a transaction: where it lies, which parts are copied to DRAM, and which are open in
// place (Pangolin 3.2 and 3.4).
#pragma once

#include <cstring>
#include <vector>

#include "core/heap/object.hpp"
#include "core/tx/engine.hpp"
#include "core/tx/origins.hpp"
#include "core/tx/range_set.hpp"

namespace scute::core::tx {

struct micro_buffer {
  heap::object where;
  uint64_t size = 0;
  uint32_t type = 0;
  bool fresh = false;          // allocated by this transaction
  bool freed = false;          // to be freed by it
  bool span = false;           // `freed` one is no slot (a freed chunk may get another use)
  std::byte* bytes = nullptr;  // of the whole object; only what `open` lists was copied
  range_set open;              // ranges the user may change in `bytes`
  range_set known;             // ranges of `bytes` that hold the object's bytes (open or read)
  // A small object that was opened for ranges is open as a whole. These are the requested ranges.
  bool by_ranges = false;
  range_set asked;
  range_set in_place_set;
  std::vector<inplace_range> in_place;
  tx::origins origins;
  format::fragment_header head{};       // freed: its first header then (VERIFY-2)
  bool object_locked = false;           // for the commit (core/shared/object_locks.hpp)
  const std::byte* expected = nullptr;  // all bytes that the object must have at its commit

  // Fragment headers kept in front of `bytes`, where they also serve as canary until commit.
  uint64_t front() const noexcept { return where.payload - where.header; }
  uint64_t fragments() const noexcept {
    return (size + format::fragment_payload - 1) / format::fragment_payload;
  }
  std::byte* header_room(uint64_t fragment) const noexcept {
    return bytes - front() + fragment * format::header_size;
  }
  uint64_t fragment_size(uint64_t i) const noexcept {
    return std::min(format::fragment_payload, size - i * format::fragment_payload);
  }

  // Whether h, which was verified, is the header that the transaction expects. A freed object may
  // have been beyond repair then, and another thread may have repaired it since. It is recognized
  // by its tag or its checksum: damage has hardly changed both.
  bool is_version(const format::fragment_header& h) const noexcept {
    return h.tag == origins.of(0) || (freed && h.checksum == head.checksum);
  }
  // Whether h is, bit by bit, the header that was freed; true for an object that is not freed.
  bool is_freed_head(const format::fragment_header& h) const noexcept {
    return !freed || std::memcmp(&h, &head, sizeof h) == 0;
  }

  // The ranges that the user has opened.
  const range_set& opened() const noexcept { return by_ranges ? asked : open; }

  void reset() noexcept {
    fresh = freed = by_ranges = false;
    asked.clear();
    bytes = nullptr;
    open.clear();
    known.clear();
    in_place_set.clear();
    in_place.clear();
    origins.clear();
    object_locked = false;
    expected = nullptr;
    head.meta = 0;
  }
};

}  // namespace scute::core::tx
