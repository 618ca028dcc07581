// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/sealer.hpp"

#include <cstring>

#include "base/locks/waiting.hpp"
#include "codec/diff/diff.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/optimistic.hpp"
#include "core/tx/arena.hpp"
#include "core/tx/conflict.hpp"

namespace scute::core::tx {
namespace {

// Unchanged bytes are written as well if they lie between two changes closer than this: a patch of
// its own costs a record and a piece.
constexpr size_t join_gap = 64;
// A patch's length is 32 bits wide, and a record of the log should stay of a handy size.
constexpr uint64_t patch_max = uint64_t{1} << 20;

}  // namespace

void sealer::begin() noexcept {
  patches_.clear();
  in_place_.clear();
  members_.clear();
  metadata_ = false;
}

void sealer::join(const micro_buffer& b, uint64_t fragment, uint32_t covered, uint64_t extent,
                  uint64_t origin) {
  members_.push_back(
      {b.where.fragment(fragment), b.header_room(fragment), covered, extent, false, origin});
}

// The bytes that lay there before have no owner.
void sealer::join_fresh(const micro_buffer& b, uint64_t fragment) {
  const uint64_t size = b.fragment_size(fragment);
  members_.push_back({b.where.fragment(fragment), b.header_room(fragment),
                      s_.has_checksums ? static_cast<uint32_t>(size) : 0, size, true, 0});
}

void sealer::add(uint64_t offset, const void* src, uint64_t n, medium::purpose why,
                 const std::byte* verified) {
  const auto* from = static_cast<const std::byte*>(src);
  if (!patches_.empty()) {
    pool::patch& last = patches_.back();
    const auto* before = static_cast<const std::byte*>(last.verified);
    // A header and the payload after it are one patch when both change.
    if (last.offset + last.length == offset &&
        static_cast<const std::byte*>(last.src) + last.length == from &&
        (before == nullptr ? verified == nullptr : before + last.length == verified) &&
        last.length + n <= patch_max) {
      last.length += static_cast<uint32_t>(n);
      last.why = medium::purpose::data;
      return;
    }
  }
  for (uint64_t at = 0; at < n; at += patch_max)
    patches_.push_back({offset + at, from + at, static_cast<uint32_t>(std::min(patch_max, n - at)),
                        why, verified == nullptr ? nullptr : verified + at});
}

// SEAL-4. Keeps a copy of verified bytes, after that of their header if there is one.
const std::byte* sealer::keep(const format::fragment_header* h, const std::byte* old, uint64_t n) {
  const size_t front = h != nullptr ? sizeof *h : 0;
  std::byte* const at = arena_.scratch(front + n);
  if (h != nullptr) std::memcpy(at, h, front);
  std::memcpy(at + front, old, n);
  return at + front;
}

// Writes the complete header of a fragment that is in the buffer as a whole into the room before
// its payload.
void sealer::fill_header(micro_buffer& b, uint64_t fragment) {
  const pool::fragment f = b.where.fragment(fragment);
  format::fragment_header h{};
  h.type = b.type;
  h.meta = fragment == 0
               ? format::make_meta(b.size, format::role::live, f.generation)
               : format::make_meta(b.fragment_size(fragment), format::role::part, f.generation);
  const auto covered = s_.has_checksums ? static_cast<uint32_t>(b.fragment_size(fragment)) : 0;
  pool::seal(s_, lane_, f, h, b.bytes + fragment * format::fragment_payload, covered);
  std::memcpy(b.header_room(fragment), &h, sizeof h);
}

void sealer::seal_fresh(micro_buffer& b) {
  arena::open_front(b.bytes, b.front());
  const uint64_t n = b.fragments();
  for (uint64_t i = 0; i < n; ++i) {
    fill_header(b, i);
    join_fresh(b, i);
  }
  add(b.where.header, b.header_room(0), n * format::header_size, medium::purpose::metadata);
  add(b.where.payload, b.bytes, b.size, medium::purpose::data);
}

void sealer::seal_prewritten(micro_buffer& b) {
  arena::open_front(b.bytes, b.front());
  fill_header(b, 0);
  // The payload is in place and durable, but without the first header no thread knows of it.
  join_fresh(b, 0);
  add(b.where.header, b.header_room(0), format::header_size, medium::purpose::metadata);
}

void sealer::seal_payload(micro_buffer& b) {
  arena::open_front(b.bytes, b.front());
  const uint64_t n = b.fragments();
  for (uint64_t i = 1; i < n; ++i) fill_header(b, i);
  if (n > 1)
    add(b.where.header + format::header_size, b.header_room(1), (n - 1) * format::header_size,
        medium::purpose::metadata);
  // Bytes that are there already (zeros, mostly) need not be written again.
  codec::diff_range d{};
  for (uint64_t at = 0;
       at < b.size && codec::next_diff(s_.at(b.where.payload), b.bytes, b.size, at, 4096, d);
       at = d.end)
    add(b.where.payload + d.begin, b.bytes + d.begin, d.end - d.begin, medium::purpose::data);
}

void sealer::seal_freed(micro_buffer& b) {
  const pool::fragment f = b.where.fragment(0);
  const uint64_t origin = present_header(b, f).tag;
  arena::open_front(b.bytes, b.front());
  format::fragment_header h{};
  h.meta = format::make_meta(0, format::role::free, f.generation);
  pool::seal(s_, lane_, f, h, nullptr, 0);
  std::memcpy(b.header_room(0), &h, sizeof h);
  join(b, 0, 0, 0, origin);
  add(b.where.header, b.header_room(0), sizeof h, medium::purpose::metadata);
}

void sealer::seal_anchor(uint64_t at, format::root_anchor& anchor) {
  pool::seal_metadata(s_, lane_, at, format::type_anchor, anchor);
  metadata_ = true;
  add(at, &anchor, sizeof anchor, medium::purpose::metadata);
}

// The header of a fragment that another transaction may have written, or that may have been
// damaged, since it was opened. Repairs it. Throws SCUTE_E_FREED if the object is gone,
// SCUTE_E_CONFLICT if it is another version.
format::fragment_header sealer::present_header(const micro_buffer& b, const pool::fragment& f) {
  constexpr int attempts_max = 100;
  const pool::optimistic_reads mark;
  format::fragment_header h;
  std::memcpy(&h, s_.at(f.header), sizeof h);
  // A header of another version may be a damaged one, which is no conflict, and another thread may
  // have repaired it since. So it is checked with the very bytes that were tested (CONFLICT-1).
  for (int attempt = 0; pool::covered(s_, f, h) == pool::not_covered ||
                        h.tag != b.origins.of(f.index) || !b.is_freed_head(h);
       ++attempt) {
    switch_point();
    if (pool::valid(s_, f, h)) break;
    if (attempt == attempts_max) break;
    repair::repair_fragment(s_, &lane_, f, "object");
  }
  const auto state = format::meta_role(h.meta);
  if (state != format::role::live && state != format::role::part)
    throw failure(SCUTE_E_FREED,
                  "an object was freed after this transaction opened it; two transactions may not "
                  "write one object at a time");
  const bool same = f.index == 0 ? b.is_version(h) : h.tag == b.origins.of(f.index);
  if (!same) refuse_change(s_, f.header);
  return h;
}

// Throws SCUTE_E_CONFLICT if a fragment is not of this version any more. A damaged fragment is
// repaired first.
void sealer::require_version(const pool::fragment& f, uint64_t tag) {
  constexpr int attempts_max = 100;
  format::fragment_header tested;
  for (int attempt = 0; !pool::valid(s_, f, tested); ++attempt) {
    if (attempt == attempts_max) refuse_change(s_, f.header);
    repair::repair_fragment(s_, &lane_, f, "object");
  }
  if (tested.tag != tag) refuse_change(s_, f.header);
}

// SEAL-3. Copies the open parts of the fragment, verifies the fragment where it lies, and returns
// the header that was verified with it. Another thread may repair the fragment between these steps.
// So the copy counts only if it equals the bytes there after the test as well.
format::fragment_header sealer::take_origin(const micro_buffer& b, const pool::fragment& f,
                                            uint64_t base, uint64_t size) {
  const auto each_open = [&](auto&& fn) {
    for (const byte_range& r : b.open) {
      const uint64_t begin = std::max(r.begin, base), end = std::min(r.end, base + size);
      if (begin < end)
        fn(lane_.scratch + (begin - base), s_.at(f.payload + (begin - base)), end - begin);
    }
  };
  constexpr int attempts_max = 100;
  for (int attempt = 0;; ++attempt) {
    const format::fragment_header h =
        s_.has_checksums ? present_header(b, f) : format::fragment_header{};
    each_open([](std::byte* to, const std::byte* from, uint64_t n) { std::memcpy(to, from, n); });
    switch_point();
    if (!s_.has_checksums) return h;
    format::fragment_header tested;
    const bool valid = pool::valid(s_, f, tested);
    if (valid && tested.tag != h.tag) refuse_change(s_, f.header);
    bool same = true;
    each_open([&](const std::byte* copy, const std::byte* now, uint64_t n) {
      same = same && std::memcmp(copy, now, n) == 0;
    });
    if (valid && same) return tested;
    if (attempt == attempts_max)
      throw failure(SCUTE_E_CONFLICT, s_.path + ": the object at file offset " +
                                          std::to_string(f.header) +
                                          " changes while it is committed; two transactions may "
                                          "not write one object at a time");
    if (!valid) repair::repair_fragment(s_, &lane_, f, "object");
  }
}

// CONFLICT-2: bytes read while another transaction had a range open in place do not count.
void sealer::change_fragment(micro_buffer& b, uint64_t index) {
  constexpr int attempts_max = 1000;
  const pool::fragment f = b.where.fragment(index);
  const size_t patches = patches_.size(), members = members_.size();
  const pool::patch last = patches == 0 ? pool::patch{} : patches_.back();
  for (int attempt = 0;; ++attempt) {
    const uint64_t revision = s_.overlaid.revision(f.payload, f.room);
    const bool derived = derive_change(b, index);
    switch_point();
    if (derived && s_.overlaid.revision(f.payload, f.room) == revision) return;
    if (attempt == attempts_max) refuse_change(s_, f.header);
    members_.resize(members);
    patches_.resize(patches);
    if (patches != 0) patches_.back() = last;  // the change may have been joined to it
  }
}

// Returns false if it has to be done again.
bool sealer::derive_change(micro_buffer& b, uint64_t index) {
  const pool::optimistic_reads mark;  // CONFLICT-2
  const pool::fragment f = b.where.fragment(index);
  const uint64_t base = index * format::fragment_payload;
  const uint64_t size = b.fragment_size(index);
  require_closed(s_, lane_, f.header, f.payload, f.room);
  switch_point();
  // SEAL-3: a part that is open as a whole needs no old byte.
  const bool vouched = s_.has_checksums;
  const bool whole = vouched && b.open.contains(base, base + size);
  const format::fragment_header h = whole ? present_header(b, f) : take_origin(b, f, base, size);
  const uint32_t covered = vouched && !whole ? pool::covered(s_, f, h) : 0;
  uint32_t sum = pool::unbind(h.checksum, f.header);
  bool changed = false;
  const size_t placeholder = patches_.size();
  if (vouched) {
    arena::open_front(b.bytes, b.front());
    patches_.push_back(
        {f.header, b.header_room(index), format::header_size, medium::purpose::metadata});
  }
  const auto update = [&](const std::byte* old, const std::byte* fresh, uint64_t at, uint64_t n) {
    changed = true;
    if (vouched && !whole)
      sum = codec::checksum_update(s_.checksum, sum, old, fresh, n,
                                   covered - (at + n) + format::header_tail);
  };
  const std::byte* stored = whole ? s_.at(f.payload) : lane_.scratch;
  for (const byte_range& r : b.open) {
    const uint64_t begin = std::max(r.begin, base), end = std::min(r.end, base + size);
    if (begin >= end) continue;
    codec::diff_range d{};
    const uint64_t low = begin - base;
    for (uint64_t at = 0; at < end - begin && codec::next_diff(stored + low, b.bytes + begin,
                                                               end - begin, at, join_gap, d);
         at = d.end) {
      const uint64_t where = low + d.begin, n = d.end - d.begin;
      const std::byte* verified = nullptr;
      if (vouched && !whole) {
        verified = keep(changed ? nullptr : &h, stored + where, n);
        if (!changed) patches_[placeholder].verified = verified - sizeof h;
      }
      update(stored + where, b.bytes + base + where, where, n);
      add(f.payload + where, b.bytes + base + where, n, medium::purpose::data, verified);
    }
  }
  for (const inplace_range& r : b.in_place) {
    const uint64_t from = r.offset - b.where.payload;
    const uint64_t begin = std::max(from, base), end = std::min(from + r.length, base + size);
    if (begin >= end) continue;
    update(r.old + (begin - from), s_.at(b.where.payload + begin), begin - base, end - begin);
  }
  if (!changed) {
    patches_.resize(placeholder);
    if (!whole) return true;
    // Or another transaction is writing the same bytes that this one wants to write, or damage has
    // produced them (SEAL-3).
    require_version(f, h.tag);
    for (const byte_range& r : b.open) {
      const uint64_t begin = std::max(r.begin, base), end = std::min(r.end, base + size);
      if (begin < end && std::memcmp(stored + (begin - base), b.bytes + begin, end - begin) != 0)
        return false;
    }
    return true;
  }
  if (!vouched) return true;
  join(b, index, static_cast<uint32_t>(size), size, h.tag);
  if (whole) {
    fill_header(b, index);
    return true;
  }
  format::fragment_header fresh = h;
  fresh.tag = format::make_tag(s_.sb.epoch, lane_.index, lane_.sequence + 1);
  fresh.next = f.header;
  fresh.checksum =
      pool::bind(codec::checksum_update(
                     s_.checksum, sum, reinterpret_cast<const std::byte*>(&h) + 4,
                     reinterpret_cast<const std::byte*>(&fresh) + 4, format::header_tail, 0),
                 f.header);
  std::memcpy(b.header_room(index), &fresh, sizeof fresh);
  return true;
}

void sealer::seal_changed(micro_buffer& b) {
  uint64_t next = 0;  // fragments below have been sealed
  const auto seal_range = [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = std::max(next, begin / format::fragment_payload);
         i * format::fragment_payload < end; ++i) {
      change_fragment(b, i);
      next = i + 1;
    }
  };
  // Both sets are in order; visiting their union in order seals each fragment once.
  auto o = b.open.begin();
  auto p = b.in_place_set.begin();
  while (o != b.open.end() || p != b.in_place_set.end()) {
    if (p == b.in_place_set.end() || (o != b.open.end() && o->begin < p->begin)) {
      seal_range(o->begin, o->end);
      ++o;
    } else {
      seal_range(p->begin, p->end);
      ++p;
    }
  }
  in_place_.insert(in_place_.end(), b.in_place.begin(), b.in_place.end());
}

}  // namespace scute::core::tx
