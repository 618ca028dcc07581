// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/parity/blocks.hpp"

#include <algorithm>
#include <cerrno>

#include "base/failure.hpp"
#include "codec/parity/parity.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::pool {
namespace {

// Calls fn(offset, length) for the parity of data in [offset, offset + length) of a zone, until fn
// returns other than 0; returns that. coming: only for columns that come into use with this data,
// which are those of the zone's first row.
enum class columns : uint8_t { all, coming };
template <typename Fn>
int for_each_parity(const geometry& g, uint64_t offset, uint64_t length, columns which, Fn&& fn) {
  while (g.parity != 0 && length != 0) {
    const cell c = cell_of(g, offset);
    if (which == columns::coming && c.row != 0) return 0;
    const uint64_t n = std::min(length, g.row_size - c.column);
    for (uint32_t p = 0; p < g.parity; ++p)
      if (const int e = fn(parity_offset(g, c.zone, c.column, p), n); e != 0) return e;
    offset += n;
    length -= n;
  }
  return 0;
}

// The same for superblocks, lanes, and the headers of all zones with their parity.
template <typename Fn>
int for_each_structure(const geometry& g, Fn&& fn) {
  int e = fn(0, g.zones_offset);
  if (e == 0) e = fn(g.superblock_offset(2), format::page);
  for (uint64_t z = 0; z < g.zone_count && e == 0; ++z) {
    e = fn(g.zone_offset(z), g.chunk_base);
    if (e == 0) e = for_each_parity(g, g.zone_offset(z), g.chunk_base, columns::coming, fn);
  }
  return e;
}

int fill(const state& s, uint64_t offset, uint64_t length) noexcept {
  return s.medium->fill_holes(offset, length);
}

// Parity of more than a row is the parity of all columns.
int fill_columns(const state& s, uint64_t offset, uint64_t length) noexcept {
  if (const int e = fill(s, offset, length); e != 0) return e;
  return for_each_parity(s.geo, offset, std::min(length, s.geo.row_size), columns::all,
                         [&](uint64_t at, uint64_t n) { return fill(s, at, n); });
}

// A zone's high-water mark, by its descriptor in the file; 0 if that is damaged or lost.
uint32_t high_water(const state& s, uint64_t zone) noexcept {
  format::zone_descriptor d;
  if (!s.medium->read(zone, &d, sizeof d)) return 0;
  if (!valid(s, metadata_fragment(zone, format::type_zone), d.header, &d.index)) return 0;
  return std::min(d.high_water, s.geo.chunks);
}

constexpr const char* read_instead = ", or open the pool read-only";

[[noreturn]] void refuse(const state& s, const char* what, int error, const char* instead = "") {
  if (!no_room(error)) throw_errno("reserve blocks of " + s.path, error);
  errno = error;
  throw failure(SCUTE_E_NOSPC, "the file system of " + s.path + " has no room for " + what +
                                   "; make room there" + instead);
}

}  // namespace

bool no_room(int error) noexcept {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

int reserve_columns(const state& s, uint64_t offset, uint64_t length) noexcept {
  if (const int e = s.medium->reserve(offset, length); e != 0) return e;

  return for_each_parity(s.geo, offset, length, columns::coming,
                         [&](uint64_t at, uint64_t n) { return s.medium->reserve(at, n); });
}

bool unused_and_zero(const state& s, uint64_t zone, uint64_t column, uint64_t n) noexcept {
  if (column < s.used_end[zone].load(std::memory_order_acquire)) return false;
  std::byte parity[column_block];
  for (uint32_t p = 0; p < s.geo.parity; ++p)
    if (!s.medium->read(parity_offset(s.geo, zone, column, p), parity, n) ||
        !codec::is_zero(parity, n))
      return false;
  return true;
}

uint64_t structures_size(const geometry& g) noexcept {
  uint64_t sum = 0;
  for_each_structure(g, [&](uint64_t, uint64_t n) {
    sum += n;
    return 0;
  });
  return sum;
}

void reserve_structures(const state& s) {
  const int e =
      for_each_structure(s.geo, [&](uint64_t at, uint64_t n) { return s.medium->reserve(at, n); });
  if (e != 0) refuse(s, "the structures of a pool", e);
}

void fill_holes(const state& s, std::vector<uint32_t>& marks) {
  const auto& g = s.geo;
  if (s.read_only) return;
  int e = 0;
  if (marks.empty()) {
    marks.resize(g.zone_count);
    e = for_each_structure(g, [&](uint64_t at, uint64_t n) { return fill(s, at, n); });
  }
  for (uint64_t z = 0; z < g.zone_count && e == 0; ++z) {
    const uint32_t from = marks[z], to = high_water(s, g.zone_offset(z));
    if (to <= from) continue;
    e = fill_columns(s, g.chunk_offset(z, from), uint64_t{to - from} << g.chunk_shift);
    marks[z] = to;
  }
  if (e != 0) refuse(s, "the holes in the used parts of the file", e, read_instead);
}

void fill_holes(const state& s, uint64_t offset, uint64_t length) {
  if (s.read_only || !s.geo.in_data(offset, length)) return;
  const int e = fill_columns(s, offset, length);
  if (e != 0) refuse(s, "the bytes that its logs have to replay", e, read_instead);
}

}  // namespace scute::core::pool
