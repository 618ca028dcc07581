// SPDX-License-Identifier: BSD-3-Clause
#include "testing/recording.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace scute::testing {
namespace {

std::string observe(const detail::thread_plan& t, subject& s) {
  return t.observe ? t.observe(s) : std::string();
}

class run {
 public:
  run(const detail::scenario_state& s, subject& what, const model::persistence_model::image& from,
      uint64_t seed, bool eadr)
      : scenario_(s), subject_(what), memory_(from.size(), eadr), stage_(memory_, what, seed) {
    memory_.restore(from, true);
    recorder_ = std::make_unique<recorder>(memory_);
    memory_.listener = recorder_.get();
    stage_.record = recorder_.get();
    result_.begins_without_subject = s.without_subject;
    result_.states.resize(s.threads.size());
  }

  recording take(const schedule& order) {
    result_.order = order;
    try {
      if (!scenario_.without_subject) stage_.open();
      for (size_t t = 0; t < scenario_.threads.size(); ++t)
        result_.states[t].push_back(
            scenario_.without_subject ? "" : observe(scenario_.threads[t], stage_.need()));
      if (scenario_.threads.size() == 1)
        steps_of(0);
      else
        together(order);
    } catch (const std::exception& e) {
      if (result_.failed.empty()) result_.failed = e.what();
    }
    memory_.listener = nullptr;
    result_.events = std::move(recorder_->result);
    result_.damaged = stage_.damaged;
    if (result_.failed.empty() && scenario_.threads.size() > 1) look_at_writers();
    return std::move(result_);
  }

 private:
  // Two threads that use one writer do harm only if the power fails at the right moment, so this
  // searches for them.
  void look_at_writers() {
    model::persistence_model m(memory_.eadr());
    m.reset(result_.events.base);
    for (size_t i = 0; i < result_.events.events.size() && result_.failed.empty(); ++i) {
      const event& e = result_.events.events[i];
      result_.events.replay(e, m);
      if (!m.left_behind()) continue;
      result_.failed = "a fence of thread " + std::to_string(e.actor) + " (event " +
                       std::to_string(i) +
                       ") leaves lines unfenced that another thread had begun to write back "
                       "through the same writer, and no fence will complete them";
    }
  }

  void together(const schedule& order) {
    recorder_->turn = {[](void* s, bool fence) { static_cast<scheduler*>(s)->operation(fence); },
                       &scheduler_};
    std::vector<std::function<void()>> bodies;
    bodies.reserve(scenario_.threads.size());
    for (size_t t = 0; t < scenario_.threads.size(); ++t)
      bodies.push_back([this, t] { steps_of(t); });
    threaded_ = true;
    scheduler_.run(bodies, order, [this](unsigned t) { recorder_->actor = t; });
    result_.operations = scheduler_.operations();
    result_.fences = scheduler_.fences();
    recorder_->turn = {};
  }

  void steps_of(size_t t) {
    const auto& plan = scenario_.threads[t];
    const basic_stage s(stage_);
    for (size_t k = 0; k < plan.steps.size(); ++k) {
      subject_.act_as(static_cast<unsigned>(scenario_.threads_in_turn ? k : t));
      recorder_->mark(event_kind::begun, k);
      try {
        plan.steps[k].body(s);
      } catch (const std::exception& e) {
        if (!scenario_.may_run_full || !subject_.ran_full(e)) {
          if (result_.failed.empty())
            result_.failed = "step \"" + plan.steps[k].what + "\" threw: " + e.what();
          throw;
        }
      }
      if (threaded_) scheduler_.hold();
      // Read before the step's end is noted: at that moment it must be what recovery finds.
      const std::string& before = result_.states[t].back();
      std::string now = stage_.is_open() ? observe(plan, stage_.need()) : before;
      result_.states[t].push_back(std::move(now));
      recorder_->mark(event_kind::ended, k);
      if (threaded_) scheduler_.release();
    }
  }

  const detail::scenario_state& scenario_;
  subject& subject_;
  model::simulated_memory memory_;
  detail::stage_state stage_;
  std::unique_ptr<recorder> recorder_;
  scheduler scheduler_;
  bool threaded_ = false;
  recording result_;
};

}  // namespace

model::persistence_model::image start_image(const detail::scenario_state& s, subject& what,
                                            uint64_t seed) {
  if (what.size() == 0 || what.size() % model::simulated_memory::page != 0)
    throw std::invalid_argument("the size of a " + what.noun() +
                                " is no multiple of a page: " + std::to_string(what.size()));
  model::simulated_memory bytes(what.size(), false);
  if (!s.without_subject) {
    what.act_as(0);
    detail::stage_state stage(bytes, what, seed);
    stage.create();
    if (s.setup) s.setup(stage.need());
    stage.close();
  }
  const auto image = bytes.bytes();
  return {image.begin(), image.end()};
}

recording record(const detail::scenario_state& s, subject& what,
                 const model::persistence_model::image& from, const schedule& order, uint64_t seed,
                 bool eadr) {
  what.act_as(0);
  return run(s, what, from, seed, eadr).take(order);
}

std::vector<schedule> schedules(size_t threads, uint64_t operations, uint64_t fences,
                                uint64_t count, uint64_t seed) {
  std::vector<schedule> all;
  const auto n = static_cast<unsigned>(threads);
  if (n == 1) return {schedule{}};
  for (unsigned first = 0; first < n && all.size() < count; ++first) all.push_back({first, {}});
  std::mt19937_64 random(seed);
  // One preemption: everywhere, or, if those are too many, a third of the count at random places.
  const uint64_t single = operations * (n - 1) * n;
  const uint64_t share = std::min(single, count > all.size() ? (count - all.size()) / 3 : 0);
  for (uint64_t i = 0; i < share; ++i) {
    const uint64_t which = share == single ? i : random() % single;
    const auto first = static_cast<unsigned>(which % n);
    const auto to = (first + 1 + static_cast<unsigned>(which / n % (n - 1))) % n;
    all.push_back({first, {{which / n / (n - 1), to}}});
  }
  const auto somebody = [&] { return static_cast<unsigned>(random() % n); };
  while (operations != 0 && all.size() < count) {
    schedule s{somebody(), {}};
    switch (random() % 4) {
      case 0:  // at fences
        for (uint64_t k = 1 + random() % 3; k != 0 && fences != 0; --k)
          s.preemptions.push_back({random() % fences, somebody(), true});
        break;
      case 1: {  // there and back after a few operations, or at the next fence or two
        const bool at_fences = fences != 0 && random() % 2 == 0;
        uint64_t at = random() % (at_fences ? fences : operations);
        for (uint64_t k = 2 + random() % 3; k != 0; --k) {
          s.preemptions.push_back({at, somebody(), at_fences});
          at += 1 + random() % (at_fences ? 2 : 4);
        }
        break;
      }
      default:
        for (uint64_t k = 2 + random() % 6; k != 0; --k)
          s.preemptions.push_back({random() % operations, somebody()});
    }
    std::sort(s.preemptions.begin(), s.preemptions.end(),
              [](const preemption& a, const preemption& b) { return a.operation < b.operation; });
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace scute::testing
