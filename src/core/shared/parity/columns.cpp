// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/parity/columns.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "codec/parity/galois.hpp"
#include "codec/parity/parity.hpp"
#include "core/medium/persist.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/in_flight_write.hpp"

namespace scute::core::pool {
namespace {

class exclusive_stripe {
 public:
  exclusive_stripe(state& s, uint64_t zone, uint64_t column)
      : s_(s), i_(stripes::index(zone, column / column_block)) {
    s_.locks.lock_exclusive(i_);
    held_.emplace(s, i_, in_flight_write::mode::exclusive);
    if (s.resolving->pending()) s.resolving->before_trust(zone, column);  // UNRES-2
  }
  ~exclusive_stripe() {
    held_.reset();
    s_.locks.unlock_exclusive(i_, made);
  }
  exclusive_stripe(const exclusive_stripe&) = delete;
  exclusive_stripe& operator=(const exclusive_stripe&) = delete;

  stripes::stores made = stripes::stores::ordinary;

 private:
  state& s_;
  uint32_t i_;
  std::optional<in_flight_scope> held_;
};

// Adds `row` of the columns to the sums.
void add_row(const recipe& r, uint64_t row, const std::byte* bytes, uint64_t n,
             gather_room& room) noexcept {
  for (uint32_t i = 0; i < r.sum_count; ++i) {
    if (r.parity[i] == 0)
      codec::xor_into(room.sum[i], bytes, n);
    else
      codec::galois::multiply_into(room.sum[i], bytes,
                                   codec::reed_solomon::coefficient(r.parity[i], row), n);
  }
}

}  // namespace

void gather(const state& s, uint64_t zone, uint64_t column, uint64_t n, const recipe& r,
            gather_room& room) noexcept {
  const geometry& g = s.geo;
  const uint64_t end = s.used_end[zone].load(std::memory_order_acquire);
  const bool plain = r.sum_count == 1 && r.parity[0] == 0;
  constexpr size_t last = std::extent_v<decltype(gather_room::numbers)> - 1;
  size_t count = 0, patched = 0;  // the latter from the end of room.numbers on
  for (uint64_t row = 0; row < g.rows; ++row) {
    const uint64_t inside = row * g.row_size + column;
    if (r.leaves_out(row)) continue;
    if (inside >= end) break;  // zeros from here on
    const uint64_t offset = g.zone_offset(zone) + inside;
    if (s.overlaid.touches(offset, n)) {
      if (s.overlaid.lent(offset, n)) continue;  // zeros; they may be unreadable
      room.numbers[last - patched++] = static_cast<uint16_t>(row);
      continue;
    }
    room.numbers[count] = static_cast<uint16_t>(row);
    room.rows[count++] = s.at(offset);
  }
  if (plain) {
    if (r.stored[0]) room.rows[count++] = s.at(parity_offset(g, zone, column));
    codec::xor_gather(room.sum[0], room.rows, count, n);
  } else {
    void* sums[parities_max] = {};
    for (uint32_t i = 0; i < r.sum_count; ++i) sums[i] = room.sum[i];
    for (size_t k = 0; k < count; ++k)
      for (uint32_t i = 0; i < r.sum_count; ++i)
        room.weight[k][i] = codec::reed_solomon::coefficient(r.parity[i], room.numbers[k]);
    codec::galois::combine(sums, r.sum_count, room.rows, room.weight, count, n);
    for (uint32_t i = 0; i < r.sum_count; ++i)
      if (r.stored[i])
        codec::xor_into(room.sum[i], s.at(parity_offset(g, zone, column, r.parity[i])), n);
  }
  while (patched != 0) {
    const uint64_t row = room.numbers[last - --patched];
    const uint64_t offset = g.zone_offset(zone) + row * g.row_size + column;
    copy_to_replace(room.patched, s.at(offset), n);
    s.overlaid.substitute(offset, room.patched, n);
    add_row(r, row, room.patched, n, room);
  }
}

void combine(const recipe& r, const gather_room& room, uint64_t n, std::byte* out) noexcept {
  if (r.sum_count == 1 && r.weight[0] == 1) {
    std::memcpy(out, room.sum[0], n);
    return;
  }
  std::memset(out, 0, n);
  for (uint32_t i = 0; i < r.sum_count; ++i)
    codec::galois::multiply_into(out, room.sum[i], r.weight[i], n);
}

void next_parity(const state& s, uint64_t offset, uint64_t parity, const std::byte* delta,
                 uint32_t length, uint32_t p, std::byte* next) noexcept {
  const std::byte* stored = s.at(parity + p * s.geo.row_size);
  if (p == 0) return codec::xor_delta(next, stored, delta, length);
  std::memcpy(next, stored, length);
  codec::galois::multiply_into(next, delta, coefficient_of(s.geo, p, offset), length);
}

void split(state& s, lane& l, std::span<const patch> patches) {
  l.pieces.clear();
  for (const patch& p : patches) {
    const auto* src = static_cast<const std::byte*>(p.src);
    const auto* verified = static_cast<const std::byte*>(p.verified);
    for_each_block(s.geo, p.offset, p.length, [&](uint64_t offset, const cell& c, uint64_t n) {
      piece& x = l.pieces.emplace_back();
      x.offset = offset;
      x.src = src;
      x.verified = verified;
      x.length = static_cast<uint32_t>(n);
      x.why = p.why;
      if (s.has_parity) {
        x.parity = parity_offset(s.geo, c.zone, c.column);
        x.stripe = stripes::index(c.zone, c.column / column_block);
        for (uint32_t k = 0; k < s.geo.parity; ++k)
          for (uint64_t i = 0; i < n; i += 64)
            __builtin_prefetch(s.at(x.parity + k * s.geo.row_size + i), 1);
      } else {
        x.parity = 0;
        x.stripe = stripes::index(c.zone, offset / column_block);
      }
      src += n;
      if (verified != nullptr) verified += n;
    });
  }
}

void split_in_place(state& s, lane& l, uint64_t offset, const std::byte* old, const std::byte* now,
                    uint64_t length) {
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
    piece& x = l.pieces.emplace_back();
    x.offset = at;
    x.src = now + (at - offset);
    x.old = old + (at - offset);
    x.length = static_cast<uint32_t>(n);
    x.why = medium::purpose::data;
    x.parity = parity_offset(s.geo, c.zone, c.column);
    x.stripe = stripes::index(c.zone, c.column / column_block);
  });
}

void will_read_columns(const state& s, uint64_t zone, uint64_t column, uint64_t length) noexcept {
  const uint64_t end = s.used_end[zone].load(std::memory_order_acquire);
  length = std::min(length, s.geo.row_size - column);
  for (uint64_t row = 0; row < s.geo.rows && row * s.geo.row_size + column < end; ++row)
    s.medium->will_read(s.geo.zone_offset(zone) + row * s.geo.row_size + column, length);
  for (uint32_t p = 0; p < s.geo.parity; ++p)
    s.medium->will_read(parity_offset(s.geo, zone, column, p), length);
}

void will_use_columns(const state& s, uint64_t offset, uint64_t length) noexcept {
  s.medium->will_use(offset, length);
  while (s.has_parity && length != 0) {
    const cell c = cell_of(s.geo, offset);
    const uint64_t n = std::min(length, s.geo.row_size - c.column);
    for (uint32_t p = 0; p < s.geo.parity; ++p)
      s.medium->will_use(parity_offset(s.geo, c.zone, c.column, p), n);
    offset += n;
    length -= n;
  }
}

void prefetch_data(const state& s, uint64_t offset, uint64_t length) noexcept {
  for (uint64_t i = 0; i < length; i += 64) __builtin_prefetch(s.at(offset + i), 1);
}

void prefetch_parity(const state& s, uint64_t offset, uint64_t length) noexcept {
  if (!s.has_parity) return;
  const cell c = cell_of(s.geo, offset);
  const uint64_t n = std::min(length, s.geo.row_size - c.column);
  for (uint32_t p = 0; p < s.geo.parity; ++p) {
    const std::byte* parity = s.at(parity_offset(s.geo, c.zone, c.column, p));
    for (uint64_t i = 0; i < n; i += 64) __builtin_prefetch(parity + i, 1);
  }
}

void overlay_in_place(state& s, const lane& l, uint64_t offset, const std::byte* old,
                      uint64_t length, stripes_are now) {
  uint64_t done = offset;
  try {
    for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
      s.overlaid.add(at, n, old + (at - offset), l.index);
      done = at + n;
      if (now == stripes_are::held) return;
      // A thread that decodes this column may have read the overlays before; the first store has to
      // wait for it.
      const uint32_t stripe = stripes::index(c.zone, (s.has_parity ? c.column : at) / column_block);
      s.locks.lock_exclusive(stripe);
      s.locks.unlock_exclusive(stripe);
    });
  } catch (...) {
    end_in_place(s, offset, done - offset);
    throw;
  }
}

void end_in_place(state& s, uint64_t offset, uint64_t length) noexcept {
  for_each_block(s.geo, offset, length,
                 [&](uint64_t at, const cell&, uint64_t) { s.overlaid.remove(at); });
}

bool keep_in_place(state& s, uint64_t offset, const std::byte* now, uint64_t length) noexcept {
  bool kept = true;
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell&, uint64_t) {
    kept = s.overlaid.keep(at, now + (at - offset)) && kept;
  });
  return kept;
}

namespace {

void write_parities(state& s, medium::writer& w, uint64_t zone, uint64_t column, uint64_t n,
                    const gather_room& room) noexcept {
  for (uint32_t p = 0; p < s.geo.parity; ++p)
    w.stream(s.at(parity_offset(s.geo, zone, column, p)), room.sum[p], n, medium::purpose::parity);
}

}  // namespace

void recompute(state& s, medium::writer& w, uint64_t offset, uint64_t length) {
  if (!s.has_parity) return;
  gather_room room;
  const recipe all = recipe_of_all(s.geo, sums::parities);
  for_each_block(s.geo, offset, length, [&](uint64_t, const cell& c, uint64_t n) {
    gather(s, c.zone, c.column, n, all, room);
    write_parities(s, w, c.zone, c.column, n, room);
  });
}

bool decode(state& s, uint64_t offset, std::byte* out, uint64_t length, const decoding& how) {
  gather_room room;
  bool known = true;
  for_each_block(s.geo, offset, length, [&](uint64_t, const cell& c, uint64_t n) {
    const exclusive_stripe hold(s, c.zone, c.column);
    // In parts in which the same rows are unknown.
    for (uint64_t from = c.column, end = c.column + n; known && from < end;) {
      uint64_t to = end;
      uint16_t rows[parities_max];
      uint32_t count = 0;
      for (const data_range& x : how.unknown) {
        for_each_block(s.geo, x.offset, x.length, [&](uint64_t, const cell& u, uint64_t m) {
          if (u.zone != c.zone || u.row == c.row || u.column >= to || u.column + m <= from) return;
          if (u.column > from) {
            to = u.column;
            return;
          }
          to = std::min(to, u.column + m);
          if (count == parities_max)
            known = false;
          else
            rows[count++] = static_cast<uint16_t>(u.row);
        });
      }
      recipe r;
      known = known && find_recipe(s.geo, c.row, {rows, count}, how.trusted, r);
      if (!known) break;
      gather(s, c.zone, from, to - from, r, room);
      combine(r, room, to - from, out + (from - c.column));
      from = to;
    }
    out += n;
  });
  return known;
}

void decode(state& s, uint64_t offset, std::byte* out, uint64_t length) {
  decode(s, offset, out, length, decoding{});
}

void sample(state& s, uint64_t offset, uint64_t length, std::byte* bytes, std::byte* syndromes) {
  gather_room room;
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
    const exclusive_stripe hold(s, c.zone, c.column);
    gather(s, c.zone, c.column, n, recipe_of_all(s.geo, sums::syndromes), room);
    std::memcpy(bytes + (at - offset), s.at(at), n);
    s.overlaid.substitute(at, bytes + (at - offset), n);
    for (uint32_t p = 0; p < s.geo.parity; ++p)
      std::memcpy(syndromes + p * length + (at - offset), room.sum[p], n);
  });
}

void column_syndrome(state& s, uint64_t zone, uint64_t column, uint64_t length, std::byte* out) {
  gather_room room;
  const exclusive_stripe hold(s, zone, column);
  gather(s, zone, column, length, recipe_of_all(s.geo, sums::syndromes), room);
  for (uint32_t p = 0; p < s.geo.parity; ++p) std::memcpy(out + p * length, room.sum[p], length);
}

uint32_t wrong_parity(const state& s, const std::byte* syndrome, uint64_t length) noexcept {
  uint32_t p = 0;
  while (p < s.geo.parity && codec::is_zero(syndrome + p * length, length)) ++p;
  return p;
}

bool column_consistent(state& s, uint64_t zone, uint64_t column, uint64_t length) {
  gather_room room;
  const exclusive_stripe hold(s, zone, column);
  gather(s, zone, column, length, recipe_of_all(s.geo, sums::syndromes), room);
  for (uint32_t p = 0; p < s.geo.parity; ++p)
    if (!codec::is_zero(room.sum[p], length)) return false;
  return true;
}

bool repair_parity(state& s, medium::writer& w, uint64_t zone, uint64_t column, uint64_t length,
                   const std::byte* syndrome, freed stripe) {
  gather_room room;
  exclusive_stripe hold(s, zone, column);
  gather(s, zone, column, length,
         recipe_of_all(s.geo, syndrome == nullptr ? sums::parities : sums::syndromes), room);
  if (syndrome != nullptr) {
    for (uint32_t p = 0; p < s.geo.parity; ++p) {
      if (std::memcmp(room.sum[p], syndrome + p * length, length) != 0) return false;
      codec::xor_into(room.sum[p], s.at(parity_offset(s.geo, zone, column, p)), length);
    }
  }
  hold.made = stripes::stores::streamed;
  write_parities(s, w, zone, column, length, room);
  if (stripe == freed::when_durable) w.fence(fence_site::recomputed);
  return true;
}

written_back write_back(state& s, medium::writer& w, const seen_headers& headers, uint64_t offset,
                        const std::byte* damaged, const std::byte* bytes,
                        uint64_t length) noexcept {
  written_back done;
  // A commit that writes a fragment writes its header first, under this block's stripe or before it
  // gets that. The header may lie in other columns than the block (INFLIGHT-3).
  const auto newer = [&] {
    const optimistic_reads mark;
    std::byte now[format::header_size] = {};
    if (!s.medium->read_unless_lost(headers.offset, now, sizeof now)) done.header_lost = true;
    return done.header_lost || (std::memcmp(now, headers.damaged, sizeof now) != 0 &&
                                std::memcmp(now, headers.repaired, sizeof now) != 0);
  };
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
    switch_point();  // until now the header could be read
    exclusive_stripe hold(s, c.zone, c.column);
    hold.made = stripes::stores::streamed;
    const writes_under_optimistic_reads mark;
    const auto gap = [&](uint64_t from, uint64_t some) {
      const uint64_t i = from - offset;
      if (std::memcmp(damaged + i, bytes + i, some) == 0 || newer() ||
          std::memcmp(s.at(from), damaged + i, some) != 0)
        return;
      w.stream(s.at(from), bytes + i, some, medium::purpose::data);
      done.some = true;
    };
    // Under the stripe: a range that is not announced yet has not been stored to.
    s.overlaid.for_each_gap(at, n, gap);
  });
  return done;
}

}  // namespace scute::core::pool
