// SPDX-License-Identifier: BSD-3-Clause
#include "testing/scenario_state.hpp"

namespace scute::testing {

void basic_thread::add_step(std::string what, std::function<void(const basic_stage&)> body) {
  state_->threads[index_].steps.push_back({std::move(what), std::move(body)});
}

void basic_thread::set_observer(std::function<std::string(subject&)> read) {
  state_->threads[index_].observe = std::move(read);
}

basic_scenario::basic_scenario(std::string name, std::function<std::unique_ptr<subject>()> make)
    : state_(std::make_shared<detail::scenario_state>()) {
  state_->name = std::move(name);
  state_->make = std::move(make);
}

const std::string& basic_scenario::name() const noexcept {
  return state_->name;
}

void basic_scenario::set_setup(std::function<void(subject&)> make) {
  state_->setup = std::move(make);
}
void basic_scenario::set_probe(std::function<void(subject&)> body) {
  state_->probe = std::move(body);
}
void basic_scenario::set_without_subject() {
  state_->without_subject = true;
}
void basic_scenario::set_threads_in_turn() {
  state_->threads_in_turn = true;
}
void basic_scenario::set_may_run_full() {
  state_->may_run_full = true;
}
void basic_scenario::set_may_lose() {
  state_->may_lose = true;
}

basic_thread basic_scenario::thread_at(size_t index) {
  if (state_->threads.size() <= index) state_->threads.resize(index + 1);
  return {state_, index};
}

}  // namespace scute::testing
