// SPDX-License-Identifier: BSD-3-Clause
#include "space.hpp"

#include <vector>

namespace scute_torture {

namespace {

// Fewer than this per transaction: a log that overflows its lane would need chunks itself.
constexpr size_t batch_max = 16;

uint64_t fill_and_free(const scute::pool& pool, uint64_t size) {
  std::vector<scute_oid> all;
  for (size_t batch = batch_max; batch != 0;) {
    std::vector<scute_oid> made;
    try {
      pool.transact([&](scute::tx& tx) {
        for (size_t i = 0; i < batch; ++i) made.push_back(tx.allocate(size, 0x4000).oid);
      });
      all.insert(all.end(), made.begin(), made.end());
    } catch (const scute::error& e) {
      if (e.which() != scute::errc::nospc) throw;
      batch /= 2;
    }
  }
  for (size_t i = 0; i < all.size();)
    pool.transact([&](scute::tx& tx) {
      for (size_t n = 0; n < batch_max && i < all.size(); ++n) tx.free_bytes(all[i++]);
    });
  return all.size();
}

}  // namespace

space measure(const scute::pool& pool) {
  space s;
  s.small = fill_and_free(pool, 100);
  s.medium = fill_and_free(pool, 3000);
  s.chunks = fill_and_free(pool, pool.info().chunk_size - 1024);
  return s;
}

}  // namespace scute_torture
