// SPDX-License-Identifier: BSD-3-Clause
// The consistency conditions of TPC-C's clause 3.3.2 that its New-Order and Payment keep, and what
// follows from those two alone. No transaction may run meanwhile.
//
//   condition 1   what a warehouse was paid is what its districts were paid
//   condition 2   a district's next number is one more than its last order's, and than its last new
//                 order's
//   condition 3   the numbers of a district's new orders follow each other
//   condition 4   the orders of a district say how many order lines there are
//   condition 5   an order has no carrier exactly if it is among the new orders
//   condition 6   and each order for itself
//   conditions 8 and 9   what a warehouse and a district were paid is the sum of the payments
//   condition 10  a customer's balance is what was delivered to it less what it paid
//   condition 12  a customer's total of payments is, with condition 10, what it paid
//   stock         the number ordered of an item since the beginning is that in its rows of stock
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/tpcc/database.hpp"

namespace scute::workloads::tpcc {

/// "" if all of them hold, else the first that does not.
template <store S>
std::string check(const database<S>& db) {
  const auto& all = db.content();
  const auto& v = db.store().view();
  const setup& how = db.how();
  const bool whole = how.runs == part::whole;
  const auto wrong = [](const char* what, uint64_t where) {
    return "TPC-C: " + std::string(what) + ", district " + std::to_string(where);
  };
  std::vector<int64_t> paid_to_district(all.districts.size()), paid_to_warehouse(how.warehouses);
  for (uint64_t i = 0; i < all.customers.size(); ++i) {
    const auto& c = v.get(all.customers[i]);
    int64_t paid = 0;
    uint64_t payments = 0;
    for (auto at = c.account.last_payment; at; at = v.get(at).before) {
      const auto& p = v.get(at);
      if (p.customer != c.number || p.customer_district != c.district ||
          p.customer_warehouse != c.warehouse)
        return wrong("a payment of another customer", i / how.customers);
      paid += p.amount;
      ++payments;
      paid_to_district[(p.warehouse - 1) * districts + p.district - 1] += p.amount;
      paid_to_warehouse[p.warehouse - 1] += p.amount;
    }
    // The orders that were delivered at first cost nothing.
    if (c.account.balance != -paid || c.account.paid != paid || c.account.payments != payments)
      return wrong("condition 10: a customer's balance", i / how.customers);
  }

  std::map<std::pair<uint32_t, uint32_t>, std::pair<int64_t, uint64_t>> ordered;  // quantity, times
  std::vector<int64_t> paid_by_districts(how.warehouses);
  uint64_t lines_ordered = 0;
  for (uint64_t i = 0; i < all.districts.size(); ++i) {
    const auto& d = v.get(all.districts[i]);
    paid_by_districts[d.warehouse - 1] += d.paid;
    if (whole && d.paid != paid_to_district[i])
      return wrong("condition 9: the district's payments", i);

    uint32_t new_orders = 0, least = d.orders.next;
    for (auto at = d.orders.last_new; at; at = v.get(at).before) {
      const auto& n = v.get(at);
      if (n.number != d.orders.next - 1 - new_orders || n.district != d.number ||
          n.warehouse != d.warehouse)
        return wrong(new_orders == 0 ? "condition 2: the last new order"
                                     : "condition 3: a gap between new orders",
                     i);
      least = n.number;
      ++new_orders;
    }
    uint32_t orders = 0;
    uint64_t said = 0, lines = 0;
    for (auto at = d.orders.last; at; at = v.get(at).before) {
      const auto& o = v.get(at);
      if (o.number != d.orders.next - 1 - orders || o.district != d.number ||
          o.warehouse != d.warehouse)
        return wrong("condition 2: the last order", i);
      ++orders;
      said += o.lines;
      if (o.number > (whole ? how.customers : 0)) lines_ordered += o.lines;
      if ((o.carrier == 0) != (o.number >= least))
        return wrong("condition 5: an order's carrier", i);
      uint64_t mine = 0;
      for (auto line = o.last_line; line; line = v.get(line).before) {
        const auto& l = v.get(line);
        if (l.number != o.number) return wrong("an order line of another order", i);
        ++mine;
        if (o.number <= how.customers) continue;
        auto& [quantity, times] = ordered[{l.supplier, l.item}];
        quantity += l.quantity;
        ++times;
      }
      if (whole && mine != o.lines) return wrong("condition 6: an order's lines", i);
      lines += mine;
    }
    if (orders + 1 != d.orders.next) return wrong("condition 2: the orders", i);
    if (whole && said != lines) return wrong("condition 4: the order lines", i);
  }
  for (uint32_t w = 0; w < how.warehouses; ++w) {
    const auto& row = v.get(all.warehouses[w]);
    if (row.paid != paid_by_districts[w])
      return wrong("condition 1: the warehouse's payments", w * districts);
    if (whole && row.paid != paid_to_warehouse[w])
      return wrong("condition 8: the warehouse's payments", w * districts);
  }
  uint64_t times_in_stock = 0;
  for (uint64_t i = 0; i < all.stock.size(); ++i) {
    const auto& s = v.get(all.stock[i]);
    times_in_stock += s.now.orders;
    if (!whole) continue;
    const auto found = ordered.find({s.warehouse, s.item});
    const auto [quantity, times] =
        found == ordered.end() ? std::pair<int64_t, uint64_t>() : found->second;
    if (s.now.ordered != quantity || s.now.orders != times || s.now.quantity < 10 ||
        s.now.quantity > 100)
      return "TPC-C: stock of item " + std::to_string(s.item);
  }
  return times_in_stock == lines_ordered ? "" : "TPC-C: stock and orders differ";
}

}  // namespace scute::workloads::tpcc
