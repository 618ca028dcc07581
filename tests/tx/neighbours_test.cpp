// SPDX-License-Identifier: BSD-3-Clause
// Threads whose log-free transactions meet in the same column blocks: neighbours in a block, the
// same columns of several rows, births and deaths between them, damage that is repaired and a scrub
// meanwhile. Each thread has objects of its own and a model of them; the pool must agree with all
// models, in the session and in the next one.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class neighbours : public testing::TestWithParam<std::tuple<scute_engine, bool>> {
 protected:
  using model = std::map<scute_oid, bytes>;

  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, std::get<0>(GetParam())});
    if (std::get<1>(GetParam())) o.flags |= SCUTE_PLAIN_ENCODING;
    o.rows = 16;  // short rows: objects of all threads share columns
    o.lanes = 6;
    f.create(o);
    // Turn by turn, so that neighbours belong to different threads.
    for (uint64_t i = 0; i < 300; ++i) {
      const bytes content = pattern(i, sizes[i % sizes.size()]);
      const scute_oid oid = f.alloc(content);
      ASSERT_NE(oid, 0u) << scute_errormsg();
      models[i % threads][oid] = content;
    }
  }

  // One transaction of a thread. Returns false if the library said something unexpected.
  bool step(random_source& random, model& mine) {
    model next = mine;
    scute_tx* tx = nullptr;
    if (scute_tx_begin(f, &tx) != 0) return false;
    bool okay = true;
    for (uint64_t k = random.between(1, 4); k != 0 && okay; --k) okay = change(random, tx, next);
    if (!okay || random.one_in(12)) return scute_tx_abort(tx) == 0 && okay;
    const int e = scute_tx_commit(tx);
    if (e == 0) mine = std::move(next);
    // Aborted, since a page that it had stored to in place was lost with the stores.
    if (e == lost_in_place) ++retries;
    return e == 0 || e == lost_in_place;
  }

  bool change(random_source& random, scute_tx* tx, model& next) {
    void* p = nullptr;
    if (random.one_in(6)) {
      const bytes content = pattern(random.word(), random.size(3000));
      scute_oid oid = 0;
      if (scute_tx_alloc(tx, content.size(), 1, &oid, &p) != 0) return false;
      std::memcpy(p, content.data(), content.size());
      next[oid] = content;
      return true;
    }
    if (next.size() < 5) return true;
    auto it = next.begin();
    std::advance(it, static_cast<long>(random.between(0, next.size() - 1)));
    auto& [oid, content] = *it;
    if (next.size() > 40 && random.one_in(4)) {
      const int e = scute_tx_free(tx, oid);
      if (e == SCUTE_E_INVALID) return true;  // opened in place by this transaction
      next.erase(it);
      return e == 0;
    }
    const uint64_t n = random.size(content.size()), at = random.between(0, content.size() - n);
    const int e = random.one_in(5) ? scute_tx_inplace(tx, oid, at, n, &p)
                                   : scute_tx_add_range(tx, oid, at, n, &p);
    if (e == SCUTE_E_INVALID || e == SCUTE_E_NOSPC) return true;  // mixes of both; room for undo
    if (e != 0 || std::memcmp(p, content.data() + at, n) != 0) return false;
    const bytes fresh = pattern(random.word(), n);
    std::memcpy(p, fresh.data(), n);
    std::copy(fresh.begin(), fresh.end(), content.begin() + static_cast<long>(at));
    return true;
  }

  void work(const std::function<bool()>& over) {
    SCUTE_RANDOM(random);
    std::vector<std::unique_ptr<random_source>> sources;
    for (size_t t = 0; t < threads; ++t) sources.push_back(std::make_unique<random_source>(random));
    std::vector<std::thread> running;
    for (size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        while (wrong == 0 && !over()) {
          if (!step(*sources[t], models[t])) {
            ++wrong;
            const std::lock_guard hold(message_mutex);
            message = scute_errormsg();
          }
          ++done;
        }
      });
    for (auto& t : running) t.join();
  }

  void expect_models() {
    uint64_t objects = 0;
    for (const model& m : models) {
      objects += m.size();
      for (const auto& [oid, content] : m)
        ASSERT_TRUE(f.read(oid) == content) << f.offset_of(oid) << ", " << content.size();
    }
    EXPECT_EQ(f.objects(), objects);
  }
  void expect_all_right() {
    EXPECT_EQ(wrong, 0) << message;
    for (const bool again : {false, true}) {
      if (again) f.reopen();
      expect_models();
      f.expect_sound();
      if (HasFailure()) return;
    }
    EXPECT_EQ(f.info().unresolved, 0u);
  }

  static constexpr int lost_in_place = SCUTE_E_CORRUPT;
  static constexpr size_t threads = 4;
  static constexpr std::array<size_t, 5> sizes{24, 100, 700, 3000, 9000};
  pool_file f;
  std::array<model, threads> models;
  std::atomic<int> wrong{0};
  std::atomic<uint64_t> done{0}, retries{0};
  std::mutex message_mutex;
  std::string message;
};

TEST_P(neighbours, KeepApart) {
  const bool drains = std::get<0>(GetParam()) == SCUTE_ENGINE_LOGFREE;
  work([&] { return done >= 150'000 && (!drains || f.stats().drains != 0); });
  EXPECT_EQ(retries, 0u);
  expect_all_right();
}

// A scrub runs all the time, and pages are lost, one after the other.
TEST_P(neighbours, WhileAScrubRunsAndPagesAreLost) {
  std::atomic<bool> over{false};
  std::thread repairer([&] {
    const auto& g = f.in().s.geo;
    uint64_t scrubs = 0, page = 0;
    while (scrubs < 1000 && wrong == 0) {
      const bytes noise = pattern(page, 4096);
      const uint64_t at = g.zones_offset + page * 4096;
      page = (page + 37) % ((g.zones_end() - g.zones_offset) / 4096);
      f.in().pages->lose(at, reinterpret_cast<const std::byte*>(noise.data()));
      scute_report r{};
      r.struct_size = sizeof r;
      scute_scrub_options o;
      scute_scrub_options_init(&o);
      o.threads = 1;
      if (scute_scrub(f, &o, &r) != 0 || r.lost != 0) ++wrong;
      ++scrubs;
    }
    over = true;
  });
  work([&] { return over.load(); });
  repairer.join();
  EXPECT_GT(f.info().pages_repaired, 0u);
  EXPECT_EQ(f.info().lost, 0u);
  expect_all_right();
}

INSTANTIATE_TEST_SUITE_P(Engine, neighbours,
                         testing::Values(std::tuple(SCUTE_ENGINE_REDO, false),
                                         std::tuple(SCUTE_ENGINE_LOGFREE, false),
                                         std::tuple(SCUTE_ENGINE_LOGFREE, true)),
                         [](const auto& p) -> std::string {
                           if (std::get<0>(p.param) == SCUTE_ENGINE_REDO) return "redo";
                           return std::get<1>(p.param) ? "plain" : "logfree";
                         });

}  // namespace
}  // namespace scute::test
