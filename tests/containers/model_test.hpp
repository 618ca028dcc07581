// SPDX-License-Identifier: BSD-3-Clause
//
// model_test.hpp: random transactions on a container, and the same on a standard one. Some
// transactions are aborted, and then neither may have changed. At times the pool is reopened.
#pragma once

#include <cstdint>
#include <random>
#include <scute/containers.hpp>
#include <string>

#include "api/temp_pool.hpp"

namespace scute_test {

struct abandoned {};  // thrown to abort

/// Root is the stored type, Model the standard one.
template <class Root, class Model>
class model_test : public pool_test {
 protected:
  void SetUp() override {
    make(64ULL << 20);
    root = pool.root<Root>();
    random.seed(seed() ^ std::hash<std::string>{}(
                             testing::UnitTest::GetInstance()->current_test_info()->name()));
  }

  /// Runs `count` transactions of up to 20 steps each: step(tx, root, model) does one random thing
  /// to both. verify(root, model) compares them through the pool.
  template <class Step, class Verify>
  void play(int count, Step step, Verify verify) {
    SCUTE_TRACE_SEED();
    for (int i = 0; i < count && !HasFatalFailure(); ++i) {
      Model changed = model;
      const bool abort = pick(8) == 0;
      const size_t before = abort ? objects() : 0;
      try {
        pool.transact([&](scute::tx& tx) {
          Root& r = tx.open(root);
          for (uint64_t n = 1 + pick(20); n > 0; --n) {
            step(tx, r, changed);
          }
          if (abort) {
            throw abandoned();
          }
        });
        model = std::move(changed);
      } catch (const abandoned&) {
        ASSERT_EQ(objects(), before) << "an aborted transaction left objects";
      }
      if (i % 50 == 49 || i == count - 1) {
        if (pick(2) == 0) {
          reopen();
        }
        verify(pool.get(root), model);
      }
    }
  }

  /// Nothing but the root is left when the container is empty.
  void expect_no_leaks() {
    EXPECT_EQ(objects(), 1U);
    EXPECT_EQ(pool.check().damaged, 0U);
  }

  uint64_t pick(uint64_t n) { return random() % n; }

  /// Short and long texts, some with a long common beginning.
  std::string text(uint64_t n) {
    const std::string number = std::to_string(pick(n));
    switch (pick(4)) {
      case 0: return number;
      case 1: return "0123456789ab" + number;
      case 2: return "a common beginning of texts " + number;
      default: return number + std::string(pick(8) * 10, '.');
    }
  }

  scute::ptr<Root> root;
  Model model;
  std::mt19937_64 random;
};

}  // namespace scute_test
