// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/column_walk.hpp"

#include <cstring>

#include "base/locks/waiting.hpp"
#include "codec/parity/galois.hpp"
#include "codec/parity/parity.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::scrub {
namespace {

constexpr uint64_t line = 64;
// How many bytes of a page are summed up between two bursts of prefetches.
constexpr uint64_t stride = 512;
// How often columns that do not add up are read again before their stripe is taken.
constexpr int looks = 3;
constexpr uint64_t all_sound = UINT64_MAX;

void fetch(const std::byte* p, uint64_t n) noexcept {
  for (uint64_t i = 0; i < n; i += line) __builtin_prefetch(p + i, 0, 2);
}

}  // namespace

// Adds a page to the sums while the next one is prefetched.
void column_walker::sum(uint64_t row, const std::byte* bytes, const std::byte* next) noexcept {
  for (uint64_t i = 0; i < format::page; i += stride) {
    if (next != nullptr) fetch(next + i, stride);
    codec::xor_into(sum_[0] + i, bytes + i, stride);
    for (uint32_t p = 1; p < s_.geo.parity; ++p)
      codec::galois::multiply_into(sum_[p] + i, bytes + i, codec::reed_solomon::coefficient(p, row),
                                   stride);
  }
}

// Tests slots from .. to-1 of a run of one-fragment slots: a scrub spends most of its time in this
// loop. Returns the first slot that looks wrong, or all_sound.
uint64_t column_walker::slots(const chunk_view& v, uint64_t chunk, uint64_t from, uint64_t to,
                              walk_tally& t) const noexcept {
  const uint64_t size = v.slot_size;
  const uint64_t room = size - format::header_size;
  for (uint64_t k = from; k < to; ++k) {
    const uint64_t at = chunk + k * size;
    const std::byte* p = s_.at(at);
    format::fragment_header h;
    std::memcpy(&h, p, sizeof h);
    if (format::meta_generation(h.meta) != v.generation) return k;
    const auto* tail = reinterpret_cast<const std::byte*>(&h) + sizeof h.checksum;
    uint64_t covered = 0;
    if (format::meta_role(h.meta) == format::role::live) {
      const uint64_t n = format::meta_size(h.meta);
      if (n == 0 || n > room) return k;
      if (s_.has_checksums) covered = n;
    } else if (format::meta_role(h.meta) != format::role::free) {
      return k;
    }
    const auto kind = covered == 0 ? codec::checksum_kind::crc32c : s_.checksum;
    const uint32_t sum =
        codec::checksum(kind, p + format::header_size, covered, tail, format::header_tail);
    if (pool::bind(sum, at) != h.checksum) return k;
    if (format::meta_role(h.meta) == format::role::live) {
      ++t.objects;
      t.object_bytes += format::meta_size(h.meta);
    }
  }
  return all_sound;
}

void column_walker::fragments(heap::zone& z, uint64_t zone, const page& p, walk_tally& t,
                              std::vector<suspect>& suspects) {
  const auto& g = s_.geo;
  const auto one = [&](const fragment_ref& x) {
    uint64_t size = 0;
    if (!looks_sound(s_, x, &size)) {
      suspects.push_back({zone, 0, 0, x});
      return;
    }
    if (size != 0) {
      ++t.objects;
      t.object_bytes += size;
    }
    if (x.chunk == nullptr && x.f.type == format::type_chunk) ++t.chunks;
  };
  const uint64_t in_chunks = p.inside - g.chunk_base;
  if (p.inside >= g.chunk_base && in_chunks >> g.chunk_shift < g.chunks) {
    const chunk_view v = view_of(z, static_cast<uint32_t>(in_chunks >> g.chunk_shift));
    const uint64_t size = v.slot_size;
    if (v.use == heap::use::run && size >= 64 && pool::fragments_of(size) == 1 &&
        !s_.overlaid.touches(p.offset, format::page)) {
      const uint64_t in_chunk = in_chunks & (g.chunk_size - 1);
      const uint64_t base = p.offset - in_chunk;
      const uint64_t to = std::min<uint64_t>((in_chunk + format::page) / size, v.formatted);
      for (uint64_t from = in_chunk / size; from < to; ++from) {
        from = slots(v, base, from, to, t);
        if (from == all_sound) return;
        // A slot that looks wrong is tested again, the careful way.
        fragment_ref x;
        x.chunk = v.chunk;
        x.use = v.use;
        x.generation = x.f.generation = v.generation;
        x.slot_size = v.slot_size;
        x.length = v.length;
        x.slot = static_cast<uint32_t>(from);
        x.first = x.f.header = base + from * size;
        x.f.payload = x.f.header + format::header_size;
        x.f.object_room = size - format::header_size;
        x.f.room = static_cast<uint32_t>(x.f.object_room);
        one(x);
      }
      return;
    }
  }
  for_each_fragment_ref(s_, z, zone, p.inside, that::ends, one);
}

void column_walker::walk(uint64_t zone, uint64_t block, walk_tally& t,
                         std::vector<suspect>& suspects) {
  const pool::optimistic_reads mark;
  const auto& g = s_.geo;
  const uint64_t column = block * format::page;
  heap::zone& z = heap_.zones().get(zone);
  const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
  const uint64_t at = g.zone_offset(zone);
  const bool columns = s_.has_parity;
  if (columns && pool::unused_and_zero(s_, zone, column, format::page)) {
    t.bytes += g.parity * format::page;
    t.parity_bytes += g.parity * format::page;
    return;
  }
  if (columns) {
    fetch(s_.at(at + column), format::page);
    for (uint32_t k = 0; k < g.parity; ++k)
      std::memcpy(sum_[k], s_.at(pool::parity_offset(g, zone, column, k)), format::page);
    t.bytes += g.parity * format::page;
    t.parity_bytes += g.parity * format::page;
  }
  for (uint64_t r = 0; r < g.rows; ++r) {
    page p{};
    p.inside = r * g.row_size + column;
    if (p.inside >= end) break;  // zeros from here on
    p.offset = at + p.inside;
    p.bytes = s_.at(p.offset);
    if (columns) {
      const uint64_t next = p.inside + g.row_size;
      // After the last row, the parity of the next block.
      const std::byte* ahead = r + 1 < g.rows && next < end ? s_.at(at + next)
                               : column + format::page < g.row_size
                                   ? s_.at(at + g.data_size + column + format::page)
                                   : nullptr;
      if (s_.overlaid.touches(p.offset, format::page)) {
        std::memcpy(patched_, p.bytes, sizeof patched_);
        s_.overlaid.substitute(p.offset, patched_, sizeof patched_);
        sum(r, patched_, ahead);
      } else {
        sum(r, p.bytes, ahead);
      }
    }
    t.bytes += format::page;
    fragments(z, zone, p, t, suspects);
  }
  if (columns && !codec::is_zero(sum_, g.parity * format::page)) look_again(zone, column, suspects);
}

// A running commit leaves columns inconsistent for an instant. Reads the suspect columns, and only
// those, again.
void column_walker::look_again(uint64_t zone, uint64_t column, std::vector<suspect>& suspects) {
  uint64_t first = format::page, last = 0;
  unsigned spins = 0;
  pool::gather_room room;
  const pool::recipe all = pool::recipe_of_all(s_.geo, pool::sums::syndromes);
  const auto adds_up = [&](const auto& sums, uint64_t from) {
    for (uint32_t p = 0; p < s_.geo.parity; ++p)
      if (!codec::is_zero(sums[p] + from, line)) return false;
    return true;
  };
  for (uint64_t i = 0; i < format::page; i += line) {
    if (adds_up(sum_, i)) continue;
    int k = 0;
    for (; k < looks; ++k) {
      pool::gather(s_, zone, column + i, line, all, room);
      if (adds_up(room.sum, 0)) break;
      spin_pause(spins);
    }
    if (k < looks) continue;
    first = std::min(first, i);
    last = i + line;
  }
  if (last == 0) return;
  suspect d;
  d.zone = zone;
  d.column = column + first;
  d.length = static_cast<uint32_t>(last - first);
  suspects.push_back(d);
}

}  // namespace scute::core::scrub
