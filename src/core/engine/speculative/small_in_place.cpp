// SPDX-License-Identifier: BSD-3-Clause
// The short way of engine `spec` for ranges in place of small objects. It does the same as
// in_place_records.cpp, without the parts that a general write set needs. The object lock of an
// object (CONFLICT-1) replaces the test of its fragments in the general way; from then on no other
// thread changes it (CONFLICT-3).
#include <cstring>

#include "core/engine/common/in_place.hpp"
#include "core/engine/speculative/granules.hpp"
#include "core/engine/speculative/speculative.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/pool/library_call.hpp"
#include "core/tx/object_lock_guard.hpp"

namespace scute::core::engine {
namespace {

// Tests that the object is unchanged since the transaction read it, and that no transaction has a
// part of it open. With checksums, copies its payload to the image, and verifies it there. If
// false, the general way has to find out.
bool read_small(const pool::state& s, pool::lane& l, const tx::small_member& m) noexcept {
  const uint64_t losses = pool::losses_of_this_thread;
  const pool::optimistic_reads mark;
  if (s.overlaid.touches(m.header + format::header_size, m.room)) return false;
  if (std::memcmp(s.at(m.header), &m.read, sizeof m.read) != 0) return false;
  std::byte* const payload = m.image + format::header_size;
  const uint32_t covered = s.has_checksums ? m.size : 0;
  std::memcpy(payload, s.at(m.header) + format::header_size, covered);
  l.w.count.verified_bytes.add(covered);
  const auto kind = covered == 0 ? codec::checksum_kind::crc32c : s.checksum;
  return pool::losses_of_this_thread == losses &&
         m.read.checksum == pool::header_checksum(kind, m.header, m.read, payload, covered);
}

const tx::small_member& member_of(std::span<const tx::small_member> members,
                                  const tx::inplace_range& r) noexcept {
  const tx::small_member* m = members.data();
  // (The size of other members may have no meaning.)
  while (m->what != tx::small_member::change::in_place || r.offset - m->header >= m->extent()) ++m;
  return *m;
}

}  // namespace

bool speculative::save_short(pool::lane& l, const tx::small_member& m, member_state known,
                             const tx::inplace_range& r, std::byte* old) {
  if (s_.resolving->pending() || s_.medium->failed()) return false;
  tx::object_lock_guard locks(s_, l);
  locks.add(m.header + format::header_size);
  locks.take();
  if (known == member_state::opened && !read_small(s_, l, m)) return false;
  if (s_.has_checksums) {
    std::memcpy(old, m.image + (r.offset - m.header), r.length);
  } else {
    const uint64_t losses = pool::losses_of_this_thread;
    const pool::optimistic_reads mark;
    std::memcpy(old, s_.at(r.offset), r.length);
    if (pool::losses_of_this_thread != losses) return false;
  }
  open_range(l, r);
  return true;
}

// Copies the bytes stored in these ranges to the images of members, which hold the old bytes.
void speculative::renew_images(const pool::lane& l, std::span<const tx::small_member> members,
                               std::span<const tx::inplace_range> ranges) noexcept {
  const std::byte* now = l.in_place.data();
  for (const tx::inplace_range& r : ranges) {
    const tx::small_member& m = member_of(members, r);
    std::memcpy(m.image + (r.offset - m.header), now, r.length);
    now += r.length;
  }
}

}  // namespace scute::core::engine
