// SPDX-License-Identifier: BSD-3-Clause
// vector and queue.
#include <algorithm>
#include <deque>
#include <ranges>
#include <vector>

#include "containers/model_test.hpp"

namespace {

struct page {
  uint64_t number;
  char bytes[5000];
};

struct root {
  scute::vector<uint64_t> numbers;
  scute::vector<scute::string> texts;
  scute::vector<page> pages;
  scute::queue<uint64_t> number_queue;
  scute::queue<scute::string> text_queue;
  scute::queue<page> page_queue;
  scute::vector<scute::vector<scute::string>> nested;
};

struct model {
  std::vector<uint64_t> numbers;
  std::vector<std::string> texts;
  std::deque<std::string> text_queue;
  std::deque<uint64_t> number_queue;
};

static_assert(std::ranges::random_access_range<scute::vector_view<int>>);
static_assert(std::ranges::forward_range<scute::queue<int>::range>);

class sequences : public scute_test::model_test<root, ::model> {
 protected:
  const struct root& state() const { return pool.get(root); }
  auto texts_of(auto range) const {
    std::vector<std::string> out;
    for (const scute::string& s : range) {
      out.push_back(s.str(pool));
    }
    return out;
  }
};

// Following an iterator at the end is the program's mistake, not damage of the pool.
template <class Iterator>
void expect_end(Iterator end) {
  EXPECT_ERRC(range, (void)*end);
  EXPECT_ERRC(range, (void)*Iterator());
}

TEST_F(sequences, following_an_iterator_at_the_end_throws_range) {
  expect_end(state().numbers.scan(pool).end());
  expect_end(state().number_queue.scan(pool).end());
  pool.transact([&](scute::tx& tx) {
    for (uint64_t i = 0; i < 3; ++i) {
      tx.open(root).numbers.push_back(tx, i);
      tx.open(root).number_queue.push(tx, i);
    }
  });
  // The segment has room for more than are in use.
  expect_end(state().numbers.scan(pool).end());
  expect_end(state().number_queue.scan(pool).end());
  auto it = state().numbers.scan(pool).begin();
  for (uint64_t i = 0; i < 3; ++i, ++it) {
    EXPECT_EQ(*it, i);
  }
  EXPECT_ERRC(range, (void)*it);
  EXPECT_ERRC(range, (void)it[5]);
}

struct note {
  scute::string title, text;
  uint64_t number;
};

struct text_value {
  scute::string text;
};

struct maps {
  scute::ordered_map<int, text_value> sorted;
  scute::hash_map<int, text_value> hashed;
};

TEST_F(sequences, an_element_may_be_replaced_by_itself_or_a_neighbour) {
  const std::string longer(300, 'x');
  const auto notes = pool.transact([&](scute::tx& tx) {
    const auto made = tx.make<scute::vector<note>>();
    for (uint64_t i = 0; i < 3; ++i) {
      note& n = tx.open(made).emplace_back(tx);
      n.title.assign(tx, "note " + std::to_string(i));
      n.text.assign(tx, longer + std::to_string(i));
      n.number = i;
    }
    return made;
  });
  const size_t before = objects();
  const auto expect = [&](std::initializer_list<uint64_t> numbers) {
    uint64_t i = 0;
    for (const uint64_t n : numbers) {
      const note& is = pool.get(notes).at(pool, i++);
      EXPECT_EQ(is.number, n);
      EXPECT_EQ(is.title.str(pool), "note " + std::to_string(n));
      EXPECT_EQ(is.text.str(pool), longer + std::to_string(n));
    }
    EXPECT_EQ(objects(), before);
  };
  pool.transact([&](scute::tx& tx) { tx.open(notes).assign(tx, 1, tx.open(notes).at(tx, 1)); });
  expect({0, 1, 2});
  pool.transact([&](scute::tx& tx) {  // open for writing already
    note& mine = tx.open(notes).edit(tx, 1);
    tx.open(notes).assign(tx, 1, mine);
    tx.open(notes).assign(tx, 1, std::move(mine));
  });
  expect({0, 1, 2});
  pool.transact([&](scute::tx& tx) { tx.open(notes).assign(tx, 0, tx.open(notes).at(tx, 2)); });
  expect({2, 1, 2});
  // The same in maps, whose values are replaced likewise.
  pool.transact([&](scute::tx& tx) {
    const auto made = tx.make<maps>();
    auto& [sorted, hashed] = tx.open(made);
    const auto replace = [&](auto& map) {
      text_value first;
      first.text.assign(tx, longer);
      map.insert(tx, 1, std::move(first));
      map.insert_or_assign(tx, 1, *map.get(tx, 1));
      EXPECT_EQ(map.get(tx, 1)->text.view(tx), longer);
    };
    replace(sorted);
    replace(hashed);
    tx.destroy(made);
  });
  pool.transact([&](scute::tx& tx) {
    auto& texts = tx.open(root).texts;
    texts.push_back(tx, longer);
    texts.assign(tx, 0, texts.at(tx, 0));
    texts.assign(tx, 0, std::move(texts.edit(tx, 0)));
    texts.push_back(tx, texts.at(tx, 0));
    EXPECT_EQ(texts.at(tx, 1).view(tx), longer);
    texts.clear(tx);
    tx.open(notes).clear(tx);
    tx.destroy(notes);
  });
  expect_no_leaks();
}

TEST_F(sequences, against_a_model) {
  for (int phase = 0; phase < 4; ++phase) {
    play(
        200,
        [&](scute::tx& tx, struct root& r, ::model& m) {
          const std::string t = text(1000);
          const uint64_t n = pick(1000);
          const uint64_t i = m.numbers.empty() ? 0 : pick(m.numbers.size());
          switch (phase % 2 == 0 ? pick(4) : 2 + pick(6)) {
            case 0:
            case 1:
            case 2:
              r.numbers.push_back(tx, n);
              m.numbers.push_back(n);
              ASSERT_EQ(r.texts.push_back(tx, t).view(tx), t);
              m.texts.push_back(t);
              r.text_queue.push(tx, t);
              m.text_queue.push_back(t);
              r.number_queue.push(tx, n);
              m.number_queue.push_back(n);
              break;
            case 3:
              if (!m.numbers.empty()) {
                r.numbers.edit(tx, i) = n;
                m.numbers[i] = n;
                r.texts.assign(tx, i, t);
                m.texts[i] = t;
                ASSERT_EQ(r.texts.at(tx, i).view(tx), t);
              }
              break;
            case 4:
              if (!m.numbers.empty()) {
                r.numbers.swap_remove(tx, i);
                std::swap(m.numbers[i], m.numbers.back());
                m.numbers.pop_back();
                r.texts.swap_remove(tx, i);
                std::swap(m.texts[i], m.texts.back());
                m.texts.pop_back();
              }
              break;
            case 5: {
              const uint64_t size =
                  m.numbers.size() - std::min<uint64_t>(m.numbers.size(), pick(50));
              r.numbers.resize(tx, size);
              m.numbers.resize(size);
              r.texts.resize(tx, size);
              m.texts.resize(size);
              break;
            }
            default:
              if (!m.numbers.empty()) {
                r.numbers.pop_back(tx);
                m.numbers.pop_back();
                r.texts.pop_back(tx);
                m.texts.pop_back();
              }
              if (!m.text_queue.empty()) {
                ASSERT_EQ(r.text_queue.front(tx).view(tx), m.text_queue.front());
                ASSERT_EQ(r.text_queue.back(tx).view(tx), m.text_queue.back());
                r.text_queue.pop(tx);
                m.text_queue.pop_front();
                r.number_queue.pop(tx);
                m.number_queue.pop_front();
              }
          }
          ASSERT_EQ(r.numbers.size(), m.numbers.size());
          ASSERT_EQ(r.text_queue.size(), m.text_queue.size());
        },
        [&](const struct root& r, const ::model& m) {
          ASSERT_TRUE(std::ranges::equal(r.numbers.scan(pool), m.numbers));
          ASSERT_EQ(texts_of(r.texts.scan(pool)), m.texts);
          ASSERT_TRUE(std::ranges::equal(texts_of(r.text_queue.scan(pool)), m.text_queue));
          ASSERT_TRUE(std::ranges::equal(r.number_queue.scan(pool), m.number_queue));
          for (size_t i = 0; i < m.numbers.size(); i += 17) {
            ASSERT_EQ(r.numbers.at(pool, i), m.numbers[i]);
            ASSERT_EQ(r.numbers.scan(pool)[i], m.numbers[i]);
          }
        });
  }
  pool.transact([&](scute::tx& tx) {
    auto& r = tx.open(root);
    r.numbers.clear(tx);
    r.texts.clear(tx);
    r.text_queue.clear(tx);
    r.number_queue.clear(tx);
  });
  expect_no_leaks();
}

TEST_F(sequences, a_large_vector_grows_without_copying) {
  constexpr uint64_t n = 100'000;  // two directory levels
  uint64_t worst = 0;
  for (uint64_t i = 0; i < n; i += 100) {
    const auto before = pool.stats().bytes_data;
    pool.transact([&](scute::tx& tx) {
      auto& v = tx.edit(root, &root::numbers);
      for (uint64_t k = i; k < i + 100; ++k) {
        v.push_back(tx, k);
      }
    });
    worst = std::max(worst, pool.stats().bytes_data - before);
  }
  EXPECT_LT(worst, 20'000U);
  reopen();
  const auto all = state().numbers.scan(pool);
  EXPECT_TRUE(std::ranges::equal(all, std::views::iota(uint64_t{0}, n)));
  EXPECT_EQ(all.begin()[77'777], 77'777U);
  EXPECT_EQ(*(all.end() - 1), n - 1);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(*std::ranges::lower_bound(all, 1234U), 1234U);
  pool.transact([&](scute::tx& tx) {
    auto& v = tx.open(root).numbers;
    v.resize(tx, 600);
    for (int i = 0; i < 500; ++i) {
      v.pop_back(tx);
    }
  });
  EXPECT_TRUE(
      std::ranges::equal(state().numbers.scan(pool), std::views::iota(uint64_t{0}, uint64_t{100})));
  EXPECT_LE(objects(), 6U) << "segments that hold nothing are freed";
  pool.transact([&](scute::tx& tx) { tx.open(root).numbers.resize(tx, 0); });
  expect_no_leaks();
}

TEST_F(sequences, reserve_allocates_ahead) {
  pool.transact([&](scute::tx& tx) {
    auto& v = tx.open(root).numbers;
    v.push_back(tx, 7U);
    v.reserve(tx, 10'000);
    v.reserve(tx, 5);
  });
  const size_t before = objects();
  pool.transact([&](scute::tx& tx) {
    for (uint64_t i = 1; i < 10'000; ++i) {
      tx.open(root).numbers.push_back(tx, i);
    }
  });
  EXPECT_EQ(objects(), before);
  EXPECT_EQ(state().numbers.front(pool), 7U);
  EXPECT_EQ(state().numbers.back(pool), 9'999U);
  pool.transact([&](scute::tx& tx) { tx.open(root).numbers.clear(tx); });
  expect_no_leaks();
}

TEST_F(sequences, elements_larger_than_a_segment) {
  pool.transact([&](scute::tx& tx) {
    auto& r = tx.open(root);
    for (uint64_t i = 0; i < 200; ++i) {
      r.pages.emplace_back(tx).number = i;
      r.page_queue.push(tx).number = i;
    }
  });
  EXPECT_EQ(state().pages.at(pool, 150).number, 150U);
  EXPECT_EQ(state().page_queue.back(pool).number, 199U);
  pool.transact([&](scute::tx& tx) {
    auto& r = tx.open(root);
    while (!r.pages.empty()) {
      EXPECT_EQ(r.pages.back(tx).number, r.pages.size() - 1);
      r.pages.pop_back(tx);
      r.page_queue.pop(tx);
    }
    r.page_queue.clear(tx);
  });
  expect_no_leaks();
}

TEST_F(sequences, nested) {
  const std::string long_text(50, 'x');
  pool.transact([&](scute::tx& tx) {
    auto& n = tx.open(root).nested;
    for (int i = 0; i < 10; ++i) {
      auto& row = n.emplace_back(tx);
      for (int k = 0; k < 10; ++k) {
        row.push_back(tx, long_text);
      }
    }
  });
  EXPECT_EQ(state().nested.at(pool, 3).at(pool, 4).view(pool), long_text);
  pool.transact([&](scute::tx& tx) {
    auto& n = tx.open(root).nested;
    n.edit(tx, 3).pop_back(tx);
    n.swap_remove(tx, 0);
    n.resize(tx, 5);
  });
  EXPECT_EQ(state().nested.at(pool, 3).size(), 9U);
  pool.transact([&](scute::tx& tx) { tx.open(root).nested.clear(tx); });
  expect_no_leaks();
}

TEST_F(sequences, a_queue_that_runs_empty_keeps_one_segment) {
  for (int i = 0; i < 500; ++i) {
    pool.transact([&](scute::tx& tx) { tx.open(root).number_queue.push(tx, 1U); });
    pool.transact([&](scute::tx& tx) { tx.open(root).number_queue.pop(tx); });
    ASSERT_EQ(objects(), 2U);
  }
}

TEST_F(sequences, misuse_throws) {
  pool.transact([&](scute::tx& tx) {
    auto& r = tx.open(root);
    EXPECT_ERRC(range, r.numbers.at(tx, 0));
    EXPECT_ERRC(range, r.numbers.back(tx));
    EXPECT_ERRC(range, r.numbers.edit(tx, 0));
    EXPECT_ERRC(range, r.numbers.pop_back(tx));
    EXPECT_ERRC(range, r.numbers.swap_remove(tx, 0));
    EXPECT_ERRC(range, r.number_queue.front(tx));
    EXPECT_ERRC(range, r.number_queue.back(tx));
    EXPECT_ERRC(range, r.number_queue.edit_front(tx));
    EXPECT_ERRC(range, r.number_queue.pop(tx));
    r.number_queue.push(tx, 4U);
    r.number_queue.edit_front(tx) = 5;
  });
  EXPECT_EQ(state().number_queue.front(pool), 5U);
}

TEST_F(sequences, damaged_sizes_are_caught) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t i = 0; i < 20; ++i) {
      tx.open(root).numbers.push_back(tx, i);
      tx.open(root).number_queue.push(tx, i);
    }
  });
  const auto damage = [&](auto member, size_t offset, uint64_t value, size_t size) {
    pool.transact([&](scute::tx& tx) {
      std::memcpy(reinterpret_cast<std::byte*>(&tx.edit(root, member)) + offset, &value, size);
    });
  };
  damage(&root::numbers, 16, 1'000'000, 8);  // size: more than the only segment holds
  EXPECT_ERRC(corrupt, state().numbers.at(pool, 500));
  EXPECT_ERRC(corrupt, for (const auto n : state().numbers.scan(pool)) { (void)n; });
  damage(&root::numbers, 12, 512, 4);  // and a first segment that claims to be full
  EXPECT_ERRC(corrupt, state().numbers.at(pool, 500));
  damage(&root::numbers, 8, 99, 4);  // height
  EXPECT_ERRC(corrupt, state().numbers.at(pool, 0));
  damage(&root::number_queue, 24, 1'000, 4);  // position of the first
  EXPECT_ERRC(corrupt, state().number_queue.front(pool));
}

}  // namespace
