// SPDX-License-Identifier: BSD-3-Clause
// A pool that is opened to be read: a caller that changes something gets an error, however it
// does it, with every engine and on every medium.
#include <gtest/gtest.h>

#include <cstring>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

TEST(read_only, RefusesAllChanges) {
  for (const auto where : {scratch::memory, scratch::disk})
    for (const auto engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC})
      for (const auto level : {SCUTE_PROTECT_NONE, SCUTE_PROTECT_MLPC}) {
        if (engine == SCUTE_ENGINE_LOGFREE && level == SCUTE_PROTECT_NONE) continue;
        SCOPED_TRACE(std::to_string(engine) + " " + std::to_string(level));
        pool_file f(where);
        f.create(options(4 * mib, {level, engine}));
        const scute_oid objects[] = {f.alloc(pattern(1, 300)), f.alloc(pattern(2, 9000))};
        f.close();
        f.open(SCUTE_READONLY);
        for (int kind = 0; kind < 5; ++kind)
          for (const scute_oid oid : objects) {
            transaction tx(f);
            void* p = nullptr;
            scute_oid made = 0;
            int result = SCUTE_OK;
            switch (kind) {
              case 0: result = scute_tx_open(tx, oid, &p); break;
              case 1: result = scute_tx_add_range(tx, oid, 10, 100, &p); break;
              case 2: result = scute_tx_inplace(tx, oid, 10, 100, &p); break;
              case 3: result = scute_tx_free(tx, oid); break;
              default: result = scute_tx_alloc(tx, 20000, 1, &made, &p);
            }
            if (result == SCUTE_OK && p != nullptr && kind != 2) std::memset(p, 0x77, 100);
            if (result == SCUTE_OK) result = tx.commit();
            EXPECT_EQ(result, SCUTE_E_READONLY) << kind << ": " << scute_errormsg();
          }
        EXPECT_TRUE(f.read(objects[0]) == pattern(1, 300));
        EXPECT_TRUE(f.read(objects[1]) == pattern(2, 9000));
        f.expect_sound();
      }
}

}  // namespace
}  // namespace scute::test
