// SPDX-License-Identifier: BSD-3-Clause
#include "api/temp_pool.hpp"

#include <cstring>
#include <thread>

namespace {

struct inner {
  int x;
  int y;
};
struct node {
  static constexpr std::string_view scute_type = "test.node";
  uint64_t a;
  scute::ptr<node> next;
  inner in;
  int values[8];
};
struct big {
  uint64_t head;
  char bytes[100'000];
  uint64_t tail;
};

struct throws_when_made {
  throws_when_made() { throw std::runtime_error("constructor"); }
};

class transactions : public scute_test::pool_test {
 protected:
  void SetUp() override {
    make();
    root = pool.root<node>();
  }
  scute::ptr<node> root;
};

TEST_F(transactions, commit_makes_changes_visible_and_lasting) {
  pool.transact([&](scute::tx& tx) {
    node& n = tx.open(root);
    n.a = 1;
    EXPECT_EQ(&tx.open(root), &n) << "opened again, the same buffer";
    EXPECT_EQ(pool.get(root).a, 0U) << "the pool shows the committed state";
    EXPECT_EQ(tx.get(root).a, 1U) << "the transaction shows its own";
    n.next = tx.make<node>(2U);
    EXPECT_EQ(tx.get(n.next).a, 2U);
  });
  EXPECT_EQ(pool.get(root).a, 1U);
  EXPECT_EQ(pool.get(pool.get(root).next).a, 2U);
  reopen();
  EXPECT_EQ(pool.get(root).a, 1U);
  EXPECT_EQ(pool.get(pool.get(root).next).a, 2U);
}

TEST_F(transactions, results_pass_through) {
  EXPECT_EQ(pool.transact([](scute::tx&) { return 42; }), 42);
  const std::string text = "text";
  const std::string& same = pool.transact([&](scute::tx&) -> const std::string& { return text; });
  EXPECT_EQ(&same, &text);
  const auto moved = pool.transact([](scute::tx&) { return std::make_unique<int>(3); });
  EXPECT_EQ(*moved, 3);
}

TEST_F(transactions, an_exception_aborts_and_goes_on) {
  const size_t before = objects();
  EXPECT_THROW(pool.transact([&](scute::tx& tx) {
    tx.open(root).a = 9;
    tx.edit(root, &node::in, &inner::y) = 9;
    tx.make<node>();
    tx.make_array<int>(1000);
    throw std::logic_error("changed my mind");
  }),
               std::logic_error);
  EXPECT_FALSE(pool.in_transaction());
  EXPECT_EQ(pool.get(root).a, 0U);
  EXPECT_EQ(pool.get(root).in.y, 0);
  EXPECT_EQ(objects(), before);
}

TEST_F(transactions, edit_opens_a_field_an_element_a_nested_field) {
  pool.transact([&](scute::tx& tx) {
    tx.edit(root, &node::a) = 1;
    tx.edit(root, &node::in, &inner::y) = 2;
    tx.edit(root, &node::values, 3) = 3;
    tx.edit(root, &node::values)[4] = 4;
    EXPECT_EQ(tx.read(root, &node::a), 1U);
    EXPECT_EQ(tx.read(root, &node::in, &inner::y), 2);
    EXPECT_EQ(tx.get(root).values[3], 3);
    EXPECT_ERRC(range, tx.edit(root, &node::values, 8));
  });
  const node& n = pool.get(root);
  EXPECT_EQ(n.a, 1U);
  EXPECT_EQ(n.in.y, 2);
  EXPECT_EQ(n.in.x, 0);
  EXPECT_EQ(n.values[3], 3);
  EXPECT_EQ(n.values[4], 4);
  EXPECT_EQ(pool.read(root, &node::in, &inner::y), 2);
}

TEST_F(transactions, a_small_edit_of_a_large_object_stays_small) {
  const auto p = pool.transact([](scute::tx& tx) { return tx.make<big>(); });
  const auto before = pool.stats();
  pool.transact([&](scute::tx& tx) {
    tx.edit(p, &big::head) = 1;
    tx.edit(p, &big::tail) = 2;
    EXPECT_EQ(tx.read(p, &big::tail), 2U);
  });
  const auto after = pool.stats();
  EXPECT_LT(after.bytes_data - before.bytes_data, 10'000U);
  EXPECT_EQ(pool.get(p).head, 1U);
  EXPECT_EQ(pool.get(p).tail, 2U);
}

TEST_F(transactions, arrays) {
  const auto p = pool.transact([](scute::tx& tx) {
    const auto made = tx.make_array<int>(1000);
    for (int i = 0; int& x : tx.edit(made, 0, 1000)) {
      x = i++;
    }
    EXPECT_EQ(tx.get(made).size(), 1000U);
    EXPECT_EQ(tx.open(made).size(), 1000U);
    return made;
  });
  EXPECT_EQ(pool.length(p), 1000U);
  EXPECT_EQ(pool.get(p)[999], 999);
  EXPECT_EQ(pool.read(p, 7), 7);
  EXPECT_ERRC(range, pool.read(p, 1000));
  pool.transact([&](scute::tx& tx) {
    tx.at(p, 1) = -1;
    tx.edit(p, 2) = -2;
    tx.in_place(p, 3, 2)[0] = -3;
    EXPECT_EQ(tx.read(p, 2), -2);
    EXPECT_ERRC(range, tx.read(p, 1000));
    EXPECT_ERRC(range, tx.edit(p, 1000));
    EXPECT_ERRC(range, tx.edit(p, 999, 2));
    EXPECT_ERRC(range, tx.edit(p, 0, 0));
    EXPECT_ERRC(range, tx.edit(p, ~0ULL, 2));
    EXPECT_ERRC(range, tx.edit(p, ~0ULL / 4, 1));
    EXPECT_ERRC(range, tx.make_array<int>(0));
    EXPECT_ERRC(range, tx.make_array<int>(~0ULL / 2));
  });
  const auto values = pool.get_verified(p);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], -1);
  EXPECT_EQ(values[2], -2);
  EXPECT_EQ(values[3], -3);
  EXPECT_EQ(values[4], 4);
}

TEST_F(transactions, make_constructs) {
  struct with_default {
    int a = 5;
    int b = 6;
  };
  pool.transact([&](scute::tx& tx) {
    EXPECT_EQ(tx.get(tx.make<with_default>()).b, 6);
    EXPECT_EQ(tx.get(tx.make<with_default>(1)).a, 1);
    EXPECT_EQ(tx.get(tx.make<with_default>(1)).b, 6);
    EXPECT_EQ(tx.get(tx.make_array<with_default>(3))[2].b, 6);
    EXPECT_EQ(tx.get(tx.make<int>(7)), 7);
    EXPECT_EQ(tx.get(tx.make<node>()).values[7], 0);
  });
  const size_t before = objects();
  pool.transact(
      [&](scute::tx& tx) { EXPECT_THROW(tx.make<throws_when_made>(), std::runtime_error); });
  EXPECT_EQ(objects(), before) << "nothing is left of an object that could not be constructed";
}

TEST_F(transactions, destroy_frees_at_commit) {
  const auto p = pool.transact([](scute::tx& tx) { return tx.make<node>(1U); });
  const size_t before = objects();
  EXPECT_THROW(pool.transact([&](scute::tx& tx) {
    tx.destroy(p);
    throw 1;
  }),
               int);
  EXPECT_EQ(pool.get_verified(p).a, 1U) << "the abort undid it";
  pool.transact([&](scute::tx& tx) {
    tx.destroy(p);
    EXPECT_ERRC(freed, tx.open(p));
  });
  EXPECT_EQ(objects(), before - 1);
  EXPECT_ERRC(freed, pool.transact([&](scute::tx& tx) { tx.open(p); }));
  EXPECT_ERRC(freed, pool.transact([&](scute::tx& tx) { tx.destroy(p); }));
}

TEST_F(transactions, in_place_is_undone_by_an_abort) {
  pool.transact([&](scute::tx& tx) {
    tx.in_place(root, &node::a) = 1;
    EXPECT_EQ(pool.get(root).a, 1U) << "visible at once";
    tx.in_place(root, &node::in, &inner::x) = 2;
  });
  EXPECT_EQ(pool.get(root).a, 1U);
  EXPECT_EQ(pool.get(root).in.x, 2);
  EXPECT_THROW(pool.transact([&](scute::tx& tx) {
    tx.in_place(root).a = 3;
    tx.in_place(root, &node::in, &inner::x) = 4;
    throw 1;
  }),
               int);
  EXPECT_EQ(pool.get(root).a, 1U);
  EXPECT_EQ(pool.get(root).in.x, 2);
  EXPECT_NO_THROW(pool.get_verified(root));
}

TEST_F(transactions, nesting_joins_the_outer_one) {
  pool.transact([&](scute::tx& outer) {
    outer.open(root).a = 1;
    pool.transact([&](scute::tx& inner_tx) {
      EXPECT_EQ(inner_tx.get(root).a, 1U);
      inner_tx.open(root).a = 2;
    });
    EXPECT_TRUE(pool.in_transaction());
    EXPECT_EQ(outer.get(root).a, 2U);
    EXPECT_EQ(pool.get(root).a, 0U) << "an inner commit publishes nothing";
  });
  EXPECT_EQ(pool.get(root).a, 2U);
}

TEST_F(transactions, an_inner_abort_dooms_the_outer_one) {
  EXPECT_ERRC(aborted, pool.transact([&](scute::tx& outer) {
    outer.open(root).a = 1;
    try {
      pool.transact([&](scute::tx&) { throw std::runtime_error("inner"); });
    } catch (const std::runtime_error&) {
      // swallowed, but the transaction is lost all the same
    }
  }));
  EXPECT_EQ(pool.get(root).a, 0U);
  EXPECT_FALSE(pool.in_transaction());
}

// AddressSanitizer would stop the program before the canary is looked at.
__attribute__((no_sanitize("address"))) void write_one_too_many(std::span<char> bytes) {
  volatile char* const end = bytes.data() + bytes.size();
  *end = static_cast<char>(*end ^ 1);  // whatever guards it
}

TEST_F(transactions, overrunning_a_buffer_aborts) {
  const auto p = pool.transact([](scute::tx& tx) { return tx.make_array<char>(40); });
  EXPECT_ERRC(canary, pool.transact([&](scute::tx& tx) {
    const std::span<char> bytes = tx.open(p);
    bytes[0] = 'x';
    write_one_too_many(bytes);
  }));
  EXPECT_EQ(pool.get(p)[0], 0);
}

TEST_F(transactions, scoped) {
  {
    scute::transaction tx(pool);
    tx.open(root).a = 1;
  }
  EXPECT_EQ(pool.get(root).a, 0U) << "no commit: aborted";
  scute::transaction tx(pool);
  tx.open(root).a = 2;
  tx.commit();
  EXPECT_EQ(pool.get(root).a, 2U);
  EXPECT_ERRC(notx, tx.open(root));
  EXPECT_ERRC(notx, tx.get(root));
  EXPECT_ERRC(notx, tx.commit());
  EXPECT_ERRC(notx, tx.make<int>());
  scute::transaction second(pool);
  second.open(root).a = 3;
  second.abort();
  EXPECT_EQ(pool.get(root).a, 2U);
}

TEST_F(transactions, belong_to_their_thread) {
  pool.transact([&](scute::tx& tx) {
    tx.open(root).a = 1;
    std::thread([&] {
      EXPECT_ERRC(notx, tx.open(root));
      EXPECT_ERRC(notx, tx.get(root));
      EXPECT_FALSE(pool.in_transaction());
    }).join();
  });
  EXPECT_EQ(pool.get(root).a, 1U);
}

TEST_F(transactions, one_pool_at_a_time) {
  const scute::pool second = scute::pool::create(folder / "second.pool", {.size = 4ULL << 20});
  pool.transact([&](scute::tx& tx) {
    EXPECT_ERRC(invalid, second.transact([](scute::tx&) {}));
    tx.open(root).a = 1;
  });
  EXPECT_EQ(pool.get(root).a, 1U);
  const auto foreign = second.root<node>();
  EXPECT_ERRC(oid, pool.get(foreign));
  EXPECT_ERRC(oid, pool.transact([&](scute::tx& tx) { tx.open(foreign); }));
}

TEST_F(transactions, misuse_throws) {
  EXPECT_ERRC(oid, pool.transact([&](scute::tx& tx) { tx.open(scute::ptr<node>()); }));
  EXPECT_ERRC(oid, pool.transact([&](scute::tx& tx) { tx.get(scute::ptr<node>()); }));
  EXPECT_ERRC(oid, pool.transact([&](scute::tx& tx) { tx.destroy(scute::ptr<node>()); }));
  EXPECT_ERRC(oid, pool.transact([&](scute::tx& tx) { tx.edit(scute::ptr<node>(), &node::a); }));
}

TEST_F(transactions, a_full_pool_throws_and_changes_nothing) {
  const size_t before = objects();
  EXPECT_ERRC(
      nospc, for (;;) {
        pool.transact([&](scute::tx& tx) {
          auto& n = tx.open(root);
          ++n.a;
          tx.make_array<std::byte>(200'000);
        });
      });
  const uint64_t made = pool.get(root).a;
  EXPECT_GT(made, 10U);
  EXPECT_EQ(objects(), before + made);
  reopen();
  EXPECT_EQ(pool.get(root).a, made);
  EXPECT_EQ(objects(), before + made);
}

TEST_F(transactions, threads_work_on_their_own_objects) {
  constexpr int count = 4;
  std::vector<scute::ptr<node>> mine(count);
  pool.transact([&](scute::tx& tx) {
    for (auto& p : mine) {
      p = tx.make<node>();
    }
  });
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k) {
        pool.transact([&](scute::tx& tx) {
          node& n = tx.open(mine[static_cast<size_t>(i)]);
          ++n.a;
          const auto fresh = tx.make<node>(static_cast<uint64_t>(k), n.next);
          if (n.next) {
            tx.destroy(n.next);
          }
          n.next = fresh;
        });
      }
    });
  }
  for (auto& t : threads) {
    t.join();
  }
  for (const auto p : mine) {
    EXPECT_EQ(pool.get(p).a, 200U);
    EXPECT_EQ(pool.get_verified(pool.get(p).next).a, 199U);
  }
}

}  // namespace
