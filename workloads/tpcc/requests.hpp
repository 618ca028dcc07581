// SPDX-License-Identifier: BSD-3-Clause
// The input of TPC-C's transactions and how it is drawn (clauses 2.1.6, 2.4.1, 2.5.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/dice.hpp"
#include "workloads/tpcc/setup.hpp"

namespace scute::workloads::tpcc {

// Non-uniform in [x, y] (clause 2.1.6). The constants of a run differ from those of the population
// as they have to (clause 2.1.6.1): 157 - 67 = 90.
inline uint64_t nurand(dice& d, uint64_t a, uint64_t c, uint64_t x, uint64_t y) {
  return ((d.between(0, a) | d.between(x, y)) + c) % (y - x + 1) + x;
}
inline constexpr uint64_t c_of_load = 67, c_of_run = 157, c_of_customers = 259, c_of_items = 7911;

// Syllables of the three digits of a number from 0 to 999 (clause 4.3.2.3).
inline std::string last_name(uint32_t number) {
  static const char* const syllables[] = {"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                          "ESE", "ANTI",  "CALLY", "ATION", "EING"};
  return std::string(syllables[number / 100 % 10]) + syllables[number / 10 % 10] +
         syllables[number % 10];
}
// Of a customer from 1 on: the first 1000 of a district have all names, in order.
inline uint32_t name_of_customer(dice& d, uint32_t customer) {
  return customer <= 1000 ? customer - 1 : static_cast<uint32_t>(nurand(d, 255, c_of_load, 0, 999));
}

// All numbers begin with 1.
struct order_input {
  uint32_t warehouse, district, customer, lines;
  bool rolls_back;  // the last item does not exist
  struct line {
    uint32_t item, supplier, quantity;
  } line[lines_max];
};
struct payment_input {
  uint32_t warehouse, district;
  uint32_t customer_warehouse, customer_district;
  bool by_name;
  uint32_t customer;  // or the number of the last name
  int64_t amount;     // cents
};
struct request {
  bool pays;
  union {
    order_input order;
    payment_input payment;
  };
};

inline request draw_order(dice& d, const setup& how, uint32_t warehouse) {
  request r{};
  r.pays = false;
  order_input& o = r.order;
  o.warehouse = warehouse;
  o.district = static_cast<uint32_t>(d.between(1, districts));
  o.customer = static_cast<uint32_t>(nurand(d, 1023, c_of_customers, 1, how.customers));
  o.lines = static_cast<uint32_t>(d.between(lines_min, lines_max));
  o.rolls_back = how.runs == part::whole && d.percent(1);
  for (uint32_t i = 0; i < o.lines; ++i) {
    auto& l = o.line[i];
    // The items of an order differ, as they do in ENTS; the specification lets them meet.
    bool met = true;
    while (met) {
      l.item = static_cast<uint32_t>(nurand(d, 8191, c_of_items, 1, how.items));
      met = false;
      for (uint32_t k = 0; k < i; ++k) met = met || o.line[k].item == l.item;
    }
    l.supplier = warehouse;
    if (how.runs == part::whole && how.warehouses > 1 && d.percent(1)) {
      l.supplier = static_cast<uint32_t>(d.between(1, how.warehouses - 1));
      if (l.supplier >= warehouse) ++l.supplier;
    }
    l.quantity = static_cast<uint32_t>(d.between(1, 10));
  }
  if (o.rolls_back) o.line[o.lines - 1].item = how.items + 1;
  return r;
}

inline request draw_payment(dice& d, const setup& how, uint32_t warehouse) {
  request r{};
  r.pays = true;
  r.payment = {};
  payment_input& p = r.payment;
  p.warehouse = p.customer_warehouse = warehouse;
  p.district = p.customer_district = static_cast<uint32_t>(d.between(1, districts));
  if (how.warehouses > 1 && d.percent(15)) {
    p.customer_warehouse = static_cast<uint32_t>(d.between(1, how.warehouses - 1));
    if (p.customer_warehouse >= warehouse) ++p.customer_warehouse;
    p.customer_district = static_cast<uint32_t>(d.between(1, districts));
  }
  p.by_name = d.percent(60);
  // Of names only those that every district has.
  p.customer = static_cast<uint32_t>(
      p.by_name ? nurand(d, 255, c_of_run, 0, how.customers < 1000 ? how.customers - 1 : 999)
                : nurand(d, 1023, c_of_customers, 1, how.customers));
  p.amount = static_cast<int64_t>(d.between(100, 500'000));
  return r;
}

/// The next request of a terminal of this warehouse: New-Order and Payment as 45 to 43, or
/// New-Order alone.
inline request draw(dice& d, const setup& how, uint32_t warehouse) {
  if (how.runs == part::orders || d.below(88) < 45) return draw_order(d, how, warehouse);
  return draw_payment(d, how, warehouse);
}
inline std::vector<request> draw_all(dice& d, const setup& how, size_t n) {
  std::vector<request> all;
  all.reserve(n);
  for (size_t i = 0; i < n; ++i)
    all.push_back(draw(d, how, static_cast<uint32_t>(d.between(1, how.warehouses))));
  return all;
}

}  // namespace scute::workloads::tpcc
