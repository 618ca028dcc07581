// SPDX-License-Identifier: BSD-3-Clause
// TPC-C's database, New-Order and Payment (clauses 2.4 and 2.5).
//
//   TPCC-1  A transaction takes all of its locks before it reads (locks/lock_set.hpp): New-Order
//       those of its district and its rows of stock alone, and those of warehouse and customer,
//       which it only reads, shared; Payment those of warehouse, district and customer alone. Rows
//       of stock and customers may share locks. Items never change.
//   TPCC-2  An order that names an item that does not exist leaves no trace (clause 2.4.2.3).
//       Where transactions cannot be undone, the items are looked up before anything is written.
//
// The consistency conditions that apply are in conditions.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "workloads/dice.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/locks/row_locks.hpp"
#include "workloads/stores/section.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/tables/row_table.hpp"
#include "workloads/tpcc/population.hpp"
#include "workloads/tpcc/requests.hpp"
#include "workloads/tpcc/rows.hpp"

namespace scute::workloads::tpcc {

enum class outcome : uint8_t { committed, rolled_back };

template <store S>
class database {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;
  using r = rows<S>;

 public:
  using row = r;
  using population_type = population<S>;
  using root = typename population_type::root;

  // The private state of a thread.
  struct terminal {
    lock_set locks;
    int64_t seen = 0;  // of all that was read
  };

  /// Makes the missing parts of the population. The store stays the caller's, and outlives this. No
  /// other thread may use the database meanwhile.
  database(S& s, ptr<root> at, const setup& how) : store_(s), how_(how), rows_(s, at, how) {}
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  outcome run(const request& q, terminal& me) {
    if (q.pays) {
      pay(q.payment, me);
      return outcome::committed;
    }
    return how_.runs == part::whole ? enter(q.order, me) : enter_stock_only(q.order, me);
  }

  const population_type& content() const { return rows_; }
  S& store() const { return store_; }
  const setup& how() const { return how_; }
  void clear() { rows_.clear(); }

 private:
  struct no_such_item {};

  static uint32_t of_district(uint32_t warehouse, uint32_t number) {
    return (warehouse - 1) * districts + number - 1;
  }
  uint64_t of_customer(uint32_t warehouse, uint32_t number, uint32_t customer) const {
    return uint64_t{of_district(warehouse, number)} * how_.customers + customer - 1;
  }
  uint64_t of_stock(uint32_t warehouse, uint32_t item) const {
    return uint64_t{warehouse - 1} * how_.items + item - 1;
  }

  outcome enter(const order_input& q, terminal& me) {
    if constexpr (!can_abort<S>()) {
      if (q.rolls_back) return outcome::rolled_back;
    }
    const uint32_t where = of_district(q.warehouse, q.district);
    const uint64_t who = of_customer(q.warehouse, q.district, q.customer);
    me.locks.clear();
    me.locks.add_shared(warehouses_.of(q.warehouse));
    me.locks.add(districts_.of(where));
    me.locks.add_shared(customers_.of(who));
    // Of an item that does not exist there is no stock.
    for (uint32_t i = 0; i < q.lines; ++i)
      if (q.line[i].item <= how_.items)
        me.locks.add(stocks_.of(of_stock(q.line[i].supplier, q.line[i].item)));
    try {
      me.seen += in_section(store_, me.locks, [&](tx& t) {
        const auto& w = t.get(rows_.warehouses[q.warehouse - 1]);
        const auto& c = t.get(rows_.customers[who]);
        const int64_t rate = 10000 + w.tax + t.get(rows_.districts[where]).tax;
        const int64_t share = 10000 - c.discount;
        const auto [at, o] = take_number(t, q, where);
        o.lines = q.lines;
        o.all_local = 1;
        int64_t total = 0;
        for (uint32_t i = 0; i < q.lines; ++i) {
          if (q.line[i].item > how_.items) throw no_such_item();
          if (q.line[i].supplier != q.warehouse) o.all_local = 0;
          o.last_line = enter_line(t, q, i, o.last_line, o.number, total);
        }
        return total * share / 10000 * rate / 10000;
      });
    } catch (const no_such_item&) {
      return outcome::rolled_back;
    }
    return outcome::committed;
  }

  outcome enter_stock_only(const order_input& q, terminal& me) {
    const uint32_t where = of_district(q.warehouse, q.district);
    me.locks.clear();
    me.locks.add(districts_.of(where));
    for (uint32_t i = 0; i < q.lines; ++i)
      me.locks.add(stocks_.of(of_stock(q.warehouse, q.line[i].item)));
    in_section(store_, me.locks, [&](tx& t) {
      auto& o = take_number(t, q, where).second;
      o.lines = q.lines;
      for (uint32_t i = 0; i < q.lines; ++i) take_stock(t, q, q.line[i]);
    });
    return outcome::committed;
  }

  // The district's next number, and the order and new order that get it.
  std::pair<ptr<typename r::order>, typename r::order&> take_number(tx& t, const order_input& q,
                                                                    uint32_t where) {
    auto& d = t.edit(rows_.districts[where], &r::district::orders);
    const auto [at, o] = t.template make<typename r::order>();
    o.number = d.next++;
    o.district = q.district;
    o.warehouse = q.warehouse;
    o.customer = q.customer;
    o.date = 1;
    o.before = d.last;
    d.last = at;
    const auto [new_at, n] = t.template make<typename r::new_order>();
    n.number = o.number;
    n.district = q.district;
    n.warehouse = q.warehouse;
    n.before = d.last_new;
    d.last_new = new_at;
    return {at, o};
  }

  void take_stock(tx& t, const order_input& q, const struct order_input::line& l) {
    auto& s = t.edit(rows_.stock[of_stock(l.supplier, l.item)], &r::stock::now);
    s.quantity =
        s.quantity >= l.quantity + 10 ? s.quantity - l.quantity : s.quantity - l.quantity + 91;
    s.ordered += l.quantity;
    ++s.orders;
    if (l.supplier != q.warehouse) ++s.remote_orders;
  }

  ptr<typename r::order_line> enter_line(tx& t, const order_input& q, uint32_t i,
                                         ptr<typename r::order_line> before, uint32_t number,
                                         int64_t& total) {
    const struct order_input::line& in = q.line[i];
    const int64_t price = t.get(rows_.items[in.item - 1]).price;
    const auto stock_at = rows_.stock[of_stock(in.supplier, in.item)];
    const auto [at, l] = t.template make<typename r::order_line>();
    l.before = before;
    l.number = number;
    l.item = in.item;
    l.supplier = in.supplier;
    l.quantity = in.quantity;
    l.amount = price * in.quantity;
    std::copy_n(t.get(stock_at).district_info[q.district - 1], sizeof l.district_info,
                l.district_info);
    total += l.amount;
    take_stock(t, q, in);
    return at;
  }

  void pay(const payment_input& q, terminal& me) {
    const uint32_t where = of_district(q.warehouse, q.district);
    const uint32_t number =
        q.by_name
            ? rows_.by_name(of_district(q.customer_warehouse, q.customer_district), q.customer)
            : q.customer;
    const uint64_t who = of_customer(q.customer_warehouse, q.customer_district, number);
    me.locks.clear();
    me.locks.add(warehouses_.of(q.warehouse));
    me.locks.add(districts_.of(where));
    me.locks.add(customers_.of(who));
    me.seen += in_section(store_, me.locks, [&](tx& t) {
      t.edit(rows_.warehouses[q.warehouse - 1], &r::warehouse::paid) += q.amount;
      t.edit(rows_.districts[where], &r::district::paid) += q.amount;
      const auto at = rows_.customers[who];
      const bool bad = t.get(at).bad_credit != 0;
      const auto [paid_at, p] = t.template make<typename r::payment>();
      p.customer = number;
      p.customer_district = q.customer_district;
      p.customer_warehouse = q.customer_warehouse;
      p.district = q.district;
      p.warehouse = q.warehouse;
      p.amount = q.amount;
      p.date = 1;
      std::snprintf(p.data, sizeof p.data, "%.10s", t.get(rows_.districts[where]).name);
      auto& c = t.edit(at, &r::customer::account);
      c.balance -= q.amount;
      c.paid += q.amount;
      ++c.payments;
      p.before = c.last_payment;
      c.last_payment = paid_at;
      const int64_t balance = c.balance;
      if (bad) note(t, at, q, number);
      return balance;
    });
  }
  // In front of what there is about a customer of bad credit (clause 2.5.2.2), of which the end is
  // lost.
  static void note(tx& t, ptr<typename r::customer> at, const payment_input& q, uint32_t number) {
    char line[64];
    const int n = std::snprintf(line, sizeof line, "%u %u %u %u %u %lld|", number,
                                q.customer_district, q.customer_warehouse, q.district, q.warehouse,
                                static_cast<long long>(q.amount));
    const auto data = t.edit(at, &r::customer::data, 0, sizeof r::customer::data);
    std::copy_backward(data.begin(), data.end() - n, data.end());
    std::copy_n(line, n, data.begin());
  }

  S& store_;
  setup how_;
  population_type rows_;
  row_locks warehouses_{16}, districts_{64}, customers_{1024}, stocks_{4096};
};

}  // namespace scute::workloads::tpcc
