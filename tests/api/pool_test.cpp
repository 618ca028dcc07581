// SPDX-License-Identifier: BSD-3-Clause
#include "api/temp_pool.hpp"

#include <fstream>
#include <thread>
#include <type_traits>

namespace {

using scute::pool;
using scute_test::temp_folder;

struct record {
  static constexpr std::string_view scute_type = "test.record";
  uint64_t a;
  uint64_t b;
  scute::ptr<record> next;
};
struct larger {
  char bytes[4096];
};
struct other {
  static constexpr std::string_view scute_type = "test.other";
  uint64_t a;
};

static_assert(!std::is_copy_constructible_v<pool> && std::is_nothrow_move_constructible_v<pool> &&
              std::is_nothrow_move_assignable_v<pool>);

constexpr uint64_t small = 4ULL << 20;

TEST(pool, create_open_close) {
  const temp_folder folder;
  const auto path = folder / "a.pool";
  EXPECT_ERRC(noent, pool::open(path));
  {
    pool p = pool::create(path, {.size = small, .layout = "test"});
    EXPECT_TRUE(p);
    EXPECT_STREQ(p.info().layout, "test");
    EXPECT_EQ(p.info().size, small);
    EXPECT_NE(p.native_handle(), nullptr);
  }
  EXPECT_ERRC(exists, pool::create(path, {.size = small}));
  EXPECT_ERRC(layout, pool::open(path, {.layout = "another"}));
  pool p = pool::open(path, {.layout = "test"});
  EXPECT_ERRC(busy, pool::open(path));
  p.close();
  p.close();  // closing nothing is fine
  EXPECT_FALSE(p);
  EXPECT_EQ(p.native_handle(), nullptr);
  EXPECT_NO_THROW(pool::open(path));
}

TEST(pool, open_or_create) {
  const temp_folder folder;
  const auto path = folder / "a.pool";
  scute::ptr<record> r;
  {
    const pool p = pool::open_or_create(path, {.size = small});
    r = p.root<record>();
    p.update(r, [](record& x) { x.a = 7; });
  }
  const pool p = pool::open_or_create(path, {.size = small});
  EXPECT_EQ(p.get(p.root<record>()).a, 7U);
  EXPECT_ERRC(noent, pool::open_or_create(folder / "b.pool", {.readonly = true}));
}

TEST(pool, refuses_what_is_no_pool) {
  const temp_folder folder;
  const auto path = folder / "a.txt";
  std::ofstream(path) << std::string(1 << 20, 'x');
  EXPECT_ERRC(format, pool::open(path));
  EXPECT_ERRC(exists, pool::create(path, {.size = small, .overwrite = true}));
}

TEST(pool, overwrite_replaces_a_pool) {
  const temp_folder folder;
  const auto path = folder / "a.pool";
  {
    const pool p = pool::create(path, {.size = small});
    p.update(p.root<record>(), [](record& x) { x.a = 7; });
  }
  const pool p = pool::create(path, {.size = small, .overwrite = true});
  EXPECT_EQ(p.get(p.root<record>()).a, 0U);
}

TEST(pool, bad_options_throw) {
  const temp_folder folder;
  EXPECT_ERRC(range, pool::create(folder / "a.pool", {.size = 1000}));
  EXPECT_ERRC(range, pool::create(folder / "a.pool", {.layout = std::string(64, 'x')}));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.pool"));
}

TEST(pool, readonly_lets_nothing_through) {
  const temp_folder folder;
  const auto path = folder / "a.pool";
  {
    const pool p = pool::create(path, {.size = small});
    p.update(p.root<record>(), [](record& x) { x.a = 7; });
  }
  const pool p = pool::open(path, {.readonly = true});
  const auto r = p.root<record>();
  EXPECT_EQ(p.get(r).a, 7U);
  EXPECT_ERRC(readonly, p.transact([&](scute::tx& tx) { tx.open(r).a = 8; }));
  EXPECT_ERRC(readonly, p.update(r, [](record& x) { x.a = 8; }));
  EXPECT_EQ(p.get(r).a, 7U);
}

TEST(pool, moving_keeps_readers_valid) {
  const temp_folder folder;
  pool a = pool::create(folder / "a.pool", {.size = small});
  const auto r = a.root<record>();
  const scute::reader reader = a;
  pool b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that it is empty is documented
  EXPECT_EQ(reader.get(r).a, 0U);
  a = std::move(b);
  EXPECT_TRUE(a);
  EXPECT_EQ(reader.get(r).a, 0U);
  a = pool::create(folder / "b.pool", {.size = small});  // closes the first
  EXPECT_NO_THROW(pool::open(folder / "a.pool"));
}

TEST(pool, an_empty_pool_object_throws) {
  const pool p;
  EXPECT_FALSE(p);
  EXPECT_ERRC(notx, p.root<record>());
  EXPECT_ERRC(notx, p.get(scute::ptr<record>(1)));
  EXPECT_ERRC(notx, p.transact([](scute::tx&) {}));
  EXPECT_ERRC(notx, p.info());
  EXPECT_ERRC(notx, scute::reader().get(scute::ptr<record>(1)));
}

class pools : public scute_test::pool_test {};

TEST_F(pools, root_starts_zeroed_and_stays) {
  const auto r = pool.root<record>();
  EXPECT_EQ(pool.get(r).a, 0U);
  EXPECT_FALSE(pool.get(r).next);
  EXPECT_EQ(pool.root<record>(), r);
  EXPECT_ERRC(range, pool.root<larger>());
  reopen();
  EXPECT_EQ(pool.root<record>(), r);
  EXPECT_EQ(pool.type_of(r), scute::type_number<record>);
  EXPECT_ERRC(invalid, pool.transact([&](scute::tx&) { pool.root<record>(); }));
}

TEST_F(pools, get_refuses_wild_pointers) {
  const auto r = pool.root<record>();
  const uint64_t size = pool.info().size;
  const scute_oid first = r.oid() & ~((1ULL << 48) - 1);
  using ptr = scute::ptr<record>;
  EXPECT_ERRC(oid, pool.get(ptr()));
  EXPECT_ERRC(oid, pool.get(ptr(first)));                               // offset 0
  EXPECT_ERRC(oid, pool.get(ptr(r.oid() ^ (1ULL << 60))));              // another pool
  EXPECT_ERRC(oid, pool.get(ptr(first + size)));                        // past the end
  EXPECT_ERRC(oid, pool.get(scute::ptr<larger>(first + size - 4064)));  // reaching past it
  static_assert(sizeof(record) <= 32 && sizeof(larger) > 4064);
  EXPECT_NO_THROW(pool.get(ptr(first + size - 32)));  // in the mapping: readable
  EXPECT_ERRC(oid, pool.get(ptr(r.oid() + 8)));       // no object begins there
  EXPECT_ERRC(oid, pool.get(ptr(r.oid() + 1)));
  EXPECT_ERRC(oid, pool.get(ptr(~0ULL)));
  EXPECT_ERRC(oid, pool.read(ptr(), &record::a));
  EXPECT_ERRC(oid, pool.bytes(r.oid(), size, 8));
  EXPECT_ERRC(oid, pool.bytes(r.oid(), ~0ULL, 8));
  EXPECT_ERRC(oid, pool.bytes(r.oid(), 8, ~0ULL));
}

TEST_F(pools, get_verified_tests_what_is_there) {
  const auto r = pool.root<record>();
  EXPECT_EQ(&pool.get_verified(r), &pool.get(r));
  EXPECT_ERRC(oid, pool.get_verified(scute::ptr<record>()));
  EXPECT_ERRC(type, pool.get_verified(scute::ptr<other>(r.oid())));
  EXPECT_ERRC(range, pool.get_verified(scute::ptr<larger>(r.oid())));
  const auto p = pool.transact([](scute::tx& tx) { return tx.make<record>(); });
  EXPECT_NO_THROW(pool.get_verified(p));
  pool.transact([&](scute::tx& tx) { tx.destroy(p); });
  EXPECT_ERRC(freed, pool.get_verified(p));
}

TEST_F(pools, update_changes_one_object) {
  const auto r = pool.root<record>();
  EXPECT_EQ(pool.update(r, [](record& x) { return x.a = 5; }), 5U);
  EXPECT_EQ(pool.get(r).a, 5U);
  EXPECT_THROW(pool.update(r,
                           [](record& x) {
                             x.a = 6;
                             throw std::runtime_error("no");
                           }),
               std::runtime_error);
  EXPECT_EQ(pool.get(r).a, 5U);
  EXPECT_ERRC(conflict, pool.update(r, [&](record& x) {
    x.b = 1;
    pool.update(r, [](record& y) { y.a = 9; });
  }));
  EXPECT_EQ(pool.get(r).a, 9U);
  EXPECT_EQ(pool.get(r).b, 0U);
  EXPECT_ERRC(oid, pool.update(scute::ptr<record>(), [](record&) {}));
}

TEST_F(pools, objects_of_a_type) {
  const auto r = pool.root<record>();
  std::vector<scute::ptr<record>> made;
  pool.transact([&](scute::tx& tx) {
    for (int i = 0; i < 100; ++i) {
      made.push_back(tx.make<record>());
      tx.make<other>();
      tx.make<larger>();
      tx.make_array<record>(2);
    }
  });
  made.push_back(r);
  std::sort(made.begin(), made.end());
  std::vector<scute::ptr<record>> found;
  for (const scute::ptr<record> p : pool.objects<record>()) {
    found.push_back(p);
  }
  EXPECT_EQ(found, made);
  EXPECT_EQ(std::ranges::distance(pool.objects<other>()), 100);
  EXPECT_EQ(objects(), 401U);
  reopen();
  EXPECT_EQ(objects(), 401U);
}

TEST_F(pools, stats_info_and_check) {
  const auto before = pool.stats();
  const auto r = pool.root<record>();
  pool.transact([&](scute::tx& tx) {
    tx.open(r).next = tx.make<record>();
    tx.edit(r, &record::a) = 1;
  });
  EXPECT_THROW(pool.transact([&](scute::tx& tx) {
    tx.open(r).a = 2;
    throw 1;
  }),
               int);
  const auto after = pool.stats();
  EXPECT_GE(after.transactions, before.transactions + 1);
  EXPECT_EQ(after.aborts, before.aborts + 1);
  EXPECT_GE(pool.info().epoch, 1U);
  EXPECT_GE(pool.alloc_max(), 4096U);

  uint64_t done = 0;
  const auto report = pool.check(
      false, [](auto...) { ADD_FAILURE() << "damage in a new pool"; },
      [&](std::string_view, uint64_t d, uint64_t total) {
        EXPECT_LE(d, total);
        done = d;
      });
  EXPECT_EQ(report.objects, 2U);
  EXPECT_EQ(report.damaged, 0U);
  EXPECT_GT(done, 0U);
  EXPECT_THROW(pool.check(false, {}, [](auto...) { throw std::runtime_error("stop"); }),
               std::runtime_error);
}

TEST_F(pools, pointers_hash_and_compare) {
  const scute::ptr<record> a(5);
  const scute::ptr<record> b(6);
  EXPECT_LT(a, b);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, scute::ptr<record>(5));
  EXPECT_EQ(scute::ptr<record>(), nullptr);
  EXPECT_EQ(std::hash<scute::ptr<record>>{}(a), std::hash<scute::ptr<record>>{}(a));
}

}  // namespace
