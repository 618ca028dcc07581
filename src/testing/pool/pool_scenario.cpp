// SPDX-License-Identifier: BSD-3-Clause
// scenario, thread and stage of scute/testing.hpp: those of the explorer, with a pool as the
// subject.
#include "testing/pool/pool_subject.hpp"

namespace scute::testing {
namespace {

// Turns a function of a pool into one of a subject that is a pool; empty if there is none.
template <typename R>
std::function<R(subject&)> of_pool(std::function<R(scute::pool&)> f) {
  if (!f) return {};
  return [f = std::move(f)](subject& s) { return f(static_cast<pool_subject&>(s).pool()); };
}

std::shared_ptr<detail::pool_recipe> recipe_of(const scute_options& o) {
  auto recipe = std::make_shared<detail::pool_recipe>();
  recipe->options = o;
  recipe->options.progress = nullptr;
  return recipe;
}

}  // namespace

scute_options small_pool(pool_kind kind) {
  scute_options o;
  scute_options_init(&o);
  constexpr uint64_t row = 13 * 4096;
  o.size = 320 * 1024 + (kind.parity > 1 ? kind.parity - 1 : 0) * row;
  o.protection = kind.protection;
  o.engine = kind.engine;
  o.parity = kind.parity;
  if (kind.engine == SCUTE_ENGINE_SPEC) o.size += 256 * 1024;  // for its log
  o.lanes = 3;
  o.rows = 4;
  o.chunk_size = 16384;
  return o;
}

scute::pool& stage::pool() const {
  return static_cast<pool_subject&>(opened()).pool();
}

thread& thread::step(std::string what, std::function<void(scute::pool&)> body) {
  return step_on_stage(std::move(what),
                       [body = std::move(body)](const stage& s) { body(s.pool()); });
}

thread& thread::step_on_stage(std::string what, std::function<void(const stage&)> body) {
  add_step(std::move(what), [body = std::move(body)](const basic_stage& s) { body(stage(s)); });
  return *this;
}

thread& thread::observe(std::function<std::string(scute::pool&)> read) {
  set_observer(of_pool(std::move(read)));
  return *this;
}

scenario::scenario(std::string name, const scute_options& pool)
    : scenario(std::move(name), recipe_of(pool)) {}

scenario::scenario(std::string name, std::shared_ptr<detail::pool_recipe> recipe)
    : basic_scenario(std::move(name), [recipe] { return std::make_unique<pool_subject>(*recipe); }),
      recipe_(recipe) {}

scenario& scenario::setup(std::function<void(scute::pool&)> make) {
  set_setup(of_pool(std::move(make)));
  return *this;
}
scenario& scenario::without_pool() {
  set_without_subject();
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
  return thread(thread_at(index));
}
scenario& scenario::lanes_in_turn() {
  set_threads_in_turn();
  return *this;
}
scenario& scenario::share_locks(unsigned locks) {
  recipe_->locks = locks;
  return *this;
}
scenario& scenario::resolve_at_once(unsigned blocks) {
  recipe_->resolve_at_once = blocks;
  return *this;
}
scenario& scenario::with_log_file() {
  recipe_->log_file = true;
  return *this;
}
scenario& scenario::probe(std::function<void(scute::pool&)> body) {
  set_probe(of_pool(std::move(body)));
  return *this;
}
scenario& scenario::may_run_full() {
  set_may_run_full();
  return *this;
}
scenario& scenario::may_lose() {
  set_may_lose();
  return *this;
}

}  // namespace scute::testing
