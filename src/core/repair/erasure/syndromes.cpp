// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/syndromes.hpp"

#include "base/rounding.hpp"
#include "codec/parity/galois.hpp"

namespace scute::core::repair {

std::byte* syndromes::block_of(const pool::cell& c) {
  const uint64_t block = round_down(c.column, pool::column_block);
  std::vector<std::byte>& b = blocks_[{c.zone, block}];
  if (b.empty()) {
    b.resize(s_.geo.parity * pool::column_block);
    pool::column_syndrome(s_, c.zone, block, pool::column_block, b.data());
  }
  return b.data();
}

void syndromes::read(uint64_t offset, std::span<of_column> to) {
  pool::for_each_block(s_.geo, offset, to.size(),
                       [&](uint64_t at, const pool::cell& c, uint64_t n) {
                         const std::byte* from = block_of(c) + c.column % pool::column_block;
                         for (uint64_t i = 0; i < n; ++i) {
                           of_column& x = to[at - offset + i];
                           x = {};
                           for (uint32_t p = 0; p < s_.geo.parity; ++p)
                             x[p] = from[p * pool::column_block + i];
                         }
                       });
}

void syndromes::take_out(uint64_t offset, std::span<const std::byte> change) {
  pool::for_each_block(
      s_.geo, offset, change.size(), [&](uint64_t at, const pool::cell& c, uint64_t n) {
        std::byte* of = block_of(c) + c.column % pool::column_block;
        for (uint32_t p = 0; p < s_.geo.parity; ++p)
          codec::galois::multiply_into(of + p * pool::column_block, &change[at - offset],
                                       pool::coefficient_of(s_.geo, p, at), n);
      });
}

}  // namespace scute::core::repair
