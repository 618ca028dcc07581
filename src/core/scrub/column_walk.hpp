// SPDX-License-Identifier: BSD-3-Clause
// Reads a column block once: the page of every row and the parities, their sums, and the checksums
// of all fragments that end in these pages.
//
// WALK-1 Nothing is locked and nothing is written. Bytes that look wrong may be those of a running
//    commit. They are noted as a suspect, and the suspect repairer decides
//    (core/scrub/suspect_repair.hpp).
// WALK-2 Pages are fetched ahead. A fragment that spans two pages is tested with the second one.
//    Its first part was read with the previous column block, so each byte is read from memory about
//    once.
#pragma once

#include <vector>

#include "core/heap/heap.hpp"
#include "core/scrub/fragment_ref.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::scrub {

// Counts of the examined fragments, columns and bytes.
struct walk_tally {
  uint64_t bytes = 0, parity_bytes = 0;
  uint64_t objects = 0, object_bytes = 0;
  uint64_t chunks = 0;

  void add(const walk_tally& o) noexcept {
    bytes += o.bytes;
    parity_bytes += o.parity_bytes;
    objects += o.objects;
    object_bytes += o.object_bytes;
    chunks += o.chunks;
  }
};

struct suspect {
  uint64_t zone = 0, column = 0;
  uint32_t length = 0;  // of the columns that do not add up; 0: a fragment
  fragment_ref g;
};

class column_walker {
 public:
  column_walker(pool::state& s, heap::heap& h) : s_(s), heap_(h) {}

  // Examines the column block `block` of a zone that is loaded.
  void walk(uint64_t zone, uint64_t block, walk_tally& t, std::vector<suspect>& suspects);

 private:
  struct page {
    uint64_t inside;  // offset in the zone
    uint64_t offset;  // in the file
    const std::byte* bytes;
  };
  void fragments(heap::zone& z, uint64_t zone, const page& p, walk_tally& t,
                 std::vector<suspect>& suspects);
  uint64_t slots(const chunk_view& v, uint64_t chunk, uint64_t from, uint64_t to,
                 walk_tally& t) const noexcept;
  void sum(uint64_t row, const std::byte* bytes, const std::byte* next) noexcept;
  void look_again(uint64_t zone, uint64_t column, std::vector<suspect>& suspects);

  pool::state& s_;
  heap::heap& heap_;
  alignas(64) std::byte sum_[pool::parities_max][format::page];
  alignas(64) std::byte patched_[format::page];
};

}  // namespace scute::core::scrub
