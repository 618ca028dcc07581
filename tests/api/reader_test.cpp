// SPDX-License-Identifier: BSD-3-Clause
// Readers of all kinds agree: the pool, a copy of it, a local one, a transaction and copies of
// that. Each of them has its bound from another place (reader::outside), and none may let through
// what another refuses.
#include "api/crashed_pool.hpp"
#include "api/temp_pool.hpp"

#include <functional>
#include <vector>

namespace {

using scute::reader;

struct cell {
  uint64_t number;
  scute::ptr<cell> next;
};
struct page {
  std::byte bytes[4096];
};
struct largest {  // the inline test checks no more than where it begins
  std::byte bytes[SCUTE_DIRECT_MAX];
};
struct too_large {
  std::byte bytes[SCUTE_DIRECT_MAX + 32];
};

class readers : public scute_test::pool_test {
 protected:
  void SetUp() override { start(SCUTE_SIZE_MIN); }

  void start(uint64_t size) {
    make(size);
    root = pool.root<cell>();
    file = size;
    tag = root.oid() >> 48 << 48;
  }

  // Calls f with a reader of every kind.
  void each(const std::function<void(const reader& r, const char* kind)>& f) {
    const reader copy = pool, local = pool.local();
    f(pool, "pool");
    f(copy, "copy");
    f(local, "local");
    const auto in_transaction = [&](const char* kind, auto&& change) {
      try {
        pool.transact([&](scute::tx& tx) {
          const reader before = tx, before_local = tx.local();
          change(tx);
          f(tx, kind);
          f(tx.local(), kind);
          f(before, kind);
          f(before_local, kind);
          throw 0;  // without a trace
        });
      } catch (int) {
      }
    };
    in_transaction("transaction", [](scute::tx&) {});
    in_transaction("transaction with an open object", [&](scute::tx& tx) { tx.open(root); });
    in_transaction("transaction that has freed",
                   [&](scute::tx& tx) { tx.destroy(tx.make<cell>()); });
  }

  // Readers of every kind accept the T that begins at this offset, or all of them refuse it.
  template <class T>
  void expect(bool there, uint64_t offset) {
    const auto base = scute_direct_base(pool.native_handle());
    const scute::ptr<T> p(tag + offset);
    each([&](const reader& r, const char* kind) {
      SCOPED_TRACE(std::string(kind) + ", offset " + std::to_string(offset) + " of " +
                   std::to_string(file) + ", " + std::to_string(sizeof(T)) + " bytes");
      if (there && asks_library(r, p.oid())) {
        return;  // the library knows where objects are
      }
      if (there) {
        ASSERT_NO_THROW(r.get(p));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(&r.get(p)), base + p.oid());
      } else {
        EXPECT_ERRC(oid, r.get(p));
      }
    });
  }
  // A transaction may have changed what is there, by its filter.
  bool asks_library(const reader& r, scute_oid oid) const {
    const scute_tx* const tx = scute_tx_current(pool.native_handle());
    return r.in_transaction() && (scute_tx_reading(tx)->touched & SCUTE_TOUCHED_BIT(oid)) != 0;
  }
  template <class T>
  void expect_up_to_the_end() {
    const uint64_t last = (file - sizeof(T)) / 32 * 32;
    for (uint64_t k = 0; k < 4; ++k) {
      expect<T>(true, last - 32 * k);
      expect<T>(false, last + 32 * (k + 1));
      expect<T>(false, last - 32 * k + 1 + 10 * k);
    }
    // Where the inline test ends and check_on_read() takes over.
    for (const uint64_t offset : {file - SCUTE_DIRECT_MAX - 32, file - SCUTE_DIRECT_MAX,
                                  file - SCUTE_DIRECT_MAX + 32, file - SCUTE_DIRECT_MAX + 64})
      expect<T>(offset <= last, offset);
    for (const uint64_t offset : {0, 1, 8, 16, 31, 33, 63}) expect<T>(false, offset);
    for (const uint64_t offset : {32, 64, 4096}) expect<T>(true, offset);
    for (const uint64_t offset :
         {file, file + 32, 2 * file, uint64_t{1} << 45, (uint64_t{1} << 48) - 32})
      expect<T>(false, offset);
  }

  scute::ptr<cell> root;
  uint64_t file = 0, tag = 0;
};

TEST_F(readers, agree_on_where_the_file_ends) {
  for (const uint64_t size : {uint64_t{SCUTE_SIZE_MIN}, uint64_t{SCUTE_SIZE_MIN} + 4096,
                              uint64_t{4} << 20, (uint64_t{16} << 20) + 12288}) {
    pool.close();
    std::filesystem::remove(folder / "test.pool");
    start(size);
    expect_up_to_the_end<cell>();
    expect_up_to_the_end<page>();
    expect_up_to_the_end<largest>();
    expect_up_to_the_end<too_large>();
  }
}

TEST_F(readers, refuse_what_is_of_another_pool) {
  const uint64_t offset = root.oid() - tag;
  const scute::pool second = scute::pool::create(folder / "second.pool", {.size = file});
  std::vector<scute_oid> foreign{0,
                                 offset,
                                 tag - 32,
                                 tag + (uint64_t{1} << 48) + offset,
                                 tag - (uint64_t{1} << 48) + offset,
                                 ~uint64_t{0},
                                 ~uint64_t{31},
                                 second.root<cell>().oid()};
  for (int bit = 48; bit < 64; ++bit) foreign.push_back(root.oid() ^ (uint64_t{1} << bit));
  each([&](const reader& r, const char* kind) {
    for (const scute_oid oid : foreign) {
      SCOPED_TRACE(std::string(kind) + ", oid " + std::to_string(oid));
      EXPECT_ERRC(oid, r.get(scute::ptr<cell>(oid)));
      EXPECT_ERRC(oid, r.get(scute::ptr<too_large>(oid)));
      EXPECT_ERRC(oid, r.read(scute::ptr<cell>(oid), &cell::next));
      EXPECT_ERRC(oid, r.bytes(oid, 0, 8));
    }
  });
}

// An object that a transaction has opened is seen by readers that were made before, and by those of
// outer and inner levels, whichever level opened it.
TEST_F(readers, see_what_their_transaction_has_opened_since) {
  std::vector<scute::ptr<cell>> cells;
  pool.transact([&](scute::tx& tx) {
    for (uint64_t i = 0; i < 100; ++i) cells.push_back(tx.make<cell>(i, nullptr));
  });
  const reader committed = pool.local();
  pool.transact([&](scute::tx& outer) {
    const reader before = outer, local = outer.local();
    for (const auto p : cells) EXPECT_EQ(&local.get(p), &committed.get(p));
    const auto expect = [&](size_t changed) {
      for (size_t i = 0; i < cells.size(); ++i) {
        const uint64_t number = i < changed ? 1000 + i : i;
        EXPECT_EQ(outer.get(cells[i]).number, number);
        EXPECT_EQ(before.get(cells[i]).number, number);
        EXPECT_EQ(local.get(cells[i]).number, number);
        EXPECT_EQ(outer.local().get(cells[i]).number, number);
        EXPECT_EQ(committed.get(cells[i]).number, i);
      }
    };
    for (size_t i = 0; i < 25; ++i) outer.open(cells[i]).number += 1000;
    expect(25);
    pool.transact([&](scute::tx& inner) {
      for (size_t i = 25; i < 50; ++i) inner.edit(cells[i], &cell::number) += 1000;
      EXPECT_TRUE(inner == outer);
      EXPECT_FALSE(inner == committed);
    });
    expect(50);
    scute_tx* const handle = scute_tx_current(pool.native_handle());
    for (size_t i = 50; i < 75; ++i) {
      void* bytes = nullptr;
      ASSERT_EQ(scute_tx_open(handle, cells[i].oid(), &bytes), SCUTE_OK);
      static_cast<cell*>(bytes)->number += 1000;
    }
    expect(75);
    outer.destroy(cells[99]);
    EXPECT_ERRC(freed, local.get(cells[99]));
    EXPECT_ERRC(freed, before.get(cells[99]));
    const auto fresh = outer.make<cell>(uint64_t{7}, nullptr);
    EXPECT_EQ(local.get(fresh).number, 7U);
    EXPECT_EQ(before.get(fresh).number, 7U);
  });
  EXPECT_EQ(committed.get(cells[74]).number, 1074U);
  EXPECT_EQ(committed.get(cells[75]).number, 75U);
}

TEST_F(readers, end_with_their_transaction) {
  reader copy, local;
  {
    scute::transaction tx(pool);
    copy = tx;
    local = tx.local();
    EXPECT_EQ(copy.get(root).number, 0U);
    tx.commit();
    EXPECT_ERRC(notx, tx.get(root));
    EXPECT_ERRC(notx, tx.local().get(root));
  }
  EXPECT_ERRC(notx, copy.get(root));
  EXPECT_ERRC(notx, local.get(root));
  EXPECT_ERRC(notx, reader().local().get(root));
  EXPECT_TRUE(reader().local() == reader());
}

// In a pool that tests what it hands out nothing is read past the library, by no copy.
TEST_F(readers, of_a_pool_that_looks_at_every_access) {
  scute::ptr<cell> p, gone;
  pool.transact([&](scute::tx& tx) {
    p = tx.make<cell>(uint64_t{3}, nullptr);
    gone = tx.make<cell>();
  });
  pool.transact([&](scute::tx& tx) { tx.destroy(gone); });
  each([&](const reader& r, const char*) {
    if (!asks_library(r, gone.oid())) {
      EXPECT_NO_THROW(r.get(gone));  // policy default
    }
  });
  pool.close();
  pool = scute::pool::open(folder / "test.pool", {.policy = scute::policy::conservative});
  each([&](const reader& r, const char* kind) {
    SCOPED_TRACE(kind);
    EXPECT_EQ(r.get(p).number, 3U);
    EXPECT_ERRC(freed, r.get(gone));
    EXPECT_ERRC(oid, r.get(scute::ptr<cell>(p.oid() + 32)));
  });
  pool.close();
  pool = scute::pool::open(folder / "test.pool", {.account = true});
  for (const reader& r : {reader(pool), pool.local(), pool.local().local()}) {
    const uint64_t before = pool.stats().unverified_bytes;
    EXPECT_EQ(r.get(p).number, 3U);
    EXPECT_EQ(pool.stats().unverified_bytes, before + sizeof(cell));
  }
}

// Bounds of readers that were made before recovery had finished are out of date. These readers
// still work, and give the same results as those made afterwards.
TEST(readers_of_a_crashed_pool, go_on_when_recovery_has_finished) {
  struct block {
    unsigned char bytes[400];
  };
  const scute_test::temp_folder folder;
  const auto crashed = scute_test::make_crashed_pool((folder / "crashed").string());
  auto pool = scute::pool::open(crashed.path, {.lazy_recovery = true});
  const auto expect_content = [&](const reader& r) {
    for (size_t i = 0; i < crashed.oids.size(); ++i) {
      const block& b = r.get(scute::ptr<block>(crashed.oids[i]));
      EXPECT_TRUE(std::equal(crashed.contents[i].begin(), crashed.contents[i].end(), b.bytes)) << i;
    }
    EXPECT_ERRC(oid, r.get(scute::ptr<block>()));
    EXPECT_ERRC(oid, r.get(scute::ptr<block>(crashed.oids[0] + 8)));
  };
  const reader early = pool.local();
  ASSERT_GT(pool.info().unresolved, 0U);
  expect_content(early);
  EXPECT_GT(pool.info().unresolved, 0U);
  pool.wait_for_recovery();
  const reader between = pool.local();
  expect_content(early);  // and finds out that recovery has finished
  const reader late = pool.local();
  for (const reader& r : {early, between, late, reader(pool)}) {
    expect_content(r);
    EXPECT_TRUE(r == pool);
    EXPECT_TRUE(r == late);
  }
}

}  // namespace
