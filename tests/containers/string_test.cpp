// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "containers/model_test.hpp"

namespace {

struct root {
  scute::string a;
  scute::string b;
};

class strings : public scute_test::model_test<root, std::pair<std::string, std::string>> {
 protected:
  std::string_view a() const { return pool.get(root).a.view(pool); }
};

TEST_F(strings, assign_every_length) {
  const std::string text(5000, 'x');
  for (const size_t n :
       {0U, 1U, 11U, 12U, 13U, 19U, 20U, 21U, 22U, 63U, 64U, 65U, 100U, 1000U, 4096U, 5000U}) {
    for (const size_t m : {5000U, 0U, 20U, 21U, 1000U}) {
      pool.transact([&](scute::tx& tx) { tx.open(root).a.assign(tx, text.substr(0, m)); });
      pool.transact([&](scute::tx& tx) {
        auto& s = tx.open(root).a;
        s.assign(tx, text.substr(0, n));
        EXPECT_EQ(s.view(tx), text.substr(0, n));
      });
      ASSERT_EQ(a(), text.substr(0, n));
      ASSERT_EQ(pool.get(root).a.size(), n);
      ASSERT_EQ(objects(), n > scute::string::inline_max ? 2U : 1U);
    }
  }
  pool.transact([&](scute::tx& tx) { tx.open(root).a.clear(tx); });
  EXPECT_TRUE(pool.get(root).a.empty());
  expect_no_leaks();
}

TEST_F(strings, append_grows_in_place_and_beyond) {
  std::string expected;
  for (int i = 0; i < 400; ++i) {
    const std::string piece(static_cast<size_t>(pick(30)), static_cast<char>('a' + i % 26));
    pool.transact([&](scute::tx& tx) { tx.edit(root, &root::a).append(tx, piece); });
    expected += piece;
    ASSERT_EQ(a(), expected);
  }
  pool.transact([&](scute::tx& tx) { tx.open(root).a.push_back(tx, '!'); });
  EXPECT_EQ(a().back(), '!');
  EXPECT_EQ(objects(), 2U);
}

TEST_F(strings, own_view_as_source) {
  for (const size_t n : {3U, 15U, 20U, 30U, 500U}) {
    const std::string text = std::string(n, 'x') + "y";
    pool.transact([&](scute::tx& tx) {
      auto& s = tx.open(root).a;
      s.assign(tx, text);
      s.append(tx, s.view(tx));
      EXPECT_EQ(s.view(tx), text + text);
      s.assign(tx, s.view(tx).substr(1));
      EXPECT_EQ(s.view(tx), text.substr(1) + text);
      s.assign(tx, s.view(tx).substr(n + 1 - std::min<size_t>(n, 5)));
    });
    ASSERT_EQ(a(), (text.substr(1) + text).substr(n + 1 - std::min<size_t>(n, 5)));
    pool.transact([&](scute::tx& tx) {  // the view comes from the pool this time
      auto& s = tx.open(root).a;
      s.append(tx, a());
      s.assign(tx, a().substr(1));
    });
  }
}

TEST_F(strings, compare_as_string_view_does) {
  SCUTE_TRACE_SEED();
  std::vector<std::string> texts = {"",
                                    "a",
                                    "b",
                                    "0123456789ab",
                                    "0123456789abc",
                                    "0123456789ab0123456789ab",
                                    "0123456789ab0123456789",
                                    std::string(21, '\xff'),
                                    std::string("a\0b", 3)};
  for (int i = 0; i < 20; ++i) {
    texts.push_back(text(20));
  }
  const auto sign = [](int x) { return (x > 0) - (x < 0); };
  for (const auto& x : texts) {
    pool.transact([&](scute::tx& tx) { tx.open(root).a.assign(tx, x); });
    const auto& stored = pool.get(root).a;
    for (const auto& y : texts) {
      ASSERT_EQ(sign(stored.compare(pool, y)), sign(std::string_view(x).compare(y))) << x << y;
      ASSERT_EQ(stored.equals(pool, y), x == y);
    }
  }
}

TEST_F(strings, random_changes_with_aborts) {
  play(
      400,
      [&](scute::tx& tx, struct root& r, auto& m) {
        const bool first = pick(2) == 0;
        scute::string& s = first ? r.a : r.b;
        std::string& t = first ? m.first : m.second;
        const std::string piece = text(1000);
        if (pick(3) == 0 || t.size() > 10'000) {
          s.assign(tx, piece);
          t = piece;
        } else {
          s.append(tx, piece);
          t += piece;
        }
        ASSERT_EQ(s.view(tx), t);
      },
      [&](const struct root& r, const auto& m) {
        ASSERT_EQ(r.a.view(pool), m.first);
        ASSERT_EQ(r.b.str(pool), m.second);
      });
  pool.transact([&](scute::tx& tx) {
    tx.open(root).a.clear(tx);
    tx.open(root).b.clear(tx);
  });
  expect_no_leaks();
}

TEST_F(strings, large) {
  const std::string text(3'000'000, 'z');
  pool.transact([&](scute::tx& tx) { tx.open(root).a.assign(tx, text); });
  EXPECT_TRUE(a() == text);
  EXPECT_ERRC(range, pool.transact([&](scute::tx& tx) {
    tx.open(root).a.assign(tx, std::string_view(text.data(), scute::string::size_max + 1));
  }));
}

TEST_F(strings, a_damaged_size_is_caught) {
  pool.transact([&](scute::tx& tx) { tx.open(root).a.assign(tx, std::string(100, 'x')); });
  pool.transact([&](scute::tx& tx) {
    const uint32_t size = 1'000'000;
    std::memcpy(static_cast<void*>(&tx.open(root).a), &size, sizeof size);
    EXPECT_ERRC(corrupt, tx.open(root).a.view(tx));
  });
  EXPECT_ERRC(corrupt, pool.get(root).a.view(pool));
  EXPECT_ERRC(corrupt, pool.get(root).a.compare(pool, std::string(50, 'x')));
}

TEST_F(strings, freed_with_the_object_that_holds_them) {
  struct person {
    int age;
    scute::string name;
    struct {
      scute::string street, town;
    } address;
    scute::string titles[2];
  };
  const std::string long_text(100, 'x');
  const auto p = pool.transact([&](scute::tx& tx) {
    const auto made = tx.make<person>(7, scute::string::make(tx, long_text));
    auto& x = tx.open(made);
    x.address.town.assign(tx, long_text);
    x.titles[1].assign(tx, long_text);
    const auto list = tx.make_array<scute::string>(3);
    tx.open(list)[2].assign(tx, long_text);
    tx.destroy(list);
    return made;
  });
  EXPECT_EQ(objects(), 5U);
  EXPECT_EQ(pool.get(p).name.view(pool), long_text);
  pool.transact([&](scute::tx& tx) { tx.destroy(p); });
  expect_no_leaks();
}

}  // namespace
