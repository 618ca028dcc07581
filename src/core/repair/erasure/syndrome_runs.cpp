// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/syndrome_runs.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/rounding.hpp"
#include "codec/parity/galois.hpp"
#include "codec/parity/reed_solomon.hpp"

namespace scute::core::repair {
namespace {

namespace galois = codec::galois;
namespace rs = codec::reed_solomon;
using of_column = syndromes::of_column;
using bytes = std::vector<std::byte>;
using runs = std::vector<syndrome_run>;

constexpr std::byte nothing{};
constexpr size_t word = 8;
constexpr int bits_max = 2;         // in a byte that is cut into bits
constexpr size_t changes_max = 64;  // of a syndrome run

// The columns of a unit, and the row that it lies in.
struct columns {
  const unit& where;
  std::vector<of_column> sums;
  uint64_t row(const pool::geometry& g, size_t k) const noexcept {
    return pool::cell_of(g, where.offset + k).row;
  }
};

constexpr uint8_t number(std::byte b) noexcept {
  return std::to_integer<uint8_t>(b);
}

// ---- one parity (SYNRUN-1) ----------------------------------------------------------------------

void add_if_odd(const columns& c, size_t from, size_t to, runs& cut) {
  syndrome_run x{c.where.at + from, to - from, {{}, {}}};
  for (size_t k = from; k < to; ++k) x.changes[1].push_back(c.sums[k][0]);
  cut.push_back(std::move(x));
}

template <typename Fn>
void for_each_run(const columns& c, size_t gap, Fn&& fn) {
  size_t from = 0, to = 0;  // nothing yet
  for (size_t k = 0; k < c.sums.size(); ++k) {
    if (c.sums[k][0] == nothing) continue;
    if (to != 0 && k - to >= gap) {
      fn(from, to);
      to = 0;
    }
    if (to == 0) from = k;
    to = k + 1;
  }
  if (to != 0) fn(from, to);
}

// Cuts short runs into words.
template <typename Fn>
void for_each_word(const columns& c, Fn&& fn) {
  for_each_run(c, 1, [&](size_t from, size_t to) {
    for (size_t end = to; from < to; from = end) {
      end = to;
      if (to - from <= cluster_gap)
        end = std::min(to, round_down(c.where.offset + from, word) + word - c.where.offset);
      fn(from, end);
    }
  });
}

void cut_into_bits(const columns& c, runs& cut) {
  for (size_t k = 0; k < c.sums.size(); ++k) {
    const uint8_t odd = number(c.sums[k][0]);
    if (odd == 0) continue;
    if (std::popcount(odd) > bits_max) {
      add_if_odd(c, k, k + 1, cut);
      continue;
    }
    for (unsigned bit = 1; bit < 256; bit *= 2)
      if ((odd & bit) != 0) cut.push_back({c.where.at + k, 1, {{}, {static_cast<std::byte>(bit)}}});
  }
}

// ---- several parities (SYNRUN-2) ----------------------------------------------------------------

constexpr int adds_up = -1, several = -2;

// By the quotient of the first two syndromes, which differs for each row. -1: of no row.
constexpr auto row_of_quotient = [] {
  std::array<int16_t, 256> rows{};
  rows.fill(-1);
  for (size_t row = 0; row < rs::rows_max; ++row)
    rows[rs::coefficient(1, row)] = static_cast<int16_t>(row);
  return rows;
}();

// The one cell that can be wrong; parities are numbered after rows. rows: how many are in use.
int wrong_cell(const pool::geometry& g, uint64_t rows, const of_column& sum) noexcept {
  uint32_t odd = 0, last = 0;
  for (uint32_t p = 0; p < g.parity; ++p)
    if (sum[p] != nothing) {
      ++odd;
      last = p;
    }
  if (odd == 0) return adds_up;
  if (odd == 1) return static_cast<int>(g.rows + last);
  if (odd != g.parity) return several;  // no coefficient is zero
  const int row =
      row_of_quotient[galois::multiply(number(sum[1]), galois::inverse(number(sum[0])))];
  if (row < 0 || static_cast<uint64_t>(row) >= rows) return several;
  for (uint32_t p = 2; p < g.parity; ++p)
    if (galois::multiply(rs::coefficient(p, static_cast<size_t>(row)), number(sum[0])) !=
        number(sum[p]))
      return several;
  return row;
}

// The change of `row` that the syndromes require if `other` is wrong as well. Returns false if the
// two do not explain them.
bool wrong_with(const pool::geometry& g, const std::vector<of_column>& sums, size_t from, size_t to,
                uint64_t row, uint16_t other, bytes& change) {
  const bool is_parity = other >= g.rows;
  pool::parity_set trusted = pool::all_parities(g);
  if (is_parity) trusted &= ~(pool::parity_set{1} << (other - g.rows));
  const uint16_t own = static_cast<uint16_t>(row);
  pool::recipe mine, others;
  if (!pool::find_recipe(g, row, {&other, is_parity ? 0u : 1u}, trusted, mine)) return false;
  if (!is_parity && !pool::find_recipe(g, other, {&own, 1}, trusted, others)) return false;
  const auto apply = [](const pool::recipe& r, const of_column& sum) {
    uint8_t x = 0;
    for (uint32_t i = 0; i < r.sum_count; ++i)
      x ^= galois::multiply(r.weight[i], number(sum[r.parity[i]]));
    return x;
  };
  change.clear();
  for (size_t k = from; k < to; ++k) {
    const uint8_t a = apply(mine, sums[k]), b = is_parity ? uint8_t{0} : apply(others, sums[k]);
    for (uint32_t p = 0; p < g.parity; ++p) {
      if ((trusted >> p & 1) == 0) continue;
      uint8_t sum = galois::multiply(rs::coefficient(p, row), a);
      if (!is_parity) sum ^= galois::multiply(rs::coefficient(p, other), b);
      if (sum != number(sums[k][p])) return false;
    }
    change.push_back(static_cast<std::byte>(a));
  }
  return std::any_of(change.begin(), change.end(), [](std::byte b) { return b != nothing; });
}

void add_by_cell(const pool::geometry& g, uint64_t rows, const columns& c, size_t from, size_t to,
                 int cell, std::span<const uint16_t> damaged, runs& cut) {
  const uint64_t row = c.row(g, from);
  syndrome_run x{c.where.at + from, to - from, {}};
  const bool parity = cell >= static_cast<int>(g.rows);
  if (cell == several || parity) {
    x.changes.emplace_back();
    const auto with = [&](uint16_t other) {
      bytes change;
      if (other != row && x.changes.size() < changes_max &&
          wrong_with(g, c.sums, from, to, row, other, change) &&
          std::find(x.changes.begin(), x.changes.end(), change) == x.changes.end())
        x.changes.push_back(std::move(change));
    };
    for (const uint16_t other : damaged) with(other);
    for (uint16_t other = 0; other < rows && g.parity > 2; ++other) with(other);
    for (uint32_t p = 0; p < g.parity && !parity; ++p) with(static_cast<uint16_t>(g.rows + p));
  } else if (static_cast<uint64_t>(cell) == row) {
    x.changes.resize(2);
    for (size_t k = from; k < to; ++k) x.changes[0].push_back(c.sums[k][0]);
  }
  if (x.changes.size() > 1) cut.push_back(std::move(x));
}

void cut_by_cells(const pool::state& s, const columns& c, std::span<const uint16_t> damaged,
                  runs& cut) {
  const pool::geometry& g = s.geo;
  const pool::cell at = pool::cell_of(g, c.where.offset);
  const uint64_t used = s.used_end[at.zone].load(std::memory_order_acquire);
  const uint64_t rows =
      used <= at.column ? 0 : std::min<uint64_t>(g.rows, (used - at.column - 1) / g.row_size + 1);
  size_t from = 0;
  int cell = adds_up;
  for (size_t k = 0; k <= c.sums.size(); ++k) {
    const int next = k == c.sums.size() ? adds_up : wrong_cell(g, rows, c.sums[k]);
    if (next == cell) continue;
    if (cell != adds_up) add_by_cell(g, rows, c, from, k, cell, damaged, cut);
    from = k;
    cell = next;
  }
}

}  // namespace

syndrome_run_cuts cut_into_syndrome_runs(const pool::state& s, const std::vector<unit>& units,
                                         syndromes& sums, std::span<const uint16_t> damaged,
                                         size_t most) {
  std::vector<columns> all;
  for (const unit& u : units) {
    all.push_back({u, std::vector<of_column>(u.length)});
    sums.read(u.offset, all.back().sums);
  }
  syndrome_run_cuts x;
  const auto cut = [&](auto&& by) {
    runs found;
    for (const columns& c : all) by(c, found);
    if (found.empty() || (!x.ways.empty() && found.size() == x.ways.back().size())) return;
    x.too_many = found.size() > most;
    if (!x.too_many) x.ways.push_back(std::move(found));
  };
  if (s.geo.parity > 1) {
    cut([&](const columns& c, runs& to) { cut_by_cells(s, c, damaged, to); });
    return x;
  }
  // Counted before they are copied.
  const auto fit = [&](auto&& each) {
    size_t n = 0;
    for (const columns& c : all) each(c, [&](size_t, size_t) { ++n; });
    x.too_many = n > most;
    if (x.too_many) return false;
    cut([&](const columns& c, runs& to) {
      each(c, [&](size_t from, size_t end) { add_if_odd(c, from, end, to); });
    });
    return true;
  };
  if (!fit([](const columns& c, auto&& fn) { for_each_run(c, cluster_gap, fn); }) ||
      !fit([](const columns& c, auto&& fn) { for_each_word(c, fn); }))
    return x;
  cut([](const columns& c, runs& to) { cut_into_bits(c, to); });
  return x;
}

}  // namespace scute::core::repair
