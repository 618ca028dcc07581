// SPDX-License-Identifier: BSD-3-Clause
#include "testing/scenario_state.hpp"

namespace scute::testing {

scute_options small_pool(pool_kind kind) {
  scute_options o;
  scute_options_init(&o);
  constexpr uint64_t row = 13 * 4096;
  o.size = 320 * 1024 + (kind.parity > 1 ? kind.parity - 1 : 0) * row;
  o.protection = kind.protection;
  o.engine = kind.engine;
  o.parity = kind.parity;
  o.lanes = 3;
  o.rows = 4;
  o.chunk_size = 16384;
  return o;
}

thread& thread::step(std::string what, std::function<void(scute::pool&)> body) {
  return step_on_stage(std::move(what),
                       [body = std::move(body)](const stage& s) { body(s.pool()); });
}

thread& thread::step_on_stage(std::string what, std::function<void(const stage&)> body) {
  state_->threads[index_].steps.push_back({std::move(what), std::move(body)});
  return *this;
}

thread& thread::observe(std::function<std::string(scute::pool&)> read) {
  state_->threads[index_].observe = std::move(read);
  return *this;
}

scenario::scenario(std::string name, const scute_options& pool)
    : state_(std::make_shared<detail::scenario_state>()) {
  state_->name = std::move(name);
  state_->options = pool;
  state_->options.progress = nullptr;
}

scenario& scenario::setup(std::function<void(scute::pool&)> make) {
  state_->setup = std::move(make);
  return *this;
}
scenario& scenario::without_pool() {
  state_->without_pool = true;
  return *this;
}
scenario& scenario::step(std::string what, std::function<void(scute::pool&)> body) {
  in_thread(0).step(std::move(what), std::move(body));
  return *this;
}
scenario& scenario::step_on_stage(std::string what, std::function<void(const stage&)> body) {
  in_thread(0).step_on_stage(std::move(what), std::move(body));
  return *this;
}
scenario& scenario::observe(std::function<std::string(scute::pool&)> read) {
  in_thread(0).observe(std::move(read));
  return *this;
}
thread scenario::in_thread(size_t index) {
  if (state_->threads.size() <= index) state_->threads.resize(index + 1);
  return {state_, index};
}
scenario& scenario::lanes_in_turn() {
  state_->lanes_in_turn = true;
  return *this;
}
scenario& scenario::share_locks(unsigned locks) {
  state_->locks = locks;
  return *this;
}
scenario& scenario::probe(std::function<void(scute::pool&)> body) {
  state_->probe = std::move(body);
  return *this;
}
scenario& scenario::may_run_full() {
  state_->may_run_full = true;
  return *this;
}

scenario& scenario::may_lose() {
  state_->may_lose = true;
  return *this;
}
const std::string& scenario::name() const noexcept {
  return state_->name;
}

}  // namespace scute::testing
