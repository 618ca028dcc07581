// SPDX-License-Identifier: BSD-3-Clause
// scute::pool as a subject of the explorer: the first one, and the one with which the library
// itself is explored.
//
// This header and pool_scenario.cpp use the C++ interface; the rest of the folder uses the core.
// Both have the same names (scute::pool, scute::medium) for different things, so no file may
// include both.
#pragma once

#include <optional>

#include "scute/testing.hpp"

namespace scute::testing {

namespace detail {
// How a scenario's pools are made.
struct pool_recipe {
  scute_options options{};
  unsigned locks = 0;            // of column blocks; 0: the default
  bool log_file = false;         // there is room for one next to the pool
  uint64_t resolve_at_once = 0;  // blocks that a checkpoint resolves at once; 0: the default
};
}  // namespace detail

class pool_subject final : public subject {
 public:
  // While an object lives, all pools share as many locks as the recipe says, and resolve as many
  // blocks at once. So lifetimes of two such objects must be nested or disjoint.
  explicit pool_subject(const detail::pool_recipe& recipe);
  ~pool_subject() override;

  uint64_t size() const override;
  // The seed gives the pool's identity.
  void create(memory& m, uint64_t seed) override;
  void open(memory& m) override;
  findings check(bool repair) override;
  // Allocates, writes, reads and frees an object.
  void probe() override;
  void close() override;
  void abandon() noexcept override;

  std::string noun() const override { return "pool"; }
  std::string place(std::span<const std::byte> image, uint64_t offset) const override;
  std::string recovered() override;
  // Threads are identified by the lanes that they take.
  void act_as(unsigned thread) noexcept override;
  bool ran_full(const std::exception& error) const noexcept override;
  void drain() override;
  bool takes_faults() const noexcept override { return true; }
  injury injure(fault_moment when, std::span<const std::byte> image,
                uint64_t number) const override;
  void lose_page(uint64_t offset) override;

  // Only while it is open.
  scute::pool& pool() noexcept { return *pool_; }

 private:
  const scute_options options_;
  const bool log_file_;
  const unsigned locks_before_;
  const uint64_t at_once_before_;
  std::optional<scute::pool> pool_;
};

}  // namespace scute::testing
