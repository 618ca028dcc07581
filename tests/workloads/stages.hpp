// SPDX-License-Identifier: BSD-3-Clause
// Stages: a store that a test can reopen, and what is known of it besides.
//   aborts     transactions can be abandoned
//   reopen()   what is there is found again, if the store lasts
//   objects()  how many there are besides the root; nothing where they are not counted
//   verify()   fails the test if the store itself is not sound
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <scute/scute.hpp>

#include "api/temp_pool.hpp"
#include "core/medium/persist.hpp"
#include "workloads/stores/flushing_store.hpp"
#include "workloads/stores/scute_store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::test {

class volatile_stage {
 public:
  using store_type = workloads::volatile_store;
  static constexpr bool aborts = false;

  store_type& store() { return store_; }
  void reopen() {}
  static std::optional<size_t> objects() { return std::nullopt; }
  void verify() {}

 private:
  store_type store_;
};

template <engine E, class Store = workloads::scute_store, protection P = protection::mlpc>
class scute_stage {
 public:
  using store_type = Store;
  static constexpr bool aborts = true;

  explicit scute_stage(scute::options how = {}) {
    how.size = 32ULL << 20;
    how.engine = E;
    how.protection = P;
    pool_ = scute::pool::create(path(), how);
    how_ = how;
  }
  std::filesystem::path path() const { return folder_ / "test.pool"; }
  const scute::pool& pool() const { return pool_; }
  store_type& store() { return store_; }

  void close() { pool_.close(); }
  void open() { pool_ = scute::pool::open(path(), how_); }
  void reopen() {
    close();
    open();
  }
  std::optional<size_t> objects() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto p : pool_.objects()) ++n;
    return n - 1;
  }
  void verify() {
    EXPECT_EQ(
        pool_.check(false, [](std::string_view what, auto...) { ADD_FAILURE() << what; }).damaged,
        0U);
  }

 private:
  scute_test::temp_folder folder_;
  scute::options how_;
  scute::pool pool_;
  store_type store_{pool_};
};

using redo_stage = scute_stage<engine::redo>;
using logfree_stage = scute_stage<engine::logfree>;
using redo_in_place_stage = scute_stage<engine::redo, workloads::scute_in_place_store>;
using spec_stage = scute_stage<engine::spec>;
using spec_none_stage = scute_stage<engine::spec, workloads::scute_store, protection::none>;
using spec_in_place_stage = scute_stage<engine::spec, workloads::scute_in_place_store>;
// SpecPMT's variant with data written back, which the benchmarks compare.
class flushing_here : public workloads::flushing_store {
 public:
  explicit flushing_here(scute::pool& pool)
      : flushing_store(pool, {core::medium::persist().flush, core::medium::persist().fence}) {}
};
using spec_flush_stage = scute_stage<engine::spec, flushing_here, protection::none>;
using logfree_in_place_stage = scute_stage<engine::logfree, workloads::scute_in_place_store>;

}  // namespace scute::test
