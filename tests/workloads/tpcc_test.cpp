// SPDX-License-Identifier: BSD-3-Clause
// TPC-C in every store: each transaction against a plain sequential one, the consistency conditions
// of the specification after each phase, under several threads and wherever the power may fail; and
// that the conditions notice.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "workloads/tpcc/conditions.hpp"
#include "workloads/tpcc/database.hpp"
#include "workloads/workload_stages.hpp"

namespace scute::test {
namespace {

using namespace workloads::tpcc;
using workloads::dice;

constexpr setup small{part::whole, 2, 60, 12, 5};
constexpr setup small_orders{part::orders, 1, 100, 12, 5};

// The specification's rules for the rows that change.
struct plain_tpcc {
  struct stock {
    uint32_t quantity = 0, orders = 0, remote = 0;
    int64_t ordered = 0;
    friend bool operator==(const stock&, const stock&) = default;
  };
  struct person {
    int64_t balance = 0, paid = 0;
    uint64_t payments = 0;
    std::string data;  // of one of bad credit
    friend bool operator==(const person&, const person&) = default;
  };
  setup how;
  std::vector<int64_t> warehouses, districts, prices;
  std::vector<uint32_t> next;
  std::vector<uint64_t> order_lines;
  std::vector<stock> stocks;
  std::vector<person> customers;
  // The rows that are read and never change.
  std::vector<int64_t> warehouse_tax, district_tax, discount;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_name;

  friend bool operator==(const plain_tpcc& a, const plain_tpcc& b) {
    return a.warehouses == b.warehouses && a.districts == b.districts && a.next == b.next &&
           a.order_lines == b.order_lines && a.stocks == b.stocks && a.customers == b.customers;
  }

  void run(const request& q, int64_t& seen) {
    if (q.pays)
      pay(q.payment, seen);
    else
      enter(q.order, seen);
  }
  void enter(const order_input& q, int64_t& seen) {
    if (q.rolls_back) return;
    const uint32_t d = (q.warehouse - 1) * 10 + q.district - 1;
    ++next[d];
    int64_t total = 0;
    for (uint32_t i = 0; i < q.lines; ++i) {
      const auto& l = q.line[i];
      stock& s = stocks[(l.supplier - 1) * how.items + l.item - 1];
      s.quantity =
          s.quantity >= l.quantity + 10 ? s.quantity - l.quantity : s.quantity + 91 - l.quantity;
      s.ordered += l.quantity;
      ++s.orders;
      s.remote += l.supplier == q.warehouse ? 0 : 1;
      if (how.runs == part::orders) continue;
      ++order_lines[d];
      total += prices[l.item - 1] * l.quantity;
    }
    if (how.runs == part::orders) return;
    const int64_t rate = 10000 + warehouse_tax[q.warehouse - 1] + district_tax[d];
    seen += total * (10000 - discount[d * how.customers + q.customer - 1]) / 10000 * rate / 10000;
  }
  void pay(const payment_input& q, int64_t& seen) {
    const uint32_t d = (q.customer_warehouse - 1) * 10 + q.customer_district - 1;
    const uint32_t number = q.by_name ? by_name.at({d, q.customer}) : q.customer;
    warehouses[q.warehouse - 1] += q.amount;
    districts[(q.warehouse - 1) * 10 + q.district - 1] += q.amount;
    person& c = customers[d * how.customers + number - 1];
    c.balance -= q.amount;
    c.paid += q.amount;
    ++c.payments;
    seen += c.balance;
    if (c.data.empty()) return;
    std::string line;
    for (const uint64_t n :
         {uint64_t{number}, uint64_t{q.customer_district}, uint64_t{q.customer_warehouse},
          uint64_t{q.district}, uint64_t{q.warehouse}})
      line += std::to_string(n) + " ";
    c.data = (line + std::to_string(q.amount) + "|" + c.data).substr(0, 500);
  }
};

template <class Database>
plain_tpcc content(const Database& db) {
  plain_tpcc p;
  p.how = db.how();
  const auto& all = db.content();
  const auto& v = db.store().view();
  for (uint64_t i = 0; i < all.items.size(); ++i) p.prices.push_back(v.get(all.items[i]).price);
  for (uint64_t i = 0; i < all.warehouses.size(); ++i) {
    p.warehouses.push_back(v.get(all.warehouses[i]).paid);
    p.warehouse_tax.push_back(v.get(all.warehouses[i]).tax);
  }
  for (uint64_t i = 0; i < all.districts.size(); ++i) {
    const auto& d = v.get(all.districts[i]);
    p.districts.push_back(d.paid);
    p.district_tax.push_back(d.tax);
    p.next.push_back(d.orders.next);
    p.order_lines.push_back(0);
    for (auto o = d.orders.last; o; o = v.get(o).before)
      for (auto l = v.get(o).last_line; l; l = v.get(l).before) ++p.order_lines.back();
  }
  for (uint64_t i = 0; i < all.stock.size(); ++i) {
    const auto& s = v.get(all.stock[i]).now;
    p.stocks.push_back({s.quantity, s.orders, s.remote_orders, s.ordered});
  }
  for (uint64_t i = 0; i < all.customers.size(); ++i) {
    const auto& c = v.get(all.customers[i]);
    p.customers.push_back({c.account.balance, c.account.paid, c.account.payments,
                           c.bad_credit != 0 ? std::string(c.data, sizeof c.data) : ""});
    p.discount.push_back(c.discount);
    const auto d = static_cast<uint32_t>(i / p.how.customers);
    p.by_name[{d, c.last_number}] = all.by_name(d, c.last_number);
  }
  return p;
}

template <class Stage>
class tpcc : public ::testing::Test {
 protected:
  using store_type = typename Stage::store_type;
  using database = workloads::tpcc::database<store_type>;

  void open(const setup& how) {
    db = std::make_unique<database>(stage.store(),
                                    stage.store().template root<typename database::root>(), how);
  }
  void TearDown() override {
    if (db == nullptr) return;
    db->clear();
    EXPECT_EQ(stage.objects().value_or(0), 0U);
    stage.verify();
  }

  void compare_with_plain(const setup& how, int requests) {
    open(how);
    ASSERT_EQ(check(*db), "");
    plain_tpcc expected = content(*db);
    typename database::terminal me;
    dice d(3);
    unsigned rolled_back = 0;
    for (const request& q : draw_all(d, how, static_cast<size_t>(requests))) {
      int64_t wanted = 0;
      me.seen = 0;
      const bool rolls_back = !q.pays && q.order.rolls_back;
      ASSERT_EQ(db->run(q, me), rolls_back ? outcome::rolled_back : outcome::committed);
      rolled_back += rolls_back;
      expected.run(q, wanted);
      ASSERT_EQ(me.seen, wanted);
    }
    EXPECT_EQ(rolled_back != 0, how.runs == part::whole);
    EXPECT_EQ(check(*db), "");
    EXPECT_TRUE(content(*db) == expected);
    db.reset();
    stage.reopen();
    open(how);
    EXPECT_EQ(check(*db), "");
    EXPECT_TRUE(content(*db) == expected);
  }

  void several_threads(const setup& how, int requests) {
    open(how);
    constexpr unsigned threads = 3;
    std::vector<unsigned> orders(threads);
    uint64_t before = 0, after = 0;
    for (const uint32_t n : content(*db).next) before += n;
    {
      std::vector<std::jthread> crew;
      for (unsigned t = 0; t < threads; ++t)
        crew.emplace_back([&, t] {
          typename database::terminal me;
          dice d(50 + t);
          for (const request& q : draw_all(d, how, static_cast<size_t>(requests)))
            if (db->run(q, me) == outcome::committed && !q.pays) ++orders[t];
        });
    }
    EXPECT_EQ(check(*db), "");
    for (const uint32_t n : content(*db).next) after += n;
    EXPECT_EQ(after - before, orders[0] + orders[1] + orders[2]);
  }

  Stage stage;
  std::unique_ptr<database> db;
};
TYPED_TEST_SUITE(tpcc, workload_stages, workload_stage_name);

// One order of a hundred leaves no trace (TPCC-2).
TYPED_TEST(tpcc, new_order_and_payment) {
  this->compare_with_plain(small, 1500);
}
TYPED_TEST(tpcc, new_order_as_ents_ran_it) {
  this->compare_with_plain(small_orders, 1500);
}
// TPCC-1
TYPED_TEST(tpcc, threads_keep_the_conditions) {
  this->several_threads(small, 1000);
}
TYPED_TEST(tpcc, threads_that_enter_orders_alone) {
  this->several_threads(small_orders, 1000);
}

// The power may fail after any section: population, orders and payments are whole or not there.
TEST(tpcc_sections, conditions_hold_after_each) {
  section_store s;
  using db_type = database<section_store>;
  const auto at = s.root<db_type::root>();
  setup how = small;
  how.warehouses = 1;
  size_t populated = 0;
  {
    db_type db(s, at, how);
    populated = s.sections();
    db_type::terminal me;
    dice d(8);
    for (const request& q : draw_all(d, how, 300)) db.run(q, me);
  }
  for (size_t n = s.sections(); n > populated; n -= std::min<size_t>(n - populated, 17)) {
    s.back_to(n);
    const db_type db(s, at, how);
    ASSERT_EQ(check(db), "") << n;
  }
  // A population continues where it was.
  plain_tpcc complete;
  {
    s.back_to(populated);
    const db_type db(s, at, how);
    EXPECT_EQ(s.sections(), populated);
    complete = content(db);
  }
  for (const size_t n : {populated - 1, populated / 2, size_t{3}, size_t{1}}) {
    s.back_to(n);
    const db_type db(s, at, how);
    EXPECT_EQ(check(db), "") << n;
    EXPECT_TRUE(content(db) == complete) << n;
  }
}

using plain_database = database<workloads::volatile_store>;

// Each condition is broken once.
TEST(tpcc_conditions, notice) {
  workloads::volatile_store s;
  plain_database db(s, s.root<plain_database::root>(), small);
  plain_database::terminal me;
  dice d(4);
  for (const request& q : draw_all(d, small, 300)) db.run(q, me);
  ASSERT_EQ(check(db), "");
  const auto expect = [&](const char* what, auto& field, auto wrong) {
    const auto right = field;
    field = static_cast<std::remove_cvref_t<decltype(field)>>(wrong);
    EXPECT_NE(check(db).find(what), std::string::npos) << what << ", it says: " << check(db);
    field = right;
    EXPECT_EQ(check(db), "");
  };
  auto& warehouse = *db.content().warehouses[1].address();
  auto& district = *db.content().districts[3].address();
  auto& customer = *db.content().customers[7].address();
  auto& stock = *db.content().stock[9].address();
  auto& last = *district.orders.last.address();
  expect("condition 1", warehouse.paid, warehouse.paid + 1);
  expect("condition 2", district.orders.next, district.orders.next + 1);
  expect("condition 2: the last order", last.number, last.number + 1);
  expect("condition 2: the last new order", district.orders.last_new,
         district.orders.last_new.address()->before);
  expect("condition 3", district.orders.last_new.address()->before,
         district.orders.last_new.address()->before.address()->before);
  expect("condition 6", last.lines, last.lines + 1);
  expect("condition 5", last.carrier, 3);
  expect("another order", last.last_line.address()->number, 1);
  expect("condition 9", district.paid, district.paid - 5);
  expect("condition 10", customer.account.balance, customer.account.balance + 1);
  expect("another customer", customer.account.last_payment.address()->customer, 0);
  expect("stock", stock.now.ordered, stock.now.ordered + 1);
  expect("stock", stock.now.quantity, 101);
  expect("condition 6", last.last_line, last.last_line.address()->before);
  db.clear();
}

// Shares and ranges of the drawn requests.
TEST(tpcc_rules, requests) {
  const setup how{part::whole, 2, 100'000, 3000, 1};
  dice d(6);
  double orders = 0, back = 0, lines = 0, remote = 0, by_name = 0, elsewhere = 0, payments = 0;
  std::map<uint32_t, int> items;
  for (int i = 0; i < 40'000; ++i) {
    const request q = draw(d, how, 1);
    if (q.pays) {
      ++payments;
      by_name += q.payment.by_name ? 1 : 0;
      elsewhere += q.payment.customer_warehouse != 1 ? 1 : 0;
      ASSERT_TRUE(q.payment.amount >= 100 && q.payment.amount <= 500'000);
      ASSERT_LE(q.payment.customer, q.payment.by_name ? 999U : 3000U);
      continue;
    }
    ++orders;
    back += q.order.rolls_back ? 1 : 0;
    ASSERT_TRUE(q.order.lines >= 5 && q.order.lines <= 15);
    lines += q.order.lines;
    for (uint32_t k = 0; k < q.order.lines; ++k) {
      const auto& l = q.order.line[k];
      ASSERT_EQ(l.item > 100'000, q.order.rolls_back && k + 1 == q.order.lines);
      ASSERT_TRUE(l.quantity >= 1 && l.quantity <= 10);
      remote += l.supplier != 1 ? 1 : 0;
      ++items[l.item];
    }
  }
  EXPECT_NEAR(orders / payments, 45.0 / 43, 0.03);
  EXPECT_NEAR(back / orders, 0.01, 0.003);
  EXPECT_NEAR(lines / orders, 10, 0.1);
  EXPECT_NEAR(remote / lines, 0.01, 0.002);
  EXPECT_NEAR(by_name / payments, 0.6, 0.02);
  EXPECT_NEAR(elsewhere / payments, 0.15, 0.02);
  EXPECT_EQ(last_name(371), "PRICALLYOUGHT");
}

}  // namespace
}  // namespace scute::test
