// SPDX-License-Identifier: BSD-3-Clause
// The writes of a persist-on-write store for the objects of workloads, in each of its ways. A
// section that throws leaves nothing. Also tests where the objects are.
#include "workloads/stores/pow_store.hpp"

#include <gtest/gtest.h>

#include <memory_resource>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/scratch.hpp"
#include "workloads/maps/locked_hashmap.hpp"
#include "workloads/maps/paper_sizes.hpp"

namespace scute::test {
namespace {

using workloads::pow_store;
using workloads::pow_ways;

struct odd {
  uint64_t words[13];  // 104 bytes: two lines if padded
};
struct root {
  pow_store::ptr<odd> object;
};

// Counts what it hands out.
class counting_resource final : public std::pmr::memory_resource {
 public:
  size_t given = 0, out = 0;

 private:
  void* do_allocate(size_t n, size_t alignment) override {
    ++given;
    ++out;
    return std::pmr::new_delete_resource()->allocate(n, alignment);
  }
  void do_deallocate(void* p, size_t n, size_t alignment) override {
    --out;
    std::pmr::new_delete_resource()->deallocate(p, n, alignment);
  }
  bool do_is_equal(const memory_resource& o) const noexcept override { return this == &o; }
};

pow::options new_file() {
  pow::options o;
  o.flags = SCUTE_POW_NEW | SCUTE_POW_NO_CLEANER;
  o.medium = SCUTE_MEDIUM_RAM;
  o.protection = SCUTE_POW_NONE;
  return o;
}

class pow_workload : public ::testing::TestWithParam<pow_ways> {
 protected:
  scratch dir_;
  std::string path_ = dir_.file("pow");
  counting_resource resource_;
};

TEST_P(pow_workload, writes_what_changed_in_its_way) {
  pow_ways ways = GetParam();
  ways.data = &resource_;
  pow::store db(path_, new_file());
  {
    pow_store s(db, ways);
    const auto at = s.root<root>();
    s.transact([&](pow_store::tx& t) { t.edit(at, &root::object) = t.make<odd>().at; });
    const auto object = s.view().get(at).object;
    EXPECT_EQ(resource_.given, 2U);
    const scute_pow_info before = db.info();
    s.transact([&](pow_store::tx& t) {
      t.edit(object, &odd::words, 3) = 7;
      t.edit(object, &odd::words, 9) = 8;
    });
    const scute_pow_info after = db.info();
    EXPECT_EQ(after.sections - before.sections, 1U);
    // A head of 32, one of 16, the object: whole, once.
    EXPECT_EQ(after.bytes_written - before.bytes_written, 48U + (ways.padded ? 128U : 104U));
    EXPECT_EQ(after.fences - before.fences, 1U);
    // A section that throws leaves the object, and takes back what it has made.
    EXPECT_THROW(s.transact([&](pow_store::tx& t) {
      t.edit(object, &odd::words, 3) = 9;
      t.make<odd>();
      throw std::runtime_error("in a section");
    }),
                 std::runtime_error);
    EXPECT_EQ(s.view().get(object).words[3], 7U);
    EXPECT_EQ(resource_.out, 2U);
    // All that was written is what the memory has.
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    s.transact([&](pow_store::tx& t) { t.destroy(object); });
    EXPECT_EQ(resource_.out, 1U);
  }
  EXPECT_EQ(resource_.out, 0U);
}

TEST_P(pow_workload, carries_a_map) {
  using map = workloads::locked_hashmap<pow_store, workloads::payload<8>>;
  pow::store db(path_, new_file());
  pow_store s(db, GetParam());
  map m(s, s.root<map::root>());
  for (uint64_t i = 0; i < 1000; ++i) m.insert(i, map::value::of(i));
  EXPECT_EQ(m.check(), "");
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  s.transact([&](pow_store::tx& t) { map::map(s.root<map::root>()).clear(t); });
}

INSTANTIATE_TEST_SUITE_P(ways, pow_workload,
                         ::testing::Values(pow_ways{false, false, nullptr},
                                           pow_ways{false, true, nullptr},
                                           pow_ways{true, false, nullptr},
                                           pow_ways{true, true, nullptr}),
                         [](const auto& one) {
                           return std::string(one.param.cached ? "cached" : "streamed") +
                                  (one.param.padded ? "_padded" : "");
                         });

}  // namespace
}  // namespace scute::test
