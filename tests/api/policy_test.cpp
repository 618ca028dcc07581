// SPDX-License-Identifier: BSD-3-Clause
//
// Which reads are verified under each policy, what is accounted for, and what the C++ interface
// does with events. The tests damage the file without the pool's knowledge.
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <scute/containers.hpp>
#include <thread>
#include <vector>

#include "api/temp_pool.hpp"
#include "support/seed.hpp"

namespace {

struct small {
  uint64_t a[8];
};
struct large {
  uint64_t a[2000];  // four fragments
};

constexpr uint64_t offset_of(scute_oid oid) {
  return oid & ((1ULL << 48) - 1);
}

class policy : public scute_test::pool_test {
 protected:
  void SetUp() override {}

  void start(scute::options how) {
    how.size = 16ULL << 20;
    how.overwrite = true;
    pool.close();
    pool = scute::pool::create(folder / "test.pool", how);
  }
  // Inverts bytes in the file, which the mapping shows at once.
  void spoil(uint64_t offset, size_t n) const {
    const int fd = ::open((folder / "test.pool").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    std::vector<unsigned char> bytes(n);
    ASSERT_EQ(::pread(fd, bytes.data(), n, static_cast<off_t>(offset)), static_cast<ssize_t>(n));
    for (unsigned char& b : bytes) b = static_cast<unsigned char>(~b);
    ASSERT_EQ(::pwrite(fd, bytes.data(), n, static_cast<off_t>(offset)), static_cast<ssize_t>(n));
    ::close(fd);
  }
  // The same place, and its parity too: beyond repair.
  void lose(uint64_t offset, size_t n) const {
    scute_location at{};
    at.struct_size = sizeof at;
    ASSERT_EQ(scute_locate(pool.native_handle(), offset, &at), 0);
    uint64_t parity = 0;
    ASSERT_EQ(scute_offset_of(pool.native_handle(), at.zone, pool.info().rows, at.column, &parity),
              0);
    spoil(offset, n);
    spoil(parity, n / 2);
  }
  template <class T>
  scute::ptr<T> make_one() {
    return pool.transact([](scute::tx& tx) {
      const auto p = tx.make<T>();
      T& object = tx.open(p);
      for (size_t i = 0; i < std::size(object.a); ++i) object.a[i] = i * 3 + 1;
      return p;
    });
  }
};

TEST_F(policy, default_gives_the_bytes_as_they_are) {
  start({});
  const auto p = make_one<small>();
  spoil(offset_of(p.oid()) + 8, 1);
  EXPECT_NE(pool.get(p).a[1], 4U);
  EXPECT_NE(static_cast<const small*>(scute_get(pool.native_handle(), p.oid()))->a[1], 4U);
  const void* bytes = nullptr;
  ASSERT_EQ(scute_get_committed(pool.native_handle(), p.oid(), 8, 8, &bytes), 0);
  EXPECT_EQ(bytes, &pool.get(p).a[1]);
  EXPECT_EQ(pool.stats().repairs, 0U);
  EXPECT_EQ(pool.get_verified(p).a[1], 4U);
  EXPECT_EQ(pool.stats().repairs, 1U);
  EXPECT_EQ(pool.info().policy, SCUTE_POLICY_DEFAULT);
}

TEST_F(policy, conservative_repairs_what_is_read) {
  start({.policy = scute::policy::conservative});
  EXPECT_EQ(pool.info().policy, SCUTE_POLICY_CONSERVATIVE);
  const auto p = make_one<small>();
  const auto big = make_one<large>();
  scute_pool* const c = pool.native_handle();

  spoil(offset_of(p.oid()) + 8, 1);
  EXPECT_EQ(pool.get(p).a[1], 4U);
  spoil(offset_of(p.oid()) + 16, 1);
  EXPECT_EQ(pool.read(p, &small::a)[2], 7U);
  spoil(offset_of(p.oid()) + 24, 1);
  EXPECT_EQ(static_cast<const small*>(scute_get(c, p.oid()))->a[3], 10U);
  EXPECT_EQ(pool.stats().repairs, 3U);

  for (const size_t i : {0U, 511U, 512U, 1100U, 1999U}) {
    spoil(offset_of(big.oid()) + i * 8, 8);
    EXPECT_EQ(pool.get(big).a[i], i * 3 + 1);
    spoil(offset_of(big.oid()) + i * 8, 8);
    const void* bytes = nullptr;
    ASSERT_EQ(scute_get_committed(c, big.oid(), i * 8, 8, &bytes), 0);
    EXPECT_EQ(*static_cast<const uint64_t*>(bytes), i * 3 + 1);
    spoil(offset_of(big.oid()) + i * 8, 8);
    EXPECT_EQ(static_cast<const large*>(scute_get(c, big.oid()))->a[i], i * 3 + 1);
  }
  // Through a transaction: the fragments after the first, too.
  for (const size_t i : {3U, 600U, 1999U}) {
    spoil(offset_of(big.oid()) + i * 8, 8);
    pool.transact([&](scute::tx& tx) { EXPECT_EQ(tx.get(big).a[i], i * 3 + 1); });
    spoil(offset_of(big.oid()) + i * 8, 8);
    pool.transact([&](scute::tx& tx) {
      EXPECT_EQ(*reinterpret_cast<const uint64_t*>(tx.bytes(big.oid(), i * 8, 8)), i * 3 + 1);
    });
  }
  EXPECT_EQ(pool.check().damaged, 0U);
}

TEST_F(policy, conservative_tests_only_the_fragments_of_a_range) {
  start({.policy = scute::policy::conservative});
  const auto big = make_one<large>();
  const uint64_t before = pool.stats().verified_bytes;
  const void* bytes = nullptr;
  ASSERT_EQ(scute_get_committed(pool.native_handle(), big.oid(), 9000, 8, &bytes), 0);
  EXPECT_EQ(pool.stats().verified_bytes - before, 4096U);
  ASSERT_EQ(scute_get(pool.native_handle(), big.oid()),
            static_cast<const std::byte*>(bytes) - 9000);
  EXPECT_EQ(pool.stats().verified_bytes - before, 4096U + sizeof(large));
  EXPECT_EQ(scute_get_committed(pool.native_handle(), big.oid(), sizeof(large) - 7, 8, &bytes),
            SCUTE_E_RANGE);
}

TEST_F(policy, conservative_refuses_what_is_lost_or_freed) {
  start({.policy = scute::policy::conservative});
  const auto p = make_one<small>(), q = make_one<small>();
  const auto big = make_one<large>();
  lose(offset_of(p.oid()) + 8, 16);
  EXPECT_ERRC(corrupt, pool.get(p));
  EXPECT_EQ(scute_get(pool.native_handle(), p.oid()), nullptr);
  EXPECT_NE(std::string(scute_errormsg()).find("cannot be rebuilt"), std::string::npos);
  EXPECT_EQ(pool.get(q).a[1], 4U) << "the rest is usable";
  lose(offset_of(big.oid()) + 8200, 16);
  EXPECT_ERRC(corrupt, pool.get(big));
  EXPECT_EQ(*reinterpret_cast<const uint64_t*>(pool.bytes(big.oid(), 8, 8)), 4U);
  EXPECT_ERRC(corrupt, pool.bytes(big.oid(), 8192, 8));
  pool.transact([&](scute::tx& tx) { EXPECT_ERRC(corrupt, tx.get(big)); });
  pool.transact([&](scute::tx& tx) { tx.destroy(q); });
  EXPECT_ERRC(freed, pool.get(q));
  EXPECT_ERRC(oid, pool.get(scute::ptr<small>()));
  EXPECT_ERRC(oid, pool.get(scute::ptr<small>(q.oid() + (64ULL << 20))));
}

TEST_F(policy, conservative_reads_committed_objects_inside_transactions) {
  start({.policy = scute::policy::conservative});
  const auto p = make_one<small>();
  pool.transact([&](scute::tx& tx) {
    tx.open(p).a[1] = 99;
    const auto fresh = tx.make<small>();
    EXPECT_EQ(pool.get(p).a[1], 4U) << "a pool shows what is committed";
    EXPECT_EQ(tx.get(p).a[1], 99U);
    EXPECT_ERRC(freed, pool.get(fresh));
    EXPECT_EQ(tx.get(fresh).a[1], 0U);
    tx.edit(fresh, &small::a)[1] = 5;
    tx.in_place(p, &small::a);  // the whole array is in the buffer already
  });
  EXPECT_EQ(pool.get(p).a[1], 99U);
  const auto q = make_one<small>();
  pool.transact([&](scute::tx& tx) {
    small& stored = tx.in_place(q);
    stored.a[2] = 77;
    EXPECT_EQ(tx.get(q).a[2], 77U);
    EXPECT_EQ(pool.get(q).a[2], 77U) << "in place is seen before the commit, and is no damage";
  });
  EXPECT_EQ(pool.check().damaged, 0U);
  EXPECT_EQ(pool.stats().repairs, 0U);
}

struct maps {
  scute::ordered_map<uint64_t, uint64_t> ordered;
  scute::hash_map<uint64_t, uint64_t> hashed;
  scute::vector<uint64_t> numbers;
  scute::string text;
};

// Every object of the containers, damaged in turn, is repaired by the reads that use it.
TEST_F(policy, conservative_containers_never_see_damage) {
  start({.policy = scute::policy::conservative});
  const auto root = pool.root<maps>();
  constexpr uint64_t count = 600;
  pool.transact([&](scute::tx& tx) {
    maps& m = tx.open(root);
    for (uint64_t i = 0; i < count; ++i) {
      m.ordered.insert_or_assign(tx, i * 7, i);
      m.hashed.insert_or_assign(tx, i * 7, i);
      m.numbers.push_back(tx, i);
    }
    m.text.assign(tx, std::string(5000, 'x'));
  });
  struct extent {
    uint64_t offset, size;
  };
  std::vector<extent> objects;
  for (const auto p : pool.objects()) {
    uint64_t size = 0;
    ASSERT_EQ(scute_object_info(pool.native_handle(), p.oid(), &size, nullptr, nullptr), 0);
    objects.push_back({offset_of(p.oid()), size});
  }
  ASSERT_GT(objects.size(), 20U);
  const auto read_all = [&] {
    const maps& m = pool.get(root);
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(*m.ordered.get(pool, i * 7), i);
      ASSERT_EQ(*m.hashed.get(pool, i * 7), i);
      ASSERT_EQ(m.numbers.at(pool, i), i);
    }
    uint64_t next = 0;
    for (const auto& [key, value] : m.ordered.scan(pool)) ASSERT_EQ(key, 7 * next++);
    ASSERT_EQ(next, count);
    ASSERT_EQ(m.text.view(pool), std::string(5000, 'x'));
  };
  read_all();
  uint64_t damaged = 0;
  for (const extent& e : objects) {
    spoil(e.offset + (damaged * 13) % (e.size - 1), 1);
    ++damaged;
    if (damaged % 5 == 0) read_all();
    if (HasFatalFailure()) return;
  }
  read_all();
  EXPECT_EQ(pool.stats().repairs, damaged) << "every one was found by reading alone";
  EXPECT_EQ(pool.check().damaged, 0U);
}

TEST_F(policy, the_account_is_exact) {
  start({.account = true});
  EXPECT_NE(pool.info().flags & SCUTE_ACCOUNT, 0U);
  const auto p = make_one<small>();
  const auto big = make_one<large>();
  scute_pool* const c = pool.native_handle();
  uint64_t expected = pool.stats().unverified_bytes;
  const auto more = [&](uint64_t n) {
    expected += n;
    EXPECT_EQ(pool.stats().unverified_bytes, expected);
  };
  more(0);
  EXPECT_EQ(pool.get(p).a[1], 4U);
  more(sizeof(small));
  scute_get(c, p.oid());
  more(sizeof(small));
  scute_get(c, big.oid());
  more(sizeof(large));
  pool.bytes(big.oid(), 100, 8);
  more(8);
  pool.get_verified(p);
  pool.get_verified(big);
  more(0);
  pool.transact([&](scute::tx& tx) {
    tx.get(p);  // an object that is only read is not verified, in a transaction either
    more(sizeof(small));
    tx.get(big);
    more(sizeof(large));
    tx.bytes(big.oid(), 4000, 200);
    more(200);
    tx.open(big);
    tx.get(big);  // its own buffer
    scute_get(c, big.oid());
    more(0);
    pool.get(p);
    more(sizeof(small));
  });
  scute_get(c, p.oid() + 8);  // no object
  more(0);
  // Even so, a damaged object is handed out as it is.
  spoil(offset_of(p.oid()) + 8, 1);
  EXPECT_NE(pool.get(p).a[1], 4U);
  more(sizeof(small));
  EXPECT_EQ(pool.stats().repairs, 0U);
  EXPECT_EQ(pool.stats().unverified_max, expected) << "no scrub has ended";
}

// "object bytes handed out untested" and "the most of them between two scrubs": both to the byte,
// whatever is read in which way.
TEST_F(policy, the_account_of_any_reads_is_exact_between_scrubs) {
  SCUTE_RANDOM(random);
  start({.account = true});
  const auto p = make_one<small>();
  const auto big = make_one<large>();
  scute_pool* const c = pool.native_handle();
  uint64_t total = pool.stats().unverified_bytes, since = total, most = 0;
  const auto take = [&](uint64_t n) { total += n, since += n; };
  for (int i = 0; i < 3000; ++i) {
    const uint64_t from = random.between(0, sizeof(large) - 1),
                   n = random.between(1, sizeof(large) - from);
    switch (random.between(0, 6)) {
      case 0: pool.get(p), take(sizeof(small)); break;
      case 1: scute_get(c, big.oid()), take(sizeof(large)); break;
      case 2: pool.bytes(big.oid(), from, n), take(n); break;
      case 3: pool.get_verified(big); break;
      case 4: {
        const void* at = nullptr;
        ASSERT_EQ(scute_get_verified(c, p.oid(), &at), SCUTE_OK);
        break;
      }
      case 5:
        pool.transact([&](scute::tx& tx) {
          tx.bytes(big.oid(), from, n), take(n);
          tx.open(p).a[0] += 1;
          tx.get(p);  // its own buffer
        });
        break;
      default:
        if (!random.one_in(40)) break;
        pool.scrub();
        most = std::max(most, since);
        since = 0;
    }
    ASSERT_EQ(pool.stats().unverified_bytes, total);
    ASSERT_EQ(pool.stats().unverified_max, std::max(most, since));
  }
}

TEST_F(policy, threads_account_together) {
  start({.account = true});
  const auto p = make_one<small>();
  const uint64_t before = pool.stats().unverified_bytes;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) pool.get(p);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(pool.stats().unverified_bytes - before, 8000 * sizeof(small));
}

TEST_F(policy, without_account_nothing_is_counted) {
  start({});
  pool.get(make_one<small>());
  EXPECT_EQ(pool.stats().unverified_bytes, 0U);
}

TEST_F(policy, conservative_hands_out_nothing_unverified) {
  start({.policy = scute::policy::conservative, .account = true});
  const auto p = make_one<small>();
  const auto big = make_one<large>();
  const uint64_t before = pool.stats().verified_bytes;
  pool.get(p);
  scute_get(pool.native_handle(), big.oid());
  EXPECT_EQ(pool.stats().verified_bytes - before, sizeof(small) + sizeof(large));
  EXPECT_EQ(pool.stats().unverified_bytes, 0U);
}

TEST_F(policy, of_a_read_only_pool) {
  start({});
  const auto p = make_one<small>();
  pool.close();
  spoil(offset_of(p.oid()) + 8, 1);
  pool = scute::pool::open(folder / "test.pool",
                           {.readonly = true, .policy = scute::policy::conservative});
  EXPECT_EQ(pool.get(p).a[1], 4U) << "repaired in private memory";
}

// ---- events -----------------------------------------------------------------------------------

TEST_F(policy, events_reach_a_function_object) {
  std::vector<scute::event> reported;
  {
    scute::options how{.policy = scute::policy::conservative};
    how.event = [&reported](const scute::event& e) { reported.push_back(e); };
    start(how);
  }  // the pool keeps a copy of its own
  const auto p = make_one<small>();
  spoil(offset_of(p.oid()) + 8, 1);
  pool.get(p);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].object, p.oid());
  scute::pool moved = std::move(pool);
  spoil(offset_of(p.oid()) + 8, 1);
  moved.get(p);
  EXPECT_EQ(reported.size(), 2U);
  const std::vector<scute::event> kept = moved.events();
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].sequence, reported[1].sequence);
  moved.close();
  pool = scute::pool::open(folder / "test.pool");
  EXPECT_EQ(pool.events().size(), 2U) << "yesterday's events can be read";
}

}  // namespace
