// SPDX-License-Identifier: BSD-3-Clause
// STAMP's vacation: a travel agency. Cars, flights and rooms are kept in a red-black tree each, by
// number, with how many there are, how many of them are used and free, and a price. A fourth tree
// has the customers, each with a list of what he has reserved. A task is a transaction:
//
//   reserve           looks at some items; the most expensive free one of each kind is reserved for
//                     a customer, and makes the person one
//   remove a customer gives back all that he has reserved
//   change tables     adds or removes a lot of some items, at new prices
//
//   AGENCY-1  used + free = total of every item, and total > 0.
//   AGENCY-2  used is the number of reservations that name the item.
//
// Locks: one for each tree and what hangs on it, taken in the order car, flight, room, customer. A
// reservation takes those of the kinds that it looks at and the customers', a removal takes all.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "workloads/maps/rbtree.hpp"
#include "workloads/stamp/vacation_input.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class vacation {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using input = vacation_input;
  static constexpr unsigned kinds = input::kinds;

  struct item {
    uint64_t used, free, total, price;
  };
  struct reservation {
    ptr<reservation> next;
    uint64_t kind, number, price;
  };
  struct customer {
    ptr<reservation> first;
  };
  using items = rbtree<S, ptr<item>>;
  using customers = rbtree<S, ptr<customer>>;
  struct root {
    ptr<typename items::root> tables[kinds];
    ptr<typename customers::root> customers_table;
  };

  vacation(S& s, const input& wishes, unsigned)
      : store_(s), wishes_(wishes), root_(s.template root<root>()) {}

  void prepare() {
    root made{};
    store_.transact([&](tx& t) {
      for (auto& table : made.tables) table = t.template make<typename items::root>().at;
      made.customers_table = t.template make<typename customers::root>().at;
      t.open(root_) = made;
    });
    for (unsigned k = 0; k < kinds; ++k) tables_[k] = items(made.tables[k]);
    customers_ = customers(made.customers_table);
    for (uint64_t i = 0; i < wishes_.how.relations; ++i)
      store_.transact([&](tx& t) {
        for (unsigned k = 0; k < kinds; ++k) {
          const auto& o = wishes_.offers[k][i];
          add_item(t, k, i, {0, o.total, o.total, o.price});
        }
        customers_.insert(t, i, t.template make<customer>().at);
      });
  }

  uint64_t run(unsigned thread) {
    for (const input::task& task : wishes_.tasks[thread]) {
      std::array<std::unique_lock<std::mutex>, kinds + 1> held;
      const unsigned needed = needs(task);
      for (unsigned i = 0; i <= kinds; ++i)
        if (needed >> i & 1) held[i] = std::unique_lock(locks_[i].mutex);
      store_.transact([&](tx& t) {
        switch (task.what) {
          case input::task_kind::reserve: reserve(t, task); break;
          case input::task_kind::remove_customer: remove_customer(t, task.customer); break;
          case input::task_kind::change_tables: change_tables(t, task); break;
        }
      });
    }
    return wishes_.tasks[thread].size();
  }

  // f(number, const item&), in order.
  template <class F>
  void for_each_item(unsigned kind, F&& f) const {
    const auto& r = store_.view();
    tables_[kind].for_each(r, [&](uint64_t number, ptr<item> p) { f(number, r.get(p)); });
  }
  // f(number of the customer, const reservation*), null once for each customer before his
  // reservations.
  template <class F>
  void for_each_reservation(F&& f) const {
    const auto& r = store_.view();
    customers_.for_each(r, [&](uint64_t number, ptr<customer> c) {
      f(number, static_cast<const reservation*>(nullptr));
      for (ptr<reservation> at = r.get(c).first; at; at = r.get(at).next) f(number, &r.get(at));
    });
  }

  std::string check() const {
    const auto& r = store_.view();
    for (const items& table : tables_)
      if (const std::string wrong = table.check(r); !wrong.empty()) return wrong;
    if (const std::string wrong = customers_.check(r); !wrong.empty()) return wrong;
    std::vector<uint64_t> named[kinds];
    for (auto& n : named) n.resize(wishes_.how.relations);
    for_each_reservation([&](uint64_t, const reservation* v) {
      if (v != nullptr) ++named[v->kind][v->number];
    });
    std::string wrong;
    for (unsigned k = 0; k < kinds; ++k) {
      for_each_item(k, [&](uint64_t number, const item& i) {
        if (i.used + i.free != i.total || i.total == 0) wrong = "vacation: AGENCY-1 is broken";
        if (i.used != std::exchange(named[k][number], 0)) wrong = "vacation: AGENCY-2 is broken";
      });
      for (const uint64_t n : named[k])
        if (n != 0) wrong = "vacation: an item is reserved that is not there";
    }
    return wrong;
  }

  // In as many transactions as there are customers and items. Customers go first: what they have
  // reserved is given back to the items.
  void clear() {
    const uint64_t n = wishes_.how.relations;
    for (uint64_t i = 0; i < n; ++i) store_.transact([&](tx& t) { remove_customer(t, i); });
    for (uint64_t i = 0; i < n; ++i)
      store_.transact([&](tx& t) {
        for (unsigned k = 0; k < kinds; ++k)
          if (const ptr<item> p = find(t, k, i)) {
            tables_[k].remove(t, i);
            t.destroy(p);
          }
      });
    store_.transact([&](tx& t) {
      const root r = t.get(root_);
      for (const auto table : r.tables) t.destroy(table);
      t.destroy(r.customers_table);
      t.open(root_) = root{};
    });
  }

 private:
  static unsigned needs(const input::task& task) {
    if (task.what == input::task_kind::remove_customer) return (1U << (kinds + 1)) - 1;
    unsigned needed = task.what == input::task_kind::reserve ? 1U << kinds : 0;
    for (const input::query& q : task.wanted()) needed |= 1U << q.kind;
    return needed;
  }

  ptr<item> find(tx& t, unsigned kind, uint64_t number) const {
    const ptr<item>* const found = tables_[kind].get(t, number);
    return found == nullptr ? ptr<item>() : *found;
  }
  void add_item(tx& t, unsigned kind, uint64_t number, const item& content) {
    auto [at, i] = t.template make<item>();
    i = content;
    tables_[kind].insert(t, number, at);
  }

  void reserve(tx& t, const input::task& task) {
    struct choice {
      ptr<item> at{};
      uint64_t number = 0, price = 0;
    } dearest[kinds];
    bool any = false;
    for (const input::query& q : task.wanted()) {
      const ptr<item> p = find(t, q.kind, q.number);
      if (!p) continue;
      const item& i = t.get(p);
      choice& c = dearest[q.kind];
      if (i.free == 0 || i.price <= c.price) continue;
      c = {p, q.number, i.price};
      any = true;
    }
    if (!any) return;
    ptr<customer> who = customer_of(t, task.customer);
    for (unsigned kind = 0; kind < kinds; ++kind) {
      const choice& c = dearest[kind];
      if (!c.at) continue;
      ++t.edit(c.at, &item::used);
      --t.edit(c.at, &item::free);
      auto [at, r] = t.template make<reservation>();
      r = {t.get(who).first, kind, c.number, c.price};
      t.edit(who, &customer::first) = at;
    }
  }
  ptr<customer> customer_of(tx& t, uint64_t number) {
    if (const ptr<customer>* const found = customers_.get(t, number)) return *found;
    const ptr<customer> made = t.template make<customer>().at;
    customers_.insert(t, number, made);
    return made;
  }

  void remove_customer(tx& t, uint64_t number) {
    const ptr<customer>* const found = customers_.get(t, number);
    if (found == nullptr) return;
    const ptr<customer> who = *found;
    for (ptr<reservation> at = t.get(who).first; at;) {
      const reservation r = t.get(at);
      const ptr<item> p = find(t, static_cast<unsigned>(r.kind), r.number);
      --t.edit(p, &item::used);
      ++t.edit(p, &item::free);
      t.destroy(at);
      at = r.next;
    }
    customers_.remove(t, number);
    t.destroy(who);
  }

  void change_tables(tx& t, const input::task& task) {
    for (const input::query& q : task.wanted()) {
      const ptr<item> p = find(t, q.kind, q.number);
      if (!p) {
        if (q.add) add_item(t, q.kind, q.number, {0, input::lot, input::lot, q.price});
        continue;
      }
      const item now = t.get(p);
      if (!q.add && now.free < input::lot) continue;
      if (!q.add && now.total == input::lot) {
        tables_[q.kind].remove(t, q.number);
        t.destroy(p);
        continue;
      }
      t.edit(p, &item::free) = q.add ? now.free + input::lot : now.free - input::lot;
      t.edit(p, &item::total) = q.add ? now.total + input::lot : now.total - input::lot;
      if (q.add) t.edit(p, &item::price) = q.price;
    }
  }

  static constexpr ptr<typename items::root> no_items{};
  struct alignas(128) lock {
    std::mutex mutex;
  };

  S& store_;
  const input& wishes_;
  ptr<root> root_;
  std::array<items, kinds> tables_{items(no_items), items(no_items), items(no_items)};
  customers customers_{ptr<typename customers::root>()};
  std::array<lock, kinds + 1> locks_;
};

}  // namespace scute::workloads::stamp
