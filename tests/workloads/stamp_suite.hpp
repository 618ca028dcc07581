// SPDX-License-Identifier: BSD-3-Clause
// An application of STAMP on every store there is: it is played, and then asked for its result.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "workloads/stages.hpp"
#include "workloads/stamp/on_store.hpp"
#include "workloads/unlogged_stage.hpp"
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
#include "workloads/pmemobj_stage.hpp"
#endif

namespace scute::test {

struct stamp_stage_name {
  template <class Stage>
  static std::string GetName(int) {
    if constexpr (std::is_same_v<Stage, volatile_stage>)
      return "in_dram";
    else if constexpr (std::is_same_v<Stage, unlogged_stage>)
      return "unlogged";
    else if constexpr (std::is_same_v<Stage, redo_stage>)
      return "redo";
    else if constexpr (std::is_same_v<Stage, logfree_stage>)
      return "logfree";
    else if constexpr (std::is_same_v<Stage, redo_in_place_stage>)
      return "redo_in_place";
    else if constexpr (std::is_same_v<Stage, logfree_in_place_stage>)
      return "logfree_in_place";
    else if constexpr (std::is_same_v<Stage, spec_stage>)
      return "spec";
    else if constexpr (std::is_same_v<Stage, spec_none_stage>)
      return "spec_none";
    else if constexpr (std::is_same_v<Stage, spec_in_place_stage>)
      return "spec_in_place";
    else if constexpr (std::is_same_v<Stage, spec_flush_stage>)
      return "spec_flush";
    else
      return "pmemobj";
  }
};
using stamp_stages = ::testing::Types<volatile_stage, unlogged_stage, redo_stage, logfree_stage,
                                      redo_in_place_stage, logfree_in_place_stage, spec_stage,
                                      spec_none_stage, spec_in_place_stage, spec_flush_stage
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
                                      ,
                                      pmemobj_stage
#endif
                                      >;

template <class Stage>
class stamp_suite : public ::testing::Test {
 protected:
  template <class Input>
  using application =
      typename workloads::stamp::application_for<Input>::template on<typename Stage::store_type>;

  // expect(application) compares the result with what it should be.
  template <class Input, class Expect>
  void play(const Input& input, unsigned threads, Expect&& expect) {
    {
      application<Input> a(stage.store(), input, threads);
      a.prepare();
      std::vector<uint64_t> transactions(threads);
      {
        std::vector<std::jthread> crew;
        for (unsigned t = 1; t < threads; ++t)
          crew.emplace_back([&, t] { transactions[t] = a.run(t); });
        transactions[0] = a.run(0);
      }
      EXPECT_GT(transactions[0], 0U);
      EXPECT_EQ(a.check(), "");
      expect(a);
      a.clear();
    }
    if (const auto left = stage.objects()) {
      EXPECT_EQ(*left, 0U) << "objects that clear() does not free";
    }
    stage.verify();
  }

  Stage stage;
};

}  // namespace scute::test
