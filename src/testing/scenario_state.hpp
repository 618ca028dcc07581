// SPDX-License-Identifier: BSD-3-Clause
// The state of scenarios, threads and stages of scute/exploration.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scute/exploration.hpp"
#include "testing/trace.hpp"

namespace scute::testing::detail {

struct step {
  std::string what;
  std::function<void(const basic_stage&)> body;
};

struct thread_plan {
  std::vector<step> steps;
  std::function<std::string(subject&)> observe;
};

struct scenario_state {
  std::string name;
  std::function<std::unique_ptr<subject>()> make;
  std::function<void(subject&)> setup;
  std::function<void(subject&)> probe;
  std::vector<thread_plan> threads{1};
  bool without_subject = false;
  bool threads_in_turn = false;
  bool may_run_full = false;
  bool may_lose = false;

  static const scenario_state& of(const basic_scenario& s) noexcept { return *s.state_; }
};

// A subject on a simulated memory, during setup and recording.
class stage_state {
 public:
  // The subject must be closed, and is closed again afterwards.
  stage_state(model::simulated_memory& m, subject& what, uint64_t seed)
      : bytes(m), place_(m), subject_(what), seed_(seed) {}
  ~stage_state() { abandon(); }
  stage_state(const stage_state&) = delete;
  stage_state& operator=(const stage_state&) = delete;

  bool is_open() const noexcept { return open_; }
  subject& need();
  void create();
  void open();
  void close();
  void abandon() noexcept;
  void damage(uint64_t offset, std::span<const std::byte> what);
  void lose_page(uint64_t offset);

  model::simulated_memory& bytes;
  recorder* record = nullptr;
  bool damaged = false;  // by the scenario

 private:
  memory place_;
  subject& subject_;
  const uint64_t seed_;
  bool open_ = false;
};

}  // namespace scute::testing::detail
