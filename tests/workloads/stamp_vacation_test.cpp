// SPDX-License-Identifier: BSD-3-Clause
// vacation in one thread leaves the tables as a plain agency on std::map does; in two, tables
// that agree with each other: AGENCY-1 and AGENCY-2.
#include <array>
#include <map>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;
using in = vacation_input;

class plain_agency {
 public:
  struct thing {
    uint64_t used, free, price;
    friend bool operator==(const thing&, const thing&) = default;
  };
  using booking = std::array<uint64_t, 3>;  // kind, number, price
  std::map<std::pair<unsigned, uint64_t>, thing> things;
  std::map<uint64_t, std::vector<booking>> customers;  // the oldest booking first

  explicit plain_agency(const in& wishes) {
    for (uint64_t i = 0; i < wishes.how.relations; ++i) {
      customers[i];
      for (unsigned k = 0; k < in::kinds; ++k)
        things[{k, i}] = {0, wishes.offers[k][i].total, wishes.offers[k][i].price};
    }
  }

  void serve(const in::task& task) {
    switch (task.what) {
      case in::task_kind::reserve: reserve(task); break;
      case in::task_kind::remove_customer: leave(task.customer); break;
      case in::task_kind::change_tables:
        for (const in::query& q : task.wanted()) change(q);
    }
  }

 private:
  void reserve(const in::task& task) {
    for (unsigned k = 0; k < in::kinds; ++k) {
      const in::query* best = nullptr;
      uint64_t price = 0;
      for (const in::query& q : task.wanted()) {
        const auto it = things.find({k, q.number});
        if (q.kind != k || it == things.end() || it->second.free == 0) continue;
        if (it->second.price > price) best = &q, price = it->second.price;
      }
      if (best == nullptr) continue;
      thing& t = things.at({k, best->number});
      ++t.used;
      --t.free;
      customers[task.customer].push_back({k, best->number, price});
    }
  }
  void leave(uint64_t customer) {
    const auto who = customers.find(customer);
    if (who == customers.end()) return;
    for (const booking& b : who->second) {
      thing& t = things.at({static_cast<unsigned>(b[0]), b[1]});
      --t.used;
      ++t.free;
    }
    customers.erase(who);
  }
  void change(const in::query& q) {
    const auto it = things.find({q.kind, q.number});
    if (it == things.end()) {
      if (q.add) things[{q.kind, q.number}] = {0, 100, q.price};
    } else if (q.add) {
      it->second.free += 100;
      it->second.price = q.price;
    } else if (it->second.free >= 100) {
      it->second.free -= 100;
      if (it->second.free + it->second.used == 0) things.erase(it);
    }
  }
};

template <class Stage>
class stamp_vacation : public stamp_suite<Stage> {
 protected:
  template <class A>
  static void expect_agreement(const A& a) {
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> reserved;
    a.for_each_reservation([&](uint64_t, const auto* r) {
      if (r != nullptr) ++reserved[{r->kind, r->number}];
    });
    uint64_t named = 0;
    for (unsigned k = 0; k < in::kinds; ++k)
      a.for_each_item(k, [&](uint64_t number, const auto& i) {
        EXPECT_EQ(i.used + i.free, i.total) << number;
        const auto it = reserved.find({k, number});
        EXPECT_EQ(i.used, it == reserved.end() ? 0 : it->second) << number;
        named += it != reserved.end() ? 1 : 0;
      });
    EXPECT_EQ(named, reserved.size());
    EXPECT_GT(named, 0U);
  }
  void compare(const vacation_setup& how) {
    const in wishes(how, 1);
    plain_agency wanted(wishes);
    for (const in::task& task : wishes.tasks[0]) wanted.serve(task);
    this->play(wishes, 1, [&](const auto& a) {
      expect_agreement(a);
      decltype(plain_agency::things) things;
      for (unsigned k = 0; k < in::kinds; ++k)
        a.for_each_item(k, [&](uint64_t number, const auto& i) {
          things[{k, number}] = {i.used, i.free, i.price};
        });
      EXPECT_EQ(things, wanted.things);
      decltype(plain_agency::customers) customers;
      a.for_each_reservation([&](uint64_t who, const auto* r) {
        auto& of = customers[who];
        if (r != nullptr) of.insert(of.begin(), {r->kind, r->number, r->price});
      });
      EXPECT_EQ(customers, wanted.customers);
    });
  }
};
TYPED_TEST_SUITE(stamp_vacation, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_vacation, one_thread_low) {
  this->compare({2, 90, 98, 100, 1500, 3});
}
TYPED_TEST(stamp_vacation, one_thread_high) {
  this->compare({4, 60, 90, 100, 1500, 4});
}
// Items and customers come and go all the time.
TYPED_TEST(stamp_vacation, one_thread_restless) {
  this->compare({8, 100, 30, 24, 1500, 5});
}
TYPED_TEST(stamp_vacation, two_threads) {
  const in wishes({4, 60, 60, 100, 3000, 6}, 2);
  this->play(wishes, 2, [&](const auto& a) { this->expect_agreement(a); });
}

}  // namespace
}  // namespace scute::test
