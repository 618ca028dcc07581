// SPDX-License-Identifier: BSD-3-Clause
// A pool gets another engine: objects stay, and every engine continues with the state that the
// others have left.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <tuple>
#include <vector>

#include "support/pool_file.hpp"
#include "support/wait.hpp"

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

class killed_switch : public testing::TestWithParam<std::tuple<scute_medium, uint32_t>> {
 protected:
  struct choice {
    scute_engine engine;
    uint64_t cap;
  };
  // Another engine, or the same one with a log of another size: then the old log goes first.
  std::vector<choice> choices() const {
    std::vector<choice> w{{SCUTE_ENGINE_SPEC, 0},         {SCUTE_ENGINE_LOGFREE, 0},
                          {SCUTE_ENGINE_SPEC, 768 * kib}, {SCUTE_ENGINE_SPEC, mib},
                          {SCUTE_ENGINE_SPEC, 512 * kib}, {SCUTE_ENGINE_LOGFREE, 0}};
    if (parities() == 1) w.push_back({SCUTE_ENGINE_REDO, 0});
    return w;
  }
  uint32_t parities() const { return std::get<1>(GetParam()); }
  scute_options with(const choice& w) const {
    scute_options o;
    scute_options_init(&o);
    o.medium = std::get<0>(GetParam());
    o.log_cap = w.cap;
    return o;
  }
  int set(const pool_file& pool, const choice& w) const {
    const scute_options o = with(w);
    return scute_set_engine(pool.path.c_str(), &o, w.engine);
  }
  static constexpr uint64_t when_done = UINT64_MAX;
  // Kills a process that does it, some time into it. True if it had done it.
  bool killed(const pool_file& pool, const choice& w, uint64_t after_us) const {
    int done[2];
    EXPECT_EQ(::pipe(done), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const char is = set(pool, w) == SCUTE_OK ? 'y' : 'n';
      if (::write(done[1], &is, 1) != 1) ::_exit(1);
      ::pause();
    }
    ::close(done[1]);
    char is = 0;
    bool over = false;
    if (after_us == when_done)
      over = ::read(done[0], &is, 1) == 1;
    else
      pause(std::chrono::microseconds(after_us));
    ::kill(child, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    over = over || ::read(done[0], &is, 1) == 1;
    ::close(done[0]);
    EXPECT_TRUE(!over || is == 'y');
    return over;
  }
};

// A kill leaves a pool of the engine before, or of the one after, with everything in it. It may
// also leave one in between (GOAL-3).
TEST_P(killed_switch, LeavesAWholePool) {
  pool_file pool;
  scute_options o = options(6 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, parities()});
  o.medium = std::get<0>(GetParam());
  o.lanes = 4;
  pool.create(o);
  content all_of_it;
  all_of_it.add(pool, 60);
  const std::vector<choice> all_choices = choices();
  // How long they take here.
  pool.close();
  const auto begin = std::chrono::steady_clock::now();
  for (const choice& w : all_choices) SCUTE_OKAY(set(pool, w));
  const auto each = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                              std::chrono::steady_clock::now() - begin)
                                              .count()) /
                    all_choices.size();
  pool.open();
  auto before = static_cast<scute_engine>(pool.info().engine);
  unsigned cut_short = 0, done = 0;
  for (unsigned round = 0; round < 70; ++round) {
    const choice& w = all_choices[round % all_choices.size()];
    pool.close();
    const bool over =
        killed(pool, w, round % 10 == 9 ? when_done : each * 2 * (round * 7 % 20) / 20);
    ++(over ? done : cut_short);
    pool.open();
    const auto now = static_cast<scute_engine>(pool.info().engine);
    if (over) {
      EXPECT_EQ(now, w.engine);
    } else {
      EXPECT_TRUE(now == before || now == w.engine) << now;
    }
    all_of_it.change(pool, round);
    all_of_it.add(pool, 1);
    all_of_it.expect_in(pool);
    before = now;
  }
  std::printf("%u cut short, %u done\n", cut_short, done);
  EXPECT_GT(cut_short, 0u);
  EXPECT_GT(done, 0u);
}

INSTANTIATE_TEST_SUITE_P(On, killed_switch,
                         testing::Combine(testing::Values(SCUTE_MEDIUM_AUTO, SCUTE_MEDIUM_FILE),
                                          testing::Values(1u, 2u, 4u)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param) == SCUTE_MEDIUM_FILE
                                                  ? "file"
                                                  : "memory") +
                                  std::to_string(std::get<1>(p.param));
                         });

// A log that the engine does not have cannot be of any size.
TEST(engine_switch, ACapIsForALog) {
  pool_file pool;
  scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
  o.log_cap = mib;
  EXPECT_EQ(scute_create(pool.path.c_str(), &o, &pool.pool), SCUTE_E_INVALID);
  EXPECT_NE(std::string(scute_errormsg()).find("log-cap"), std::string::npos);
  EXPECT_NE(::access(pool.path.c_str(), F_OK), 0);
  o.log_cap = 0;
  pool.create(o);
  pool.close();
  o.log_cap = mib;
  EXPECT_EQ(scute_set_engine(pool.path.c_str(), &o, SCUTE_ENGINE_LOGFREE), SCUTE_E_INVALID);
  pool.open();
  EXPECT_EQ(pool.info().engine, SCUTE_ENGINE_REDO);
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
