// SPDX-License-Identifier: BSD-3-Clause
// A list of flushed lines that several threads share, one of which is off the processor for as long
// as the others need to go round the whole ring (FLUSH-1). On the planted core, which has the
// moment in between.
#include "shield/view/flush_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/held_point.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint32_t entries = 8;

class flush_list : public ::testing::Test {
 public:
  flush_list()
      : room(std::aligned_alloc(64, sizeof(view::flush_list) + entries * sizeof(uint64_t))) {
    std::memset(room.get(), 0, sizeof(view::flush_list) + entries * sizeof(uint64_t));
    list = new (room.get()) view::flush_list;
  }
  ~flush_list() override { this_thread_holds = {}; }
  uint64_t put(uint64_t line) {
    uint64_t position = 0;
    EXPECT_TRUE(list->put(line, entries, position));
    return position;
  }
  // A commit set takes all there is.
  void make_commit_set() {
    for (uint64_t line = 0; list->at(list->taken(), entries, line);) {
      ++list->taken();
      taken.push_back(line);
    }
    list->decided().store(list->taken());
  }
  // The last store of a thread that has put an entry.
  void store_hint(uint64_t p) { std::memcpy(room.get(), &p, sizeof p); }

  struct release {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, release> room;
  view::flush_list* list = nullptr;
  std::vector<uint64_t> taken;
};

TEST_F(flush_list, EndIsFoundFromAHintThatIsAWholeRingOld) {
  for (uint64_t i = 0; i < 3 * entries; ++i) {
    const uint64_t late = put(100 + i) + 1;
    make_commit_set();
    for (uint64_t k = 0; k < entries + i % 3; ++k) {
      put(200 + k);
      make_commit_set();
    }
    const uint64_t last = put(300 + i);
    store_hint(late);
    EXPECT_EQ(list->end(entries), last + 1);
    make_commit_set();
  }
}

TEST_F(flush_list, EntryIsPutOverNoneThatWasNotTaken) {
  put(1);
  make_commit_set();
  this_thread_holds.arg = this;
  this_thread_holds.call = [](void* arg) {
    auto& t = *static_cast<flush_list*>(arg);
    this_thread_holds = {};
    for (uint64_t k = 0; k < entries; ++k) {
      t.put(10 + k);
      t.make_commit_set();
    }
    t.put(99);  // not taken
  };
  put(2);
  make_commit_set();
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 99u), 1);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 2u), 1);
  EXPECT_EQ(taken.size(), entries + 3u);
  EXPECT_EQ(list->end(entries), list->taken());
}

}  // namespace
}  // namespace scute::test
