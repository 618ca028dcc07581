// SPDX-License-Identifier: BSD-3-Clause
// A pool gets another engine: objects stay, and every engine goes on with what the others have left.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

constexpr scute_engine all[] = {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC};

struct content {
  std::vector<std::pair<scute_oid, bytes>> objects;

  void add(pool_file& pool, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      const bytes b = pattern(objects.size(), 10 + objects.size() * 97 % 5000);
      objects.push_back({pool.alloc(b), b});
    }
  }
  void change(pool_file& pool, unsigned by) {
    for (size_t i = by % 3; i < objects.size(); i += 3) {
      objects[i].second = pattern(by * 1000 + i, objects[i].second.size());
      pool.overwrite(objects[i].first, objects[i].second);
    }
    SCUTE_OKAY(pool.free(objects.back().first));
    objects.pop_back();
  }
  void expect_in(pool_file& pool) {
    for (const auto& [oid, b] : objects) EXPECT_EQ(pool.read(oid), b);
    EXPECT_EQ(pool.objects(), objects.size());
    pool.expect_sound();
  }
};

TEST(engine_switch, AnyToAny) {
  for (const scute_engine first : all) {
    pool_file pool;
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, first});
    o.lanes = 4;
    pool.create(o);
    content all_of_it;
    all_of_it.add(pool, 40);
    unsigned round = 0;
    for (const scute_engine a : all)
      for (const scute_engine b : all) {
        for (const scute_engine to : {a, b}) {
          pool.close();
          SCUTE_OKAY(scute_set_engine(pool.path.c_str(), nullptr, to));
          pool.open();
          EXPECT_EQ(pool.info().engine, to);
          all_of_it.expect_in(pool);
          all_of_it.add(pool, 3);
          all_of_it.change(pool, ++round);
          all_of_it.expect_in(pool);
        }
      }
  }
}

// What a kill leaves is a pool of either engine, with everything in it.
TEST(engine_switch, KilledAnywhere) {
  pool_file pool;
  scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
  o.lanes = 4;
  pool.create(o);
  content all_of_it;
  all_of_it.add(pool, 60);
  for (unsigned round = 0; round < 60; ++round) {
    const scute_engine to = all[round * 7 % 3];
    pool.close();
    const pid_t child = ::fork();
    if (child == 0) {
      if (scute_set_engine(pool.path.c_str(), nullptr, to) != SCUTE_OK) ::_exit(1);
      ::pause();
    }
    ::usleep(round % 20 * 150);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    pool.open();
    all_of_it.change(pool, round);
    all_of_it.add(pool, 1);
    all_of_it.expect_in(pool);
  }
}

TEST(engine_switch, IsRefused) {
  pool_file pool;
  pool.create(mib, {SCUTE_PROTECT_MLP});
  EXPECT_EQ(scute_set_engine(pool.path.c_str(), nullptr, SCUTE_ENGINE_SPEC), SCUTE_E_BUSY);
  pool.close();
  EXPECT_EQ(scute_set_engine(pool.path.c_str(), nullptr, SCUTE_ENGINE_LOGFREE), SCUTE_E_INVALID);
  EXPECT_NE(std::string(scute_errormsg()).find("protection"), std::string::npos);
  pool_file several;
  several.create(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 2});
  several.close();
  EXPECT_EQ(scute_set_engine(several.path.c_str(), nullptr, SCUTE_ENGINE_REDO), SCUTE_E_INVALID);
  SCUTE_OKAY(scute_set_engine(several.path.c_str(), nullptr, SCUTE_ENGINE_SPEC));
  several.open();
  EXPECT_EQ(several.info().engine, SCUTE_ENGINE_SPEC);
  pool.open();
}

// A log of another size that cannot be made leaves the one that there was.
TEST(engine_switch, WithoutRoomForALargerLog) {
  pool_file pool;
  pool.create(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  content all_of_it;
  all_of_it.add(pool, 40);
  const uint64_t cap = pool.info().log_cap;
  scute_options o;
  scute_options_init(&o);
  for (const auto& [log_cap, error] :
       {std::pair{mib + mib / 2, SCUTE_E_NOSPC}, std::pair{64 * mib, SCUTE_E_RANGE}}) {
    pool.close();
    o.log_cap = log_cap;
    EXPECT_EQ(scute_set_engine(pool.path.c_str(), &o, SCUTE_ENGINE_SPEC), error);
    pool.open();
    EXPECT_EQ(pool.info().engine, SCUTE_ENGINE_SPEC);
    EXPECT_EQ(pool.info().log_cap, cap);
    all_of_it.change(pool, 1);
    all_of_it.expect_in(pool);
    pool.expect_sound();
  }
}

// A pool that has no room for a log keeps its engine, and everything else.
TEST(engine_switch, WithoutRoomForALog) {
  pool_file pool;
  pool.create(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
  content all_of_it;
  for (;;) {
    scute_tx* tx = nullptr;
    scute_oid oid = 0;
    void* to = nullptr;
    SCUTE_OKAY(scute_tx_begin(pool, &tx));
    const int e = scute_tx_alloc(tx, 4000, 1, &oid, &to);
    if (e != SCUTE_OK) {
      EXPECT_EQ(e, SCUTE_E_NOSPC);
      scute_tx_abort(tx);
      break;
    }
    const bytes b = pattern(all_of_it.objects.size(), 4000);
    std::memcpy(to, b.data(), b.size());
    // Where no chunk is left, its log may have no room.
    if (scute_tx_commit(tx) != SCUTE_OK) break;
    all_of_it.objects.push_back({oid, b});
  }
  pool.close();
  EXPECT_EQ(scute_set_engine(pool.path.c_str(), nullptr, SCUTE_ENGINE_SPEC), SCUTE_E_NOSPC);
  pool.open();
  EXPECT_EQ(pool.info().engine, SCUTE_ENGINE_REDO);
  all_of_it.expect_in(pool);
}

}  // namespace
}  // namespace scute::test
