// SPDX-License-Identifier: BSD-3-Clause
// The requests of a travel agency's customers, as a sequence of tasks for each thread, and the
// agency's offers at first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::stamp {

struct vacation_setup {
  uint32_t queries;              // of a task, at most
  unsigned query_percent;        // of the numbers, from the lowest on, that tasks are about
  unsigned reservation_percent;  // of the tasks
  uint64_t relations;            // cars, flights, rooms and customers, of each as many
  uint64_t tasks;
  uint64_t seed = 1;
};

struct vacation_input {
  static constexpr unsigned kinds = 3;  // cars, flights, rooms
  static constexpr uint32_t queries_max = 8;
  static constexpr uint64_t lot = 100;  // items that are added or removed at once

  struct offer {
    uint64_t total, price;
  };
  enum class task_kind : uint8_t { reserve, remove_customer, change_tables };
  struct query {
    uint32_t number;
    uint16_t price;
    uint8_t kind;
    bool add;
    bool same_item(const query& o) const { return number == o.number && kind == o.kind; }
  };
  struct task {
    task_kind what;
    uint8_t n;
    uint32_t customer;
    query queries[queries_max];

    std::span<const query> wanted() const { return {queries, n}; }
  };

  vacation_setup how;
  std::vector<offer> offers[kinds];      // by number
  std::vector<std::vector<task>> tasks;  // of each thread

  vacation_input(const vacation_setup& h, unsigned threads) : how(h) {
    dice random(how.seed);
    for (auto& of_kind : offers)
      for (uint64_t i = 0; i < how.relations; ++i)
        of_kind.push_back({lot * random.between(1, 5), price(random)});
    for (unsigned t = 0; t < threads; ++t) {
      tasks.emplace_back();
      const uint64_t n = how.tasks * (t + 1) / threads - how.tasks * t / threads;
      for (uint64_t i = 0; i < n; ++i) tasks.back().push_back(draw(random));
    }
  }

 private:
  static uint16_t price(dice& random) { return static_cast<uint16_t>(50 + 10 * random.below(5)); }
  task draw(dice& random) const {
    const uint64_t range = std::max<uint64_t>(how.relations * how.query_percent / 100, 16);
    const uint64_t p = random.below(200);  // halves of a percent
    task t{};
    t.what = p < 2 * how.reservation_percent     ? task_kind::reserve
             : p < 100 + how.reservation_percent ? task_kind::remove_customer
                                                 : task_kind::change_tables;
    t.customer = static_cast<uint32_t>(random.below(range));
    if (t.what == task_kind::remove_customer) return t;
    t.n = static_cast<uint8_t>(random.between(1, how.queries));
    // A task does not change an item twice.
    for (uint32_t i = 0; i < t.n;) {
      query& q = t.queries[i];
      q = {static_cast<uint32_t>(random.below(range)), price(random),
           static_cast<uint8_t>(random.below(kinds)), random.percent(50)};
      if (std::none_of(t.queries, &q, [&](const query& o) { return o.same_item(q); })) ++i;
    }
    return t;
  }
};

}  // namespace scute::workloads::stamp
