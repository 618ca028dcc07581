// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout/recipe.hpp"

#include "codec/parity/galois.hpp"

namespace scute::core::pool {

namespace rs = codec::reed_solomon;

bool find_recipe(const geometry& g, uint64_t row, std::span<const uint16_t> unknown,
                 parity_set trusted, recipe& r) noexcept {
  r = {};
  const bool is_parity = row >= g.rows;
  const auto leave_out = [&](uint16_t x) {
    if (r.leaves_out(x)) return true;
    if (r.left_out_count == parities_max) return false;
    r.left_out[r.left_out_count++] = x;
    return true;
  };
  if (!is_parity && !leave_out(static_cast<uint16_t>(row))) return false;
  for (const uint16_t x : unknown)
    if (!leave_out(x)) return false;
  trusted &= all_parities(g);
  if (is_parity) trusted &= ~(parity_set{1} << (row - g.rows));
  const uint32_t k = r.left_out_count;
  for (uint32_t p = 0; p < g.parity && r.sum_count < k; ++p) {
    if ((trusted >> p & 1) == 0) continue;
    r.parity[r.sum_count] = static_cast<uint8_t>(p);
    r.stored[r.sum_count++] = true;
  }
  if (r.sum_count < k) return false;
  if (k == 1 && !is_parity && r.parity[0] == 0) {
    r.weight[0] = 1;
    return true;
  }
  rs::erasure_solution solution;
  if (k != 0 && !rs::solve({r.left_out, k}, {r.parity, k}, solution)) return false;
  if (!is_parity) {
    for (uint32_t j = 0; j < k; ++j) r.weight[j] = solution.coefficient[0][j];
    return true;
  }
  // The sum over the rows that are known, and what the unknown ones, made of the other sums, count.
  const auto p = static_cast<uint8_t>(row - g.rows);
  for (uint32_t j = 0; j < k; ++j)
    for (uint32_t i = 0; i < k; ++i)
      r.weight[j] ^=
          codec::galois::multiply(rs::coefficient(p, r.left_out[i]), solution.coefficient[i][j]);
  r.parity[k] = p;
  r.stored[k] = false;
  r.weight[k] = 1;
  r.sum_count = k + 1;
  return true;
}

recipe recipe_of_all(const geometry& g, sums wanted) noexcept {
  recipe r;
  r.sum_count = g.parity;
  for (uint32_t p = 0; p < g.parity; ++p) {
    r.parity[p] = static_cast<uint8_t>(p);
    r.stored[p] = wanted == sums::syndromes;
    r.weight[p] = 1;
  }
  return r;
}

}  // namespace scute::core::pool
