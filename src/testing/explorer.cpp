// SPDX-License-Identifier: BSD-3-Clause
// explore(): records a scenario, and verifies crash states of the recording until there were
// enough.
#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "testing/crash_state.hpp"
#include "testing/last_words.hpp"
#include "testing/variants.hpp"
#include "testing/watchdog.hpp"

namespace scute::testing {
namespace {

using clock = std::chrono::steady_clock;

class explorer {
 public:
  // what: the scenario's subject, made for this exploration.
  explorer(const detail::scenario_state& s, std::unique_ptr<subject> what,
           const explore_options& how, uint64_t seed, exploration& result, watchdog& dog)
      : dog_(dog),
        scenario_(s),
        subject_(std::move(what)),
        how_(how),
        seed_(seed),
        result_(result),
        start_(start_image(s, *subject_, seed)),
        checker_(s, *subject_, how.eadr) {
    checker_.thorough = how.thorough;
  }
  ~explorer() { subject_->act_as(0); }
  explorer(const explorer&) = delete;
  explorer& operator=(const explorer&) = delete;

  // Verifies up to `states` states; fewer if there are no more, or after a violation.
  void run(uint64_t states) {
    end_ = result_.states + states;
    recording first = take({});
    if (!result_.sound) return;
    const auto orders = schedules(scenario_.threads.size(), first.operations, first.fences,
                                  how_.interleavings, seed_);
    bool complete = true;
    for (uint64_t i = 0; i < orders.size() && result_.sound && result_.states < end_; ++i) {
      recording r = i == 0 ? std::exchange(first, {}) : take(orders[i]);
      if (!result_.sound) return;
      ++result_.interleavings;
      const uint64_t share = (end_ - result_.states) / (orders.size() - i);
      complete = explore(r, i, std::max<uint64_t>(share, 1)) && complete;
    }
    // Interleavings are chosen, not exhausted; recoveries are crashed at random.
    result_.complete = complete && orders.size() == 1 && !how_.crash_recovery && !faults();
  }

  // One state by name.
  void only(const state_name& n) {
    recording first = take({});
    if (!result_.sound) return;
    const auto orders = schedules(scenario_.threads.size(), first.operations, first.fences,
                                  how_.interleavings, seed_);
    if (n.interleaving >= orders.size())
      throw std::invalid_argument("there is no interleaving " + std::to_string(n.interleaving));
    recording r = n.interleaving == 0 ? std::move(first) : take(orders[n.interleaving]);
    if (!result_.sound) return;
    ++result_.interleavings;
    model::persistence_model m(how_.eadr);
    m.reset(r.events.base);
    if (n.moment > r.events.events.size())
      throw std::invalid_argument("there is no moment " + std::to_string(n.moment));
    for (uint64_t i = 0; i < n.moment; ++i) r.events.replay(r.events.events[i], m);
    const uint64_t before = result_.states;
    at(r, n.interleaving, n.moment, m, n.variant, n.variant + 1);
    if (result_.states == before)
      throw std::invalid_argument("there is no variant " + std::to_string(n.variant) +
                                  " at moment " + std::to_string(n.moment));
  }

 private:
  recording take(const schedule& order) {
    last_words::say("\nscute: the process died while the scenario \"" + scenario_.name +
                    "\" ran (seed " + std::to_string(seed_) + ", " + order.text() + ")\n");
    dog_.beat();
    recording r = record(scenario_, *subject_, start_, order, seed_, how_.eadr);
    if (!r.failed.empty()) {
      result_.sound = false;
      result_.story = "scenario \"" + scenario_.name + "\", seed " + std::to_string(seed_) +
                      (scenario_.threads.size() > 1 ? ", " + order.text() : "") +
                      ": without any power failure, " + r.failed + "\n";
    }
    return r;
  }

  // Returns true if every image of this recording was verified.
  bool explore(const recording& r, uint64_t interleaving, uint64_t states) {
    const auto all = moments(r.events, how_.eadr);
    result_.crash_points += all.size();
    const uint64_t end = result_.states + states;
    std::vector<uint64_t> next(all.size(), 0);  // variant of each moment
    bool more = true;
    while (more && result_.sound && result_.states < end) {
      more = false;
      uint64_t open = 0;  // moments that have more variants
      for (const uint64_t n : next) open += n != UINT64_MAX;
      model::persistence_model m(how_.eadr);
      m.reset(r.events.base);
      uint64_t done = 0;  // events
      for (size_t k = 0; k < all.size() && result_.sound && result_.states < end; ++k) {
        for (; done < all[k]; ++done) r.events.replay(r.events.events[done], m);
        if (next[k] == UINT64_MAX) continue;
        const uint64_t quota = std::max<uint64_t>((end - result_.states) / open--, 1);
        next[k] = at(r, interleaving, all[k], m, next[k], next[k] + quota);
        more = more || next[k] != UINT64_MAX;
      }
    }
    return !more;
  }

  // Verifies variants [from, to) of one moment; returns the next one, or UINT64_MAX.
  uint64_t at(const recording& r, uint64_t interleaving, uint64_t moment,
              model::persistence_model& m, uint64_t from, uint64_t to) {
    const auto& atoms = m.atoms();
    const variants all(m, atoms, mix(seed_, moment));
    const expectation e = expected_at(r, moment);
    checker_.base(m.durable());
    state_name name{seed_, interleaving, moment, from};
    for (; name.variant < std::min(to, all.count()); ++name.variant) {
      crash_state c = state_of(name, all, r.damaged);
      last_words::say("\nscute: the process died while it verified state " + name.text() +
                      " of scenario \"" + scenario_.name + "\"\n");
      if (c.damage.what != fault::kind::none) ++result_.damaged;
      if (c.killed) ++result_.killed;
      const uint64_t before = result_.states;
      dog_.beat();
      const check_result v = checker_.run(m, c, e, result_.states);
      result_.recrashed += result_.states - before - 1;
      report_progress();
      if (v.sound) continue;
      result_.sound = false;
      const crash_state small = minimise(checker_, m, e, c);
      uint64_t states = 0;
      check_result again = checker_.run(m, small, e, states);
      const bool shrunk = !again.sound;
      result_.story = story_of(scenario_, *subject_, r, name, m, shrunk ? small : c,
                               shrunk ? again : v, how_.repeat_command);
      break;
    }
    return name.variant < all.count() ? name.variant : UINT64_MAX;
  }

  // The crash state that a name determines.
  crash_state state_of(const state_name& n, const variants& all, bool damaged) const {
    crash_state c;
    c.durable = all.make(n.variant);
    c.seed = mix(mix(n.seed, n.moment), n.variant);
    const uint64_t dice = mix(c.seed, 3);
    if (how_.crash_recovery) {
      // A third of the recoveries crash once, some of those twice, and so on.
      for (uint64_t k = 0, d = mix(c.seed, 4); k < 3 && d % 3 == 0; ++k, d = mix(d, 5))
        c.again.push_back({mix(d, 6) % 12, mix(d, 7) % 64});
      // An eighth of the states begin with a process that dies, whatever it was doing.
      if (mix(c.seed, 9) % 8 == 0 && !c.durable.empty()) {
        c.killed = true;
        c.durable.assign(c.durable.size(), true);
        if (c.again.empty()) c.again.push_back({mix(c.seed, 10) % 6, mix(c.seed, 11) % 64});
      }
    }
    if (faults() && !damaged && !c.killed) {
      c.damage.number = mix(c.seed, 8);
      if (dice % 8 == 0) c.damage.what = fault::kind::before_recovery;
      if (dice % 16 == 1) c.damage.what = fault::kind::after_recovery;
    }
    return c;
  }

  bool faults() const { return how_.faults && subject_->takes_faults(); }

  void report_progress() {
    if (!how_.progress || result_.states < reported_ + 500) return;
    reported_ = result_.states;
    how_.progress({result_.states, how_.states});
  }

  watchdog& dog_;
  const detail::scenario_state& scenario_;
  const std::unique_ptr<subject> subject_;
  const explore_options& how_;
  const uint64_t seed_;
  exploration& result_;
  const model::persistence_model::image start_;
  state_checker checker_;
  uint64_t end_ = 0, reported_ = 0;
};

std::optional<state_name> wanted(const explore_options& how) {
  if (how.only.empty()) return std::nullopt;
  const auto n = state_name::parse(how.only);
  if (!n)
    throw std::invalid_argument("\"" + how.only +
                                "\" is no name of a crash state; a story prints one, such as "
                                "s1.i0.m40.v7");
  return n;
}

std::unique_ptr<subject> subject_of(const basic_scenario& s) {
  auto made = detail::scenario_state::of(s).make();
  if (!made) throw std::invalid_argument("scenario \"" + s.name() + "\" makes no subject");
  return made;
}

// share: states for each seed.
exploration explore_seeds(const std::function<basic_scenario(uint64_t seed)>& make,
                          const explore_options& how, uint64_t share) {
  const auto begin = clock::now();
  const last_words words;
  watchdog dog(how.hang_seconds);
  exploration result;
  if (const auto name = wanted(how)) {
    const basic_scenario s = make(name->seed);
    explorer(detail::scenario_state::of(s), subject_of(s), how, name->seed, result, dog)
        .only(*name);
  } else {
    for (uint64_t seed = how.seed; result.sound && result.states < how.states; ++seed) {
      const basic_scenario s = make(seed);
      const uint64_t before = result.states;
      explorer(detail::scenario_state::of(s), subject_of(s), how, seed, result, dog)
          .run(std::min(share, how.states - before));
      if (result.complete || result.states == before) break;
    }
  }
  result.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return result;
}

}  // namespace

exploration explore(const basic_scenario& s, const explore_options& how) {
  return explore_seeds([&](uint64_t) { return s; }, how, how.states);
}

exploration explore(const std::function<basic_scenario(uint64_t seed)>& make,
                    const explore_options& how) {
  // Each seed gets a share that is large enough to explore its recording.
  return explore_seeds(make, how, std::max<uint64_t>(how.states / 100, 2000));
}

}  // namespace scute::testing
