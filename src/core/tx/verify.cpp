// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/verify.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "base/locks/waiting.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/commits_under_way.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/pool/library_call.hpp"
#include "core/shared/resolver.hpp"
#include "core/tx/object_lock_guard.hpp"

namespace scute::core::tx {
namespace {

enum class damage : uint8_t { none, there, of_nobody };

// Whether the chunk has the same use as when the fragment was located.
bool is_place_of(const pool::state& s, const heap::chunk_record& c,
                 const pool::fragment& f) noexcept {
  const heap::use use = c.kind.load(std::memory_order_acquire);
  if ((use != heap::use::run && use != heap::use::span) || c.generation != f.generation)
    return false;
  const uint64_t size = use == heap::use::run ? c.slot_size.load(std::memory_order_acquire)
                                              : uint64_t{c.length} << s.geo.chunk_shift;
  return pool::payload_room(size) == f.object_room;
}

// Looks again at a fragment that cannot be repaired, when running commits have ended. The object's
// head is believed if it is sound.
damage look_again(pool::state& s, const pool::lane* l, const heap::object& o,
                  const pool::fragment& f) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (pool::valid(s, f)) return damage::none;
    if (!is_place_of(s, *o.chunk, f)) return damage::of_nobody;
    const pool::fragment head = o.fragment(0);
    format::fragment_header h;
    if (f.index != 0 && pool::valid(s, head, h) &&
        (format::meta_role(h.meta) != format::role::live ||
         format::meta_size(h.meta) <= f.index * format::fragment_payload))
      return damage::of_nobody;
    pool::let_commits_end(s, l, std::chrono::steady_clock::now() + pool::patience);
    if (!s.parity_is_log) continue;
    pool::let_windows_end(s, head.header, format::header_size);
    pool::let_windows_end(s, f.header, format::header_size);
    pool::let_windows_end(s, f.payload, f.room);
  }
  return damage::there;
}

// VERIFY-1 A thread that reads an object while another one frees it may find fragments that were
//    never written and never will be. They are not damaged. (Found by an attack from outside.)
void repair(pool::state& s, pool::lane* l, const heap::object& o, const pool::fragment& f,
            repair::on_loss then = repair::on_loss::report) {
  const repair_lock mine(s, l, o.payload);
  try {
    repair::repair_fragment(s, l, f, "object", repair::on_loss::leave);
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_CORRUPT) throw;
    const damage is = look_again(s, l, o, f);
    if (is == damage::none) return;
    if (is == damage::of_nobody)
      throw failure(SCUTE_E_FREED, "the object at oid offset " + std::to_string(o.payload) +
                                       " has been freed, or reallocated, while it was read");
    if (then == repair::on_loss::report) repair::report_lost(s, l, f);
    throw;
  }
}

// After a crash of a log-free pool: a valid fragment may be of a transaction that was not decided.
void resolve_first(const pool::state& s, const pool::fragment& f) {
  if (s.resolving->pending()) [[unlikely]]
    s.resolving->before_read(f);
}

void count_verified(pool::state& s, pool::lane* l, uint64_t n) {
  if (l != nullptr)
    l->w.count.verified_bytes.add(n);
  else
    s.verified_outside.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

uint64_t payload_of(const pool::state& s, uint64_t oid) {
  if (oid == 0) throw failure(SCUTE_E_OID, "the oid is null");
  if ((oid & 0xffff'0000'0000'0000u) != s.oid_tag)
    throw failure(SCUTE_E_OID,
                  "the oid belongs to another pool than " + s.path + " (or is no oid at all)");
  return oid & 0x0000'ffff'ffff'ffffu;
}

namespace {

// Repairs the fragment until it was read as sound. One repair may end without that: another page
// was lost meanwhile, or another thread was writing (REPAIR-4).
void make_valid(pool::state& s, pool::lane* l, const heap::object& o, const pool::fragment& f,
                format::fragment_header& h, repair::on_loss then = repair::on_loss::report) {
  for (int attempt = 0; !pool::valid(s, f, h); ++attempt) {
    if (attempt == 1000)
      throw failure(SCUTE_E_CONFLICT,
                    s.path + ": the object at oid offset " + std::to_string(o.payload) +
                        " changes while it is read; another thread must not write it meanwhile");
    repair(s, l, o, f, then);
  }
}
void make_valid(pool::state& s, pool::lane* l, const heap::object& o, const pool::fragment& f) {
  format::fragment_header h;
  make_valid(s, l, o, f, h);
}

format::fragment_header verified_header(pool::state& s, pool::lane* l, const heap::object& o,
                                        repair::on_loss then) {
  const pool::fragment f = o.fragment(0);
  resolve_first(s, f);
  format::fragment_header h;
  make_valid(s, l, o, f, h, then);
  if (format::meta_role(h.meta) != format::role::live)
    throw failure(SCUTE_E_FREED,
                  "the object at oid offset " + std::to_string(o.payload) + " has been freed");
  count_verified(s, l, pool::covered(s, f, h));
  return h;
}

}  // namespace

format::fragment_header live_header(pool::state& s, pool::lane* l, const heap::object& o) {
  return verified_header(s, l, o, repair::on_loss::report);
}

// VERIFY-2 The new header of a freed object changes the parity by its difference to the old one. So
//    the old header is verified, and repaired, before: damage in it would get into the parity,
//    where no checksum shows it. Its checksum vouches for it, so the first fragment is read, 4 KiB
//    at most. From then to the commit the header has to stay the same, bit by bit.
//
// The columns of the header's 32 bytes would do as well, but they have a line in each row, and
// stripes. A damaged header's tag would not be that of the version. Further fragments are not read,
// however many there are: nothing is derived from them, and they stay in the parity as they are
// (LF-5). An object that cannot be repaired is freed all the same, since no thread will read it
// again. (Found by an attack from outside.)
format::fragment_header header_to_free(pool::state& s, pool::lane* l, const heap::object& o) {
  try {
    return verified_header(s, l, o, repair::on_loss::leave);
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_CORRUPT) throw;
    // That call reports the error if the header is of no use either.
    return live_header_unverified(s, l, o);
  }
}

// VERIFY-3 A header that was not verified may be damaged, and say more or fewer bytes than the
//    object has. Fragments after its end belong to no object. So no caller gets SCUTE_E_FREED or
//    SCUTE_E_RANGE from such a header: the verified one decides. (Found by flipped bits of a random
//    seed.)
format::fragment_header live_header_unverified(pool::state& s, pool::lane* l,
                                               const heap::object& o) {
  const pool::fragment f = o.fragment(0);
  resolve_first(s, f);
  format::fragment_header h;
  std::memcpy(&h, s.at(f.header), sizeof h);
  const uint32_t n = pool::covered(s, f, h);
  if (n == pool::not_covered || n == 0 || format::meta_role(h.meta) != format::role::live)
    return live_header(s, l, o);
  return h;
}

namespace {

// Copies [from, to) of a fragment to `out` and returns true if the copy is part of what its header,
// h, vouches for. A checksum over the copy itself shows that. If only some of the fragment is
// copied, all of it is tested where it lies, and then the copy compared. If the copy is of another
// version by chance, h is no longer the header when the transaction is committed (CONFLICT-1).
bool copy_sound(const pool::state& s, const pool::fragment& f, uint32_t from, uint32_t to,
                std::byte* out, format::fragment_header& h) {
  const pool::optimistic_reads mark;
  const uint64_t revision = s.overlaid.revision(f.payload, f.room);
  const auto same_ranges_open = [&] { return s.overlaid.revision(f.payload, f.room) == revision; };
  const bool open = !s.has_checksums && s.overlaid.touches(f.payload, f.room);
  std::memcpy(&h, s.at(f.header), sizeof h);
  std::memcpy(out, s.at(f.payload + from), to - from);
  if (open) switch_point();
  if (s.overlaid.touches(f.payload, f.room)) {
    std::byte all[format::fragment_payload];
    std::memcpy(all, s.at(f.payload), f.room);
    if (open) switch_point();
    s.overlaid.substitute(f.payload, all, f.room);
    std::memcpy(out, all + from, to - from);
    return s.has_checksums ? pool::valid(s, f, h, all) : same_ranges_open();
  }
  switch_point();
  if (!s.has_checksums) return same_ranges_open();
  if (from == 0 && to == pool::covered(s, f, h)) return pool::valid(s, f, h, out);
  return pool::valid(s, f, h) && std::memcmp(out, s.at(f.payload + from), to - from) == 0 &&
         same_ranges_open();
}

}  // namespace

void copy_verified(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size,
                   uint64_t from, uint64_t to, std::byte* out, origins* seen) {
  for (uint64_t i = from / format::fragment_payload; i * format::fragment_payload < to; ++i) {
    const pool::fragment f = o.fragment(i);
    resolve_first(s, f);
    const uint64_t base = i * format::fragment_payload;
    const uint64_t begin = std::max(from, base),
                   end = std::min(to, base + format::fragment_payload);
    format::fragment_header h;
    for (int attempt = 0;; ++attempt) {
      const uint64_t losses = pool::losses_of_this_thread;
      const bool sound = copy_sound(s, f, static_cast<uint32_t>(begin - base),
                                    static_cast<uint32_t>(end - base), out + (begin - from), h);
      if (pool::losses_of_this_thread != losses)
        throw failure(SCUTE_E_CORRUPT, s.path + ": a page of the object at oid offset " +
                                           std::to_string(o.payload) +
                                           " is lost, with another one of its column");
      if (sound) break;
      if (attempt == 1000)
        throw failure(SCUTE_E_CONFLICT,
                      s.path + ": the object at oid offset " + std::to_string(o.payload) +
                          " changes while it is read; another thread must not write it meanwhile");
      if (!pool::valid(s, f)) repair(s, l, o, f);
    }
    if (seen != nullptr && (s.has_checksums || i == 0)) seen->note(i, h.tag);
    if (s.has_checksums) count_verified(s, l, std::min(format::fragment_payload, size - base));
  }
}

void verify_object(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size) {
  if (!s.has_checksums) return;
  for (uint64_t i = 1; i * format::fragment_payload < size; ++i) {
    const pool::fragment f = o.fragment(i);
    resolve_first(s, f);
    make_valid(s, l, o, f);
    count_verified(s, l, std::min(format::fragment_payload, size - i * format::fragment_payload));
  }
}

void hand_out(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size, uint64_t from,
              uint64_t to, first_fragment is) {
  const bool first_known = is == first_fragment::known;
  if (from >= to) return;
  if (s.resolving->pending()) [[unlikely]] {
    // Torn fragments as well: under no policy does a program get half of a transaction.
    for (uint64_t i = from / format::fragment_payload; i * format::fragment_payload < to; ++i) {
      const pool::fragment f = o.fragment(i);
      s.resolving->before_read(f);
      make_valid(s, l, o, f);
    }
  }
  if (s.policy != SCUTE_POLICY_CONSERVATIVE) {
    // A fragment is known or unknown as a whole, but parts that were not requested are not used.
    const uint64_t known = first_known && s.has_checksums ? format::fragment_payload : 0;
    if (to > known) s.account.add(to - std::max(from, known));
    return;
  }
  if (!s.has_checksums) return;
  if (!first_known && from < format::fragment_payload) live_header(s, l, o);
  for (uint64_t i = std::max<uint64_t>(1, from / format::fragment_payload);
       i * format::fragment_payload < to; ++i) {
    const pool::fragment f = o.fragment(i);
    make_valid(s, l, o, f);
    count_verified(s, l, std::min(format::fragment_payload, size - i * format::fragment_payload));
  }
}

}  // namespace scute::core::tx
