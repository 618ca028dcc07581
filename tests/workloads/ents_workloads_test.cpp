// SPDX-License-Identifier: BSD-3-Clause
// The workloads of the ENTS paper as scute-bench runs them, in every store and in the floor of a
// log of whole objects. Each request does what it should, in one thread and in three, and the
// remaining state is sound.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/medium/persist.hpp"
#include "workloads/ents/requests.hpp"
#include "workloads/ents/work.hpp"
#include "workloads/stores/append_store.hpp"
#include "workloads/workload_stages.hpp"

namespace scute::test {
namespace {

namespace ents = workloads::ents;
namespace tatp = workloads::tatp;
namespace tpcc = workloads::tpcc;
using workloads::dice;

class append_stage {
 public:
  using store_type = workloads::append_store;
  static constexpr bool aborts = false;

  store_type& store() { return store_; }
  static std::optional<size_t> objects() { return std::nullopt; }
  void verify() {}

 private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> log_ = std::vector<line>((8U << 20) / sizeof(line));
  store_type store_{{log_.front().bytes, log_.size() * sizeof(line)},
                    1U << 20,
                    {core::medium::persist().copy_nt, core::medium::persist().flush,
                     core::medium::persist().fence},
                    {false, false}};
};

struct stage_name {
  template <class Stage>
  static std::string GetName(int i) {
    if constexpr (std::is_same_v<Stage, append_stage>)
      return "appended";
    else
      return workload_stage_name::GetName<Stage>(i);
  }
};
template <class List>
struct and_appended;
template <class... Stages>
struct and_appended<::testing::Types<Stages...>> {
  using type = ::testing::Types<append_stage, Stages...>;
};

template <class Stage>
class ents_workloads : public ::testing::Test {
 protected:
  using store_type = typename Stage::store_type;

  // draw(dice, thread, n) gives the requests of a thread.
  template <class Work, class Task, class Draw>
  void play(const Task& task, Draw&& draw) {
    Work w(stage.store(), task);
    ASSERT_EQ(w.check(), "");
    dice d(17);
    for (const unsigned threads : {1u, 3u}) {
      using requests = decltype(draw(d, 0u, size_t{1}));
      std::vector<requests> all;
      for (unsigned t = 0; t < threads; ++t) all.push_back(draw(d, t, size_t{600}));
      std::vector<uint64_t> done(threads);
      {
        std::vector<std::jthread> crew;
        for (unsigned t = 0; t < threads; ++t)
          crew.emplace_back([&, t] { done[t] = w.run(t, all[t]); });
      }
      for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(done[t], all[t].size());
      ASSERT_EQ(w.check(), "");
    }
    w.clear();
    EXPECT_EQ(stage.objects().value_or(0), 0U);
    stage.verify();
  }
  void play_map(const char* structure, uint64_t size) {
    const ents::map_task task{structure, size, 300};
    ents::with_map_work<store_type>(task, [&]<class Work>(std::type_identity<Work>) {
      ents::key_numbers keys(task.keys, 3);
      play<Work>(task, [&](dice& d, unsigned thread, size_t n) {
        std::vector<ents::entry_request> all;
        // A thread's insertions and removals, or what all read and write.
        for (size_t i = 0; i < n; ++i) all.push_back(keys.insert_or_remove(d, thread));
        return all;
      });
    });
  }

  Stage stage;
};
using all_stages = and_appended<workload_stages>::type;
TYPED_TEST_SUITE(ents_workloads, all_stages, stage_name);

TYPED_TEST(ents_workloads, bplus_tree) {
  this->play_map("bplus_tree", 256);
}
TYPED_TEST(ents_workloads, red_black_tree) {
  this->play_map("rbtree", 8);
}
TYPED_TEST(ents_workloads, hash_map) {
  this->play_map("hashmap", 256);
}
TYPED_TEST(ents_workloads, skip_list) {
  this->play_map("skiplist", 8);
}
TYPED_TEST(ents_workloads, look_ups_and_updates) {
  const ents::map_task task{"bplus_tree", 8, 300};
  ents::with_map_work<typename TestFixture::store_type>(
      task, [&]<class Work>(std::type_identity<Work>) {
        const ents::key_numbers keys(task.keys, 2);
        this->template play<Work>(task, [&](dice& d, unsigned, size_t n) {
          std::vector<ents::entry_request> all;
          for (size_t i = 0; i < n; ++i) all.push_back(keys.read_or_update(d));
          return all;
        });
      });
}
TYPED_TEST(ents_workloads, tatp) {
  using work = ents::tatp_work<typename TestFixture::store_type>;
  this->template play<work>(tatp::setup{50, 8, 3}, [](dice& d, unsigned, size_t n) {
    return tatp::draw_all(d, tatp::mix::whole, 50, n);
  });
}
TYPED_TEST(ents_workloads, tpcc) {
  using work = ents::tpcc_work<typename TestFixture::store_type>;
  const tpcc::setup how{tpcc::part::whole, 1, 50, 8, 3};
  this->template play<work>(
      how, [&](dice& d, unsigned, size_t n) { return tpcc::draw_all(d, how, n / 4); });
}
TYPED_TEST(ents_workloads, tpcc_as_ents_ran_it) {
  using work = ents::tpcc_work<typename TestFixture::store_type>;
  const tpcc::setup how{tpcc::part::orders, 1, 50, 8, 3};
  this->template play<work>(
      how, [&](dice& d, unsigned, size_t n) { return tpcc::draw_all(d, how, n / 4); });
}
TYPED_TEST(ents_workloads, level_hash) {
  using work = ents::level_work<typename TestFixture::store_type>;
  uint64_t next = 0;
  this->template play<work>(ents::level_task{6}, [&](dice& d, unsigned, size_t n) {
    std::vector<ents::entry_request> all;
    for (size_t i = 0; i < n; ++i) all.push_back({ents::action::insert, next++, d.next()});
    return all;
  });
}

// The parts of the keys stay apart, and half of the requests change the number of keys either way.
TEST(ents_requests, keys) {
  ents::key_numbers keys(1000, 4);
  dice d(1);
  std::set<uint64_t> there;
  for (uint64_t i = 0; i < 1000; ++i) there.insert(i);
  int inserts = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto thread = static_cast<unsigned>(i % 4);
    const auto q = keys.insert_or_remove(d, thread);
    ASSERT_EQ(q.key % 4, thread);
    if (q.what == ents::action::insert) {
      ++inserts;
      ASSERT_TRUE(there.insert(q.key).second);
    } else {
      ASSERT_EQ(there.erase(q.key), 1U);
    }
  }
  EXPECT_NEAR(inserts, 10'000, 600);
  EXPECT_EQ(keys.there(), there.size());
  int reads = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto q = keys.read_or_update(d);
    ASSERT_TRUE(there.contains(q.key));
    reads += q.what == ents::action::read;
  }
  EXPECT_NEAR(reads, 1000, 150);
}

}  // namespace
}  // namespace scute::test
