// SPDX-License-Identifier: BSD-3-Clause
// Zones as matrices: data rows, parity rows, and the locks that keep the data and the parity of a
// column consistent. This file keeps POOL-1 (every column has syndrome zero outside a commit
// window).
//
// COL-1 Data rows and their parity are written only under the stripe of their block, by an engine,
//    a repair or a scrub. Recovery, which runs alone, also writes them, and recomputes the parity
//    afterwards.
// COL-2 Under an exclusively held stripe every column of the block has syndrome zero, if cells are
//    read through state::overlaid.
// COL-3 The parity changes by the difference between the new and the old bytes. If the owner of a
//    patch has verified the old bytes and still has them, the difference is to these, and not to
//    the bytes in the pool, which may have been damaged since.
//
// About COL-3: otherwise such damage would get into the parity. Then the written bytes would be
// right and their parity wrong, while the rest of the fragment would be wrong and its parity right;
// no number of parities finds the boundary between the two. (Found by a test that overwrites pages
// of a file whose program commits.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "codec/parity/reed_solomon.hpp"
#include "core/layout/recipe.hpp"
#include "core/shared/state.hpp"

namespace scute::core::pool {

inline constexpr uint64_t column_block = 4096;

// File offset of a column's parity; the others of several follow at distances of a row.
inline uint64_t parity_offset(const geometry& g, uint64_t zone, uint64_t column,
                              uint64_t parity = 0) noexcept {
  return g.zone_offset(zone) + g.data_size + parity * g.row_size + column;
}

// Calls fn(offset, cell, n) for the parts of a data range that stay in one row and column block.
template <typename Fn>
void for_each_block(const geometry& g, uint64_t offset, uint64_t length, Fn&& fn) {
  while (length != 0) {
    cell c = cell_of(g, offset);
    // Rows are whole blocks long, so a block never crosses a row.
    uint64_t row_left = std::min(length, g.row_size - c.column);
    while (row_left != 0) {
      const uint64_t n = std::min(row_left, column_block - c.column % column_block);
      fn(offset, c, n);
      offset += n;
      length -= n;
      row_left -= n;
      c.column += n;
    }
  }
}

// The stripe that guards a byte of the data rows.
inline uint32_t stripe_of(const state& s, uint64_t offset) noexcept {
  const cell c = cell_of(s.geo, offset);
  return stripes::index(c.zone, (s.has_parity ? c.column : offset) / column_block);
}

// Computes the bytes of parity p after a cell's bytes change by `delta` (old XOR new): `length`
// bytes, to next. offset: of the cell in the data rows; parity: of its first parity.
void next_parity(const state& s, uint64_t offset, uint64_t parity, const std::byte* delta,
                 uint32_t length, uint32_t p, std::byte* next) noexcept;

// The bytes that a piece replaces.
inline const std::byte* old_bytes(const state& s, const piece& p) noexcept {
  if (p.old != nullptr) return p.old;
  return p.verified != nullptr ? p.verified : s.at(p.offset);
}

// Splits patches at column blocks into l.pieces, and prefetches the lines that they will touch.
void split(state& s, lane& l, std::span<const patch> patches);

// The same for windows: adds an in-place range to l.pieces. `old` has the range's old bytes, `now`
// a copy of its present ones.
void split_in_place(state& s, lane& l, uint64_t offset, const std::byte* old, const std::byte* now,
                    uint64_t length);

// Starts fetching [offset, offset + length) of the data rows, or its parity, into the cache.
void prefetch_data(const state& s, uint64_t offset, uint64_t length) noexcept;
void prefetch_parity(const state& s, uint64_t offset, uint64_t length) noexcept;

// Data in [offset, offset + length) of a zone, and its parity, come into use: medium::will_use().
void will_use_columns(const state& s, uint64_t offset, uint64_t length) noexcept;
// Columns [column, column + length) of a zone will be read soon, in all rows that are in use and
// the parity: medium::will_read().
void will_read_columns(const state& s, uint64_t zone, uint64_t column, uint64_t length) noexcept;

// In-place ranges: the user has already stored the new bytes. Until the transaction ends the parity
// encodes the old ones. overlay_in_place() makes the old bytes known to all threads that decode,
// until end_in_place(). held: the caller holds the stripes, so that no thread is decoding there.
enum class stripes_are : uint8_t { free, held };
void overlay_in_place(state& s, const lane& l, uint64_t offset, const std::byte* old,
                      uint64_t length, stripes_are now);
void end_in_place(state& s, uint64_t offset, uint64_t length) noexcept;
// Makes `now`, a copy of the range's bytes, known to threads that rebuild a page of it. Returns
// false if a page was lost since overlay_in_place(), so that the range has old bytes again.
bool keep_in_place(state& s, uint64_t offset, const std::byte* now, uint64_t length) noexcept;
// The buffers of gather(): 30 KiB, on the stack of its caller.
struct gather_room {
  alignas(64) std::byte sum[parities_max][column_block];
  alignas(64) std::byte patched[column_block];
  const void* rows[1001];
  uint16_t numbers[1001];  // of these rows
  codec::galois::weights weight[codec::reed_solomon::rows_max];
};
// The sums of a recipe over the columns [column, column + n), in room.sum; n at most column_block,
// and not across a block. The caller holds the stripe. Async-signal-safe.
void gather(const state& s, uint64_t zone, uint64_t column, uint64_t n, const recipe& r,
            gather_room& room) noexcept;
// Makes the cell from these sums.
void combine(const recipe& r, const gather_room& room, uint64_t n, std::byte* out) noexcept;

// Recomputes the parity of the columns of [offset, offset+length) of the data rows from all rows,
// and writes it. Recovery only: no other thread may be in the pool.
void recompute(state& s, medium::writer& w, uint64_t offset, uint64_t length);

// Computes the data bytes [offset, offset+length) from the other rows and the parity. Takes the
// stripes that it needs one after the other. Needs parity.
void decode(state& s, uint64_t offset, std::byte* out, uint64_t length);

// A range of the data rows.
struct data_range {
  uint64_t offset, length;
};
// How to treat other cells when decoding.
struct decoding {
  parity_set trusted = ~parity_set{0};
  std::span<const data_range> unknown;  // not to be read either, like the decoded range
};
// The same with these rules. Returns false if some column has more unknown cells than trusted
// parities; then `out` is meaningless.
bool decode(state& s, uint64_t offset, std::byte* out, uint64_t length, const decoding& how);

// Reads the bytes [offset, offset+length) of the data rows, as their parity has them, and the
// syndromes of their columns: first those of parity 0, then, `length` bytes on, those of parity 1,
// and so on. Each block is read as it is at one moment.
void sample(state& s, uint64_t offset, uint64_t length, std::byte* bytes, std::byte* syndromes);

// The syndromes of the columns [column, column+length) of a zone, those of parity 0 first, then,
// `length` bytes on, those of parity 1, and so on. Zero means consistent. length at most
// column_block, and not across a block.
void column_syndrome(state& s, uint64_t zone, uint64_t column, uint64_t length, std::byte* out);
inline constexpr uint64_t syndrome_max = parities_max * column_block;
// The first parity whose syndrome is not zero, or the number of parities if the columns are
// consistent.
uint32_t wrong_parity(const state& s, const std::byte* syndrome, uint64_t length) noexcept;
bool column_consistent(state& s, uint64_t zone, uint64_t column, uint64_t length);
// Recomputes the parities of such a range while transactions may run. syndrome: writes only if the
// columns still have this one, since other damage may have come after the caller's check; null:
// always writes. Returns false if nothing was written. stripe: whether the stripe is released once
// the parity is stored, or only when it is durable.
enum class freed : uint8_t { when_stored, when_durable };
bool repair_parity(state& s, medium::writer& w, uint64_t zone, uint64_t column, uint64_t length,
                   const std::byte* syndrome = nullptr, freed stripe = freed::when_stored);

// Writes decoded bytes back to the place where they were lost; parity stays as it is. Works block
// by block, and only where the medium still holds `damaged`: elsewhere a commit has written newer
// bytes. A commit has also written if the fragment's header is neither of the two in seen_headers:
// then the bytes of a block may equal the old ones, in another version. Ranges that are open in
// place are skipped.
struct seen_headers {
  uint64_t offset = 0;  // of the header
  const std::byte* damaged = nullptr;
  const std::byte* repaired = nullptr;
};
struct written_back {
  bool some = false;
  // The header's page is lost, and a thread that holds a stripe of other columns does not rebuild
  // it (INFLIGHT-3): blocks not written by then have to be examined again, without a stripe.
  bool header_lost = false;
};
written_back write_back(state& s, medium::writer& w, const seen_headers& headers, uint64_t offset,
                        const std::byte* damaged, const std::byte* bytes, uint64_t length) noexcept;

}  // namespace scute::core::pool
