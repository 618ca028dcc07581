// SPDX-License-Identifier: BSD-3-Clause
// The rows of TPC-C's nine tables (clause 1.3). Amounts of money are in cents, rates in hundredths
// of a per cent.
//
// Orders, new orders, order lines and payments are found from the row that they belong to, by
// chains from the last to the first: nothing that runs here looks an old one up.
#pragma once

#include <cstdint>

#include "workloads/stores/store.hpp"

namespace scute::workloads::tpcc {

struct address {
  char street[2][20], city[20], state[2], zip[9];
};

template <store S>
struct rows {
  template <class T>
  using ptr = typename S::template ptr<T>;

  struct item {
    uint32_t number, image;
    int64_t price;
    char name[24], data[50];
  };
  struct warehouse {
    uint32_t number, tax;
    int64_t paid;  // W_YTD
    char name[10];
    address where;
  };
  struct payment {
    ptr<payment> before;
    uint32_t customer, customer_district, customer_warehouse, district, warehouse;
    int64_t amount, date;
    char data[24];
  };
  struct order_line {
    ptr<order_line> before;
    uint32_t number, item, supplier, quantity;
    int64_t amount, delivered;  // 0: not yet
    char district_info[24];
  };
  // 64 bytes, and so are new orders.
  struct order {
    ptr<order> before;
    ptr<order_line> last_line;
    uint32_t number, district, warehouse, customer;
    int64_t date;
    uint32_t carrier, lines, all_local, spare;
    char rest[8];
  };
  struct new_order {
    ptr<new_order> before;
    uint32_t number, district, warehouse, spare;
    char rest[40];
  };
  // The fields of a district that an order changes, side by side. A row of stock has the same, and
  // a customer for payments.
  struct district_orders {
    uint32_t next, spare;
    ptr<order> last;
    ptr<new_order> last_new;
  };
  struct district {
    uint32_t number, warehouse, tax, spare;
    int64_t paid;  // D_YTD
    district_orders orders;
    char name[10];
    address where;
  };
  struct customer_account {
    int64_t balance, paid;
    uint64_t payments;
    ptr<payment> last_payment;
  };
  struct customer {
    uint32_t number, district, warehouse, last_number;
    int64_t credit_limit, since;
    uint32_t deliveries, discount, bad_credit, spare;
    customer_account account;
    char first[16], middle[2], last[16], phone[16];
    address where;
    char data[500];
  };
  struct stock_state {
    uint32_t quantity, orders, remote_orders, spare;
    int64_t ordered;  // S_YTD
  };
  // 320 bytes, as in ENTS.
  struct stock {
    uint32_t item, warehouse;
    stock_state now;
    char district_info[districts][24];
    char data[48];
  };
  static_assert(sizeof(stock) == 320);
  static_assert(sizeof(ptr<order>) != 8 || (sizeof(order) == 64 && sizeof(new_order) == 64));
};

}  // namespace scute::workloads::tpcc
