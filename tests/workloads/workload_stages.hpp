// SPDX-License-Identifier: BSD-3-Clause
// The stages of code that is written for POW files as well: stores that come and go with a lock
// among them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>

#include "workloads/section_store.hpp"
#include "workloads/stages.hpp"
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
#include "workloads/pmemobj_stage.hpp"
#endif

namespace scute::test {

// See stages.hpp.
class section_stage {
 public:
  using store_type = section_store;
  static constexpr bool aborts = true;

  store_type& store() { return store_; }
  void reopen() { store_.back_to(store_.sections()); }
  std::optional<size_t> objects() const { return store_.objects(); }
  void verify() { EXPECT_EQ(store_.differs(), ""); }

 private:
  store_type store_;
};

struct workload_stage_name {
  template <class Stage>
  static std::string GetName(int) {
    if constexpr (std::is_same_v<Stage, volatile_stage>)
      return "in_dram";
    else if constexpr (std::is_same_v<Stage, section_stage>)
      return "in_sections";
    else if constexpr (std::is_same_v<Stage, redo_stage>)
      return "redo";
    else if constexpr (std::is_same_v<Stage, logfree_stage>)
      return "logfree";
    else if constexpr (std::is_same_v<Stage, spec_stage>)
      return "spec";
    else
      return "in_pmemobj";
  }
};
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
using workload_stages = ::testing::Types<volatile_stage, section_stage, redo_stage, logfree_stage,
                                         spec_stage, pmemobj_stage>;
#else
using workload_stages =
    ::testing::Types<volatile_stage, section_stage, redo_stage, logfree_stage, spec_stage>;
#endif

}  // namespace scute::test
