// SPDX-License-Identifier: BSD-3-Clause
// POOL-1, POOL-2: after every single operation, at every protection level: random histories
// against a model, with a full check after each step.
#include <gtest/gtest.h>

#include <map>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class parity : public testing::TestWithParam<std::tuple<pool_kind, scute_checksum>> {};

TEST_P(parity, ConsistentAfterEveryOperation) {
  SCUTE_RANDOM(random);
  for (const uint64_t size : {mib, 5 * mib}) {
    pool_file f;
    f.create(size, std::get<0>(GetParam()), std::get<1>(GetParam()));
    std::map<scute_oid, bytes> model;
    const auto pick = [&] {
      auto it = model.begin();
      std::advance(it, static_cast<long>(random.between(0, model.size() - 1)));
      return it;
    };
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      auto next = model;
      transaction tx(f);
      for (uint64_t k = random.between(1, 5); k != 0; --k) {
        void* p = nullptr;
        const uint64_t kind = next.empty() || model.empty() ? 0 : random.between(0, 5);
        if (kind <= 1) {
          const bytes content =
              pattern(random.word(), random.size(random.one_in(6) ? 50000 : 3000));
          scute_oid oid = 0;
          const int e = scute_tx_alloc(tx, content.size(), 7, &oid, &p);
          if (e == SCUTE_E_NOSPC) continue;
          SCUTE_OKAY(e);
          std::memcpy(p, content.data(), content.size());
          next[oid] = content;
          continue;
        }
        const auto it = pick();
        const auto mine = next.find(it->first);
        if (mine == next.end()) continue;
        bytes& b = mine->second;
        const uint64_t n = random.size(b.size()), at = random.between(0, b.size() - n);
        int e = SCUTE_OK;
        if (kind == 2) {
          e = scute_tx_free(tx, it->first);
          if (e == SCUTE_OK) next.erase(mine);
        } else {
          if (kind == 3) {
            e = scute_tx_open(tx, it->first, &p);
            if (e == SCUTE_OK) p = static_cast<char*>(p) + at;
          } else if (kind == 4) {
            e = scute_tx_add_range(tx, it->first, at, n, &p);
          } else {
            e = scute_tx_inplace(tx, it->first, at, n, &p);
          }
          if (e == SCUTE_OK) {
            const bytes fresh = pattern(random.word(), n);
            std::memcpy(p, fresh.data(), n);
            std::memcpy(b.data() + at, fresh.data(), n);
          }
        }
        if (e != SCUTE_OK) {  // a mix of in-place and buffered ranges, or no room to save one
          ASSERT_TRUE(e == SCUTE_E_INVALID || e == SCUTE_E_NOSPC) << scute_errormsg();
        }
      }
      if (random.one_in(4)) {
        SCUTE_OKAY(tx.abort());
      } else {
        const int e = tx.commit();
        ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_NOSPC) << scute_errormsg();
        if (e == SCUTE_OK) model = std::move(next);
      }
      f.expect_sound();
      if (random.one_in(20)) f.reopen();
      for (const auto& [oid, content] : model) ASSERT_TRUE(f.read(oid) == content);
      if (HasFailure()) return;
    }
    EXPECT_EQ(f.objects(), model.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Protection, parity,
                         testing::Combine(every_protection,
                                          testing::Values(SCUTE_CHECKSUM_CRC32C,
                                                          SCUTE_CHECKSUM_ADLER32)));

}  // namespace
}  // namespace scute::test
