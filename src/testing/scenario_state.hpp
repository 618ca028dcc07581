// SPDX-License-Identifier: BSD-3-Clause
// What scenario, thread and stage of scute/testing.hpp hold.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scute/testing.hpp"
#include "testing/trace.hpp"

namespace scute::testing::detail {

struct step {
  std::string what;
  std::function<void(const stage&)> body;
};

struct thread_plan {
  std::vector<step> steps;
  std::function<std::string(scute::pool&)> observe;
};

struct scenario_state {
  std::string name;
  scute_options options{};
  std::function<void(scute::pool&)> setup;
  std::function<void(scute::pool&)> probe;
  std::vector<thread_plan> threads{1};
  bool without_pool = false;
  bool lanes_in_turn = false;
  bool may_run_full = false;
  bool may_lose = false;
  unsigned locks = 0;  // 0: as many as there are

  static const scenario_state& of(const scenario& s) noexcept { return *s.state_; }
};

// A pool on a simulated memory, during setup and recording.
class stage_state {
 public:
  stage_state(model::simulated_memory& m, const scute_options& o, uint64_t identity)
      : memory(m), options(o), seed(identity) {}
  ~stage_state() { abandon(); }
  stage_state(const stage_state&) = delete;
  stage_state& operator=(const stage_state&) = delete;

  scute::pool& need();
  void create();
  void open();
  void close();
  void abandon() noexcept;

  model::simulated_memory& memory;
  recorder* record = nullptr;
  const scute_options options;
  const uint64_t seed;  // of the pool's identity
  std::optional<scute::pool> pool;
  bool damaged = false;  // by the scenario
};

}  // namespace scute::testing::detail
