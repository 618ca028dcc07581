// SPDX-License-Identifier: BSD-3-Clause
// Turns the changes of a transaction into patches: finds the bytes that differ, completes headers
// and checksums. The result is the same for every engine (docs/internals/architecture.md, "A
// transaction").
//
// SEAL-1 Patches are disjoint: ranges of one object are, and objects are.
// SEAL-2 A fragment that changes gets a new header exactly if headers vouch for payloads. Its
//    checksum is updated from the bytes that differ, so a commit costs what it changes.
// SEAL-3 A checksum is never derived from present bytes of the pool that no thread has verified
//    since: damage from after the opening would be sealed in, and pass for the truth. A fragment
//    that is open as a whole gets its checksum from the buffer alone. For parts of one, the old
//    bytes are copied first and the fragment verified then.
// SEAL-4 Old bytes of parts that were verified in that way go with the patches, for the parity
//    (COL-3). A fragment that is open as a whole has none: all bytes that differ by now are
//    written, whatever made them differ. So damage from then to the end of the commit counts twice
//    (docs/guides/recover.md, "How much is covered").
//
// On SEAL-3, found by reading, while the live fault campaign was written. Another thread may repair
// the fragment between any two of these steps. So the copy counts only if it is what was verified,
// and so does the header; and "nothing changes" may be concluded only for a verified fragment.
// (Found by a second reading.)
#pragma once

#include <vector>

#include "core/shared/state.hpp"
#include "core/tx/arena.hpp"
#include "core/tx/engine.hpp"
#include "core/tx/micro_buffer.hpp"

namespace scute::core::tx {

class sealer {
 public:
  // a: outlives the sealer; its memory is needed until the write set is committed.
  sealer(pool::state& s, pool::lane& l, arena& a) : s_(s), lane_(l), arena_(a) {}

  void begin() noexcept;
  // Adds the patches of one object.
  void seal_fresh(micro_buffer& b);
  // A fresh object whose payload and further headers were prewritten: its first header alone.
  void seal_prewritten(micro_buffer& b);
  void seal_changed(micro_buffer& b);
  void seal_freed(micro_buffer& b);
  void seal_anchor(uint64_t at, format::root_anchor& anchor);
  // Steps of the heap that the transaction takes along (core/heap/pending_steps.hpp).
  void add_steps(std::span<const pool::patch> steps) {
    patches_.insert(patches_.end(), steps.begin(), steps.end());
    metadata_ = true;
  }
  // The patches of a prewritten object, except its first header.
  void seal_payload(micro_buffer& b);

  write_set result() const noexcept { return {patches_, in_place_, members_, metadata_}; }
  std::span<const pool::patch> patches() const noexcept { return patches_; }

 private:
  void add(uint64_t offset, const void* src, uint64_t n, medium::purpose why,
           const std::byte* verified = nullptr);
  const std::byte* keep(const format::fragment_header* h, const std::byte* old, uint64_t n);
  void fill_header(micro_buffer& b, uint64_t fragment);
  void join(const micro_buffer& b, uint64_t fragment, uint32_t covered, uint64_t extent,
            uint64_t origin);
  void join_fresh(const micro_buffer& b, uint64_t fragment);
  void change_fragment(micro_buffer& b, uint64_t fragment);
  bool derive_change(micro_buffer& b, uint64_t fragment);
  format::fragment_header present_header(const micro_buffer& b, const pool::fragment& f);
  void require_version(const pool::fragment& f, uint64_t tag);
  format::fragment_header take_origin(const micro_buffer& b, const pool::fragment& f, uint64_t base,
                                      uint64_t size);

  pool::state& s_;
  pool::lane& lane_;
  arena& arena_;
  std::vector<pool::patch> patches_;
  std::vector<inplace_range> in_place_;
  std::vector<member> members_;
  bool metadata_ = false;
};

}  // namespace scute::core::tx
