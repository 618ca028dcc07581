// SPDX-License-Identifier: BSD-3-Clause
// TPC-C's tables, and what is in them at first (clause 4.3.3): where every row is kept, and how it
// is made and freed.
//
// A population that was interrupted continues where it was: it makes a page of a table, or ten
// orders, per transaction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/dice.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/tables/row_table.hpp"
#include "workloads/tpcc/requests.hpp"
#include "workloads/tpcc/rows.hpp"
#include "workloads/tpcc/setup.hpp"

namespace scute::workloads::tpcc {

template <store S>
class population {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;
  using r = rows<S>;
  template <class T>
  using table = row_table<S, T>;

 public:
  struct root {
    typename table<typename r::item>::head items;
    typename table<typename r::warehouse>::head warehouses;
    typename table<typename r::stock>::head stock;
    typename table<typename r::district>::head districts;
    typename table<typename r::customer>::head customers;
  };

  population(S& s, ptr<root> at, const setup& how)
      : items(s.view(), s.view().get(at).items),
        warehouses(s.view(), s.view().get(at).warehouses),
        stock(s.view(), s.view().get(at).stock),
        districts(s.view(), s.view().get(at).districts),
        customers(s.view(), s.view().get(at).customers),
        store_(s),
        root_(at),
        how_(how) {
    fill(items, &root::items, how.items, [&](uint64_t i, auto& row) { make(i, row); });
    fill(warehouses, &root::warehouses, how.warehouses,
         [&](uint64_t i, auto& row) { make(i, row); });
    fill(stock, &root::stock, uint64_t{how.warehouses} * how.items,
         [&](uint64_t i, auto& row) { make(i, row); });
    const uint64_t all = uint64_t{how.warehouses} * tpcc::districts;
    fill(districts, &root::districts, all, [&](uint64_t i, auto& row) { make(i, row); });
    if (how_.runs == part::orders) return;
    fill(customers, &root::customers, all * how.customers,
         [&](uint64_t i, auto& row) { make(i, row); });
    for (uint64_t d = 0; d < all; ++d) make_orders(d);
    index_names();
  }

  table<typename r::item> items;
  table<typename r::warehouse> warehouses;
  table<typename r::stock> stock;         // by warehouse, then item
  table<typename r::district> districts;  // by warehouse
  table<typename r::customer> customers;  // by district

  /// Of the customers of a district with this last name, the one in the middle by first name
  /// (clause 2.5.2.2).
  uint32_t by_name(uint32_t district, uint32_t name) const {
    return middle_[district * 1000 + name];
  }

  void clear() {
    empty(customers, &root::customers, [&](tx& t, const auto& c) {
      for (auto at = c.account.last_payment; at;) t.destroy(std::exchange(at, t.get(at).before));
    });
    // A district's orders may be many.
    for (uint64_t d = 0; d < districts.size(); ++d)
      while (store_.transact([&](tx& t) { return free_orders(t, districts[d]); })) {
      }
    empty(districts, &root::districts, [](tx&, const auto&) {});
    empty(stock, &root::stock, [](tx&, const auto&) {});
    empty(warehouses, &root::warehouses, [](tx&, const auto&) {});
    empty(items, &root::items, [](tx&, const auto&) {});
  }

 private:
  template <class T, class F>
  void fill(table<T>& rows, typename table<T>::head root::* field, uint64_t n, F&& make_row) {
    while (rows.size() < n)
      store_.transact([&](tx& t) {
        making_ = &t;
        rows.add(t, t.edit(root_, field), n - rows.size(), make_row);
      });
  }
  template <class T, class F>
  void empty(table<T>& rows, typename table<T>::head root::* field, F&& forget) {
    while (rows.size() != 0)
      store_.transact([&](tx& t) {
        rows.take_away(t, t.edit(root_, field), [&](const T& row) { forget(t, row); });
      });
  }

  dice dice_of(uint64_t what, uint64_t i) const {
    return dice((how_.seed * 1'000'003 + what) * 1'000'000'007 + i);
  }
  template <size_t N>
  static void letters(char (&to)[N], dice& d) {
    for (char& c : to) c = static_cast<char>('a' + d.below(26));
  }
  template <size_t N>
  static void original(char (&to)[N], dice& d) {
    letters(to, d);
    if (d.percent(10)) std::memcpy(to + d.below(N - 8), "ORIGINAL", 8);
  }
  static void make(address& a, dice& d) {
    letters(a.street[0], d);
    letters(a.street[1], d);
    letters(a.city, d);
    letters(a.state, d);
    std::memcpy(a.zip, "000011111", sizeof a.zip);
    for (int i = 0; i < 4; ++i) a.zip[i] = static_cast<char>('0' + d.below(10));
  }

  void make(uint64_t i, typename r::item& row) {
    dice d = dice_of(1, i);
    row.number = static_cast<uint32_t>(i + 1);
    row.image = static_cast<uint32_t>(d.between(1, 10000));
    row.price = static_cast<int64_t>(d.between(100, 10000));
    letters(row.name, d);
    original(row.data, d);
  }
  void make(uint64_t i, typename r::warehouse& row) {
    dice d = dice_of(2, i);
    row.number = static_cast<uint32_t>(i + 1);
    row.tax = static_cast<uint32_t>(d.between(0, 2000));
    if (how_.runs == part::whole) row.paid = int64_t{1000} * how_.customers * tpcc::districts;
    letters(row.name, d);
    make(row.where, d);
  }
  void make(uint64_t i, typename r::stock& row) {
    dice d = dice_of(3, i);
    row.item = static_cast<uint32_t>(i % how_.items + 1);
    row.warehouse = static_cast<uint32_t>(i / how_.items + 1);
    row.now.quantity = static_cast<uint32_t>(d.between(10, 100));
    for (auto& info : row.district_info) letters(info, d);
    original(row.data, d);
  }
  void make(uint64_t i, typename r::district& row) {
    dice d = dice_of(4, i);
    row.number = static_cast<uint32_t>(i % tpcc::districts + 1);
    row.warehouse = static_cast<uint32_t>(i / tpcc::districts + 1);
    row.tax = static_cast<uint32_t>(d.between(0, 2000));
    if (how_.runs == part::whole) row.paid = int64_t{1000} * how_.customers;
    row.orders.next = 1;
    letters(row.name, d);
    make(row.where, d);
  }
  void make(uint64_t i, typename r::customer& row) {
    dice d = dice_of(5, i);
    row.number = static_cast<uint32_t>(i % how_.customers + 1);
    const uint64_t in = i / how_.customers;
    row.district = static_cast<uint32_t>(in % tpcc::districts + 1);
    row.warehouse = static_cast<uint32_t>(in / tpcc::districts + 1);
    row.last_number = name_of_customer(d, row.number);
    const std::string name = last_name(row.last_number);
    std::memcpy(row.last, name.data(), std::min(name.size(), sizeof row.last));
    letters(row.first, d);
    std::memcpy(row.middle, "OE", 2);
    letters(row.phone, d);
    make(row.where, d);
    row.since = 1;
    row.credit_limit = 5'000'000;
    row.bad_credit = d.percent(10) ? 1 : 0;
    row.discount = static_cast<uint32_t>(d.between(0, 5000));
    letters(row.data, d);
    const auto [at, p] = making_->template make<typename r::payment>();
    p.customer = row.number;
    p.customer_district = p.district = row.district;
    p.customer_warehouse = p.warehouse = row.warehouse;
    p.amount = 1000;
    p.date = 1;
    row.account = {-1000, 1000, 1, at};
  }

  // Each customer has ordered once, in any order; the last 30 % of the orders are new.
  void make_orders(uint64_t district) {
    dice d = dice_of(6, district);
    std::vector<uint32_t> who(how_.customers);
    std::iota(who.begin(), who.end(), 1);
    d.shuffle(who);
    for (;;) {
      const uint32_t next = store_.view().get(districts[district]).orders.next;
      if (next > how_.customers) return;
      store_.transact([&](tx& t) {
        const uint32_t warehouse = t.get(districts[district]).warehouse;
        const uint32_t number = t.get(districts[district]).number;
        auto& orders = t.edit(districts[district], &r::district::orders);
        for (uint32_t i = 0; i < 10 && orders.next <= how_.customers; ++i) {
          const auto [at, o] = t.template make<typename r::order>();
          o.number = orders.next++;
          o.warehouse = warehouse;
          o.district = number;
          o.customer = who[o.number - 1];
          make_lines(t, o, dice_of(7, district * how_.customers + o.number));
          o.before = orders.last;
          orders.last = at;
          if (o.carrier != 0) continue;
          const auto [new_at, n] = t.template make<typename r::new_order>();
          n.number = o.number;
          n.district = number;
          n.warehouse = warehouse;
          n.before = orders.last_new;
          orders.last_new = new_at;
        }
      });
    }
  }
  void make_lines(tx& t, typename r::order& o, dice d) {
    const bool delivered = o.number <= how_.customers * 7 / 10;
    o.date = 1;
    o.carrier = delivered ? static_cast<uint32_t>(d.between(1, 10)) : 0;
    o.all_local = 1;
    o.lines = static_cast<uint32_t>(d.between(lines_min, lines_max));
    for (uint32_t i = 0; i < o.lines; ++i) {
      const auto [at, l] = t.template make<typename r::order_line>();
      l.number = o.number;
      l.item = static_cast<uint32_t>(d.between(1, how_.items));
      l.supplier = o.warehouse;
      l.quantity = 5;
      l.amount = delivered ? 0 : static_cast<int64_t>(d.between(1, 999'999));
      l.delivered = delivered ? 1 : 0;
      letters(l.district_info, d);
      l.before = o.last_line;
      o.last_line = at;
    }
  }
  // True: there may be more.
  static bool free_orders(tx& t, ptr<typename r::district> district) {
    auto& orders = t.edit(district, &r::district::orders);
    for (int i = 0; i < 100; ++i) {
      if (orders.last_new) {
        const auto before = t.get(orders.last_new).before;
        t.destroy(orders.last_new);
        orders.last_new = before;
      }
      if (!orders.last) return false;
      const auto gone = t.get(orders.last);
      for (auto line = gone.last_line; line;) {
        const auto before = t.get(line).before;
        t.destroy(line);
        line = before;
      }
      t.destroy(orders.last);
      orders.last = gone.before;
    }
    return true;
  }

  void index_names() {
    middle_.assign(districts.size() * 1000, 0);
    const auto& v = store_.view();
    std::vector<std::tuple<uint32_t, std::string, uint32_t>> names;
    for (uint64_t d = 0; d < districts.size(); ++d) {
      names.clear();
      for (uint32_t i = 0; i < how_.customers; ++i) {
        const auto& c = v.get(customers[d * how_.customers + i]);
        names.emplace_back(c.last_number, std::string(c.first, sizeof c.first), c.number);
      }
      std::ranges::sort(names);
      for (size_t from = 0; from < names.size();) {
        size_t to = from;
        while (to < names.size() && std::get<0>(names[to]) == std::get<0>(names[from])) ++to;
        // Position n / 2, rounded up, of n.
        middle_[d * 1000 + std::get<0>(names[from])] =
            std::get<2>(names[from + (to - from + 1) / 2 - 1]);
        from = to;
      }
    }
  }

  S& store_;
  ptr<root> root_;
  setup how_;
  tx* making_ = nullptr;          // of the customer that is made
  std::vector<uint32_t> middle_;  // by district and name
};

}  // namespace scute::workloads::tpcc
