// SPDX-License-Identifier: BSD-3-Clause
// A libpmemobj pool as a stage; see stages.hpp.
#pragma once

#include <libpmemobj.h>

#include <optional>
#include <stdexcept>

#include "api/temp_pool.hpp"
#include "workloads/stores/pmemobj_store.hpp"

namespace scute::test {

template <class Store>
class pmemobj_stage_of {
 public:
  using store_type = Store;
  static constexpr bool aborts = true;

  pmemobj_stage_of() : pool_(must(pmemobj_create(path().c_str(), layout, 64ULL << 20, 0600))) {}
  ~pmemobj_stage_of() {
    if (pool_ != nullptr) pmemobj_close(pool_);
  }
  pmemobj_stage_of(const pmemobj_stage_of&) = delete;
  pmemobj_stage_of& operator=(const pmemobj_stage_of&) = delete;

  store_type& store() {
    if (!store_) store_.emplace(pool_);
    return *store_;
  }
  void reopen() {
    store_.reset();
    pmemobj_close(std::exchange(pool_, nullptr));
    pool_ = must(pmemobj_open(path().c_str(), layout));
  }
  // The root is none that pmemobj_first() finds.
  std::optional<size_t> objects() const {
    size_t n = 0;
    for (PMEMoid at = pmemobj_first(pool_); !OID_IS_NULL(at); at = pmemobj_next(at)) ++n;
    return n;
  }
  void verify() {
    store_.reset();
    pmemobj_close(std::exchange(pool_, nullptr));
    EXPECT_EQ(pmemobj_check(path().c_str(), layout), 1) << pmemobj_errormsg();
    pool_ = must(pmemobj_open(path().c_str(), layout));
  }

 private:
  static constexpr const char* layout = "scute-test";

  static PMEMobjpool* must(PMEMobjpool* pool) {
    if (pool == nullptr) throw std::runtime_error(pmemobj_errormsg());
    return pool;
  }
  std::string path() const { return (folder_ / "test.pmemobj").string(); }

  scute_test::temp_folder folder_;
  PMEMobjpool* pool_;
  std::optional<store_type> store_;
};

using pmemobj_stage = pmemobj_stage_of<workloads::pmemobj_store>;
using pmemobj_elements_stage = pmemobj_stage_of<workloads::pmemobj_elements_store>;

}  // namespace scute::test
