// SPDX-License-Identifier: BSD-3-Clause
// Lanes in the hands of several threads: a lane that passes from one to the next with a window
// deferred, and two threads that do different things for the same lane at the same time. A fence is
// its thread's, and its writer's (model/persistence_model.hpp, MODEL-3).
#include <memory>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

constexpr uint64_t size = 450;

// One lane for two threads.
testing::scenario passed(const level& kind, uint64_t) {
  scute_options o = testing::small_pool(kind.protection);
  o.lanes = 1;
  testing::scenario s(std::string("hands-passed/") + kind.name, o);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 3; ++k) commit(p, 0, [k](change& c) { c.alloc(k, size, k); });
    commit(p, 1, [](change& c) { c.alloc(2, size, 12); });
    place(p, 1, 0, size, 10, {0, 0});
    place(p, 1, 1, size, 11, {0, 1});
  });
  for (unsigned t = 0; t < 2; ++t) {
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
    for (unsigned k = 0; k < 2; ++k)
      s.in_thread(t).step("a ring in columns of the other thread's", [t, k](scute::pool& p) {
        commit(p, t, [&](change& c) {
          c.overwrite(0, 20 + 20 * t + 2 * k);
          c.overwrite(1 + k, 21 + 20 * t + 2 * k);
        });
      });
  }
  return s;
}

// Thread 0 has a window deferred and a range open in place. Thread 1 needs the window's columns,
// thread 2 those of the range: one drains while the other one spills.
testing::scenario relieved(const level& kind, uint64_t) {
  auto s = with_directories(std::string("hands-relieved/") + kind.name, kind.protection, 3);
  s.setup([](scute::pool& p) {
    make_directories(p);
    spread(p, 0, 2, size);
    place(p, 1, 0, size, 10, {0, 1});
    place(p, 2, 0, size, 20, {0, 0});
  });
  struct locks {
    testing::mutex before, after;
  };
  const auto of = std::make_shared<locks>();
  s.in_thread(0).step("a window", [of](scute::pool& p) {
    of->before.lock();
    commit(p, 0, [](change& c) { c.overwrite(1, 31); });
  });
  s.in_thread(0).step("in place, until thread 1 is done", [of](scute::pool& p) {
    commit(p, 0, [&](change& c) {
      c.edit_in_place(0, 10, 100, 32);
      of->before.unlock();
      of->after.lock();
      of->after.unlock();
    });
  });
  s.in_thread(1).step("in the columns of the window", [of](scute::pool& p) {
    of->after.lock();
    of->before.lock();
    of->before.unlock();
    commit(p, 1, [](change& c) { c.overwrite(0, 40); });
    of->after.unlock();
  });
  s.in_thread(2).step("in the columns of the range", [of](scute::pool& p) {
    of->before.lock();
    of->before.unlock();
    commit(p, 2, [](change& c) { c.overwrite(0, 50); });
  });
  return s;
}

}  // namespace

void add_hand_scenarios(std::vector<entry>& to) {
  add_log_free({{"hands-passed", "one lane for two threads", passed},
                {"hands-relieved", "one thread drains a lane, another one spills it", relieved}},
               to);
}

}  // namespace scute::explore
