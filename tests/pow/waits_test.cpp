// SPDX-License-Identifier: BSD-3-Clause
// A thread of a store that waits for another one sleeps, as one of a pool does
// (engine/waits_test.cpp).
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <optional>

#include "c_api/pow/handles.hpp"
#include "pow/store.hpp"
#include "support/scratch.hpp"
#include "support/sleeper.hpp"

namespace scute::test {
namespace {

class pow_waits : public ::testing::TestWithParam<scute_pow_protection> {
 protected:
  void SetUp() override {
    pow::options o;
    o.medium = SCUTE_MEDIUM_FILE;  // so that all threads have one stream
    o.protection = GetParam();
    o.segment_size = 9 * 4096;
    o.size = o.segment_size * 8;
    o.flags = SCUTE_POW_NO_CLEANER;
    db.emplace(folder.file("store"), o);
    all.emplace(*db, "all");
    edit(1);
  }
  void edit(int to) {
    auto s = db->begin(pow::strict, lock);
    all->edit(7) = to;
    s.commit();
  }
  core::pow::state& parts() { return db->native_handle()->in->parts(); }

  scratch folder;
  std::mutex lock;
  std::optional<pow::store> db;
  std::optional<pow::map<int, int>> all;
};
INSTANTIATE_TEST_SUITE_P(, pow_waits,
                         ::testing::Values(SCUTE_POW_NONE, SCUTE_POW_SEALED, SCUTE_POW_ALWAYS));

TEST_P(pow_waits, ForTheStreamOfAllThreads) {
  ASSERT_TRUE(parts().limit.one_stream);
  parts().stream_lock.lock();
  expect_sleeper([&] { edit(2); }, [&] { parts().stream_lock.unlock(); });
  EXPECT_EQ(2, all->at(7));
}

TEST_P(pow_waits, ForTheCleaner) {
  parts().clean_lock.lock();
  expect_sleeper([&] { db->clean(1); }, [&] { parts().clean_lock.unlock(); });
  EXPECT_EQ(0U, db->check(SCUTE_POW_COMPARE));
}

TEST_P(pow_waits, ForAPauseOfSections) {
  std::optional<core::pow::state::pause> all_sections(parts());
  expect_sleeper([&] { edit(3); }, [&] { all_sections.reset(); });
  EXPECT_EQ(3, all->at(7));
}

TEST_P(pow_waits, ForAnObject) {
  core::pow::entry* object = nullptr;
  for (uint32_t i = 1; object == nullptr && i < core::pow::tables_max; ++i)
    if (const auto* const t = parts().find_table(i); t != nullptr && t->name == "all")
      object = t->find(t->high() - 1);
  ASSERT_NE(nullptr, object);
  std::optional<core::pow::entry_guard> held(*object);
  expect_sleeper([&] { edit(4); }, [&] { held.reset(); });
  EXPECT_EQ(4, all->at(7));
}

}  // namespace
}  // namespace scute::test
