// SPDX-License-Identifier: BSD-3-Clause
#include "testing/crash_state.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace scute::testing {

std::string state_name::text() const {
  return "s" + std::to_string(seed) + ".i" + std::to_string(interleaving) + ".m" +
         std::to_string(moment) + ".v" + std::to_string(variant);
}

std::optional<state_name> state_name::parse(const std::string& text) {
  state_name n;
  // The name must read back the same: sscanf() accepts blanks, signs and numbers that are too
  // large.
  if (std::sscanf(text.c_str(), "s%" SCNu64 ".i%" SCNu64 ".m%" SCNu64 ".v%" SCNu64, &n.seed,
                  &n.interleaving, &n.moment, &n.variant) != 4 ||
      n.text() != text)
    return std::nullopt;
  return n;
}

std::vector<uint64_t> moments(const trace& t, bool eadr) {
  std::vector<uint64_t> all;
  for (uint64_t i = 0; i < t.events.size(); ++i) {
    const event_kind k = t.events[i].what;
    const bool mark = k == event_kind::begun || k == event_kind::ended;
    if (eadr ? !mark : k == event_kind::fenced || k == event_kind::damaged) all.push_back(i);
  }
  all.push_back(t.events.size());
  return all;
}

std::vector<step_count> steps_at(const recording& r, uint64_t moment) {
  std::vector<step_count> counts(r.states.size());
  for (uint64_t i = 0; i < moment; ++i) {
    const event& e = r.events.events[i];
    if (e.what == event_kind::begun) counts[e.actor].under_way = true;
    if (e.what == event_kind::ended) {
      counts[e.actor].under_way = false;
      ++counts[e.actor].done;
    }
  }
  return counts;
}

expectation expected_at(const recording& r, uint64_t moment) {
  expectation e;
  e.damaged = r.damaged;
  e.absent = r.begins_without_subject;
  const auto counts = steps_at(r, moment);
  for (size_t t = 0; t < counts.size(); ++t) {
    auto& allowed = e.allowed.emplace_back();
    const auto& states = r.states[t];
    for (uint64_t k = counts[t].done;
         k < states.size() && k <= counts[t].done + counts[t].under_way; ++k)
      allowed.push_back(&states[k]);
    if (counts[t].done != 0) e.absent = false;
  }
  return e;
}

// ---- making it smaller --------------------------------------------------------------------------

namespace {

class shrinker {
 public:
  shrinker(state_checker& j, const model::persistence_model& m, const expectation& e)
      : j_(j), m_(m), e_(e) {}

  bool fails(const crash_state& c) {
    if (tries_ == 0) return false;
    --tries_;
    uint64_t states = 0;
    return !j_.run(m_, c, e_, states).sound;
  }

  // Flips atoms towards `to`, in ever smaller pieces.
  crash_state towards(crash_state c, bool to,
                      const std::vector<model::persistence_model::atom>& atoms) {
    const auto flip = [&](auto&& chosen) {
      crash_state t = c;
      bool any = false;
      for (size_t i = 0; i < atoms.size(); ++i) {
        if (t.durable[i] == to || !chosen(i)) continue;
        t.durable[i] = to;
        any = true;
      }
      if (!any) return;
      if (to)
        m_.close_up(t.durable);
      else
        m_.close_down(t.durable);
      if (fails(t)) c = std::move(t);
    };
    for (size_t size = atoms.size(); size != 0; size /= 2)
      for (size_t at = 0; at < atoms.size(); at += size)
        flip([&](size_t i) { return i >= at && i < at + size; });
    return c;
  }

 private:
  state_checker& j_;
  const model::persistence_model& m_;
  const expectation& e_;
  unsigned tries_ = 4000;
};

size_t count(const model::persistence_model::choice& c, bool value) {
  return static_cast<size_t>(std::count(c.begin(), c.end(), value));
}

}  // namespace

crash_state minimise(state_checker& j, const model::persistence_model& m, const expectation& e,
                     const crash_state& failing) {
  j.thorough = true;  // whether a state fails must not depend on those verified before
  shrinker s(j, m, e);
  crash_state best = failing;
  const auto attempt = [&](crash_state c) {
    if (s.fails(c)) best = std::move(c);
  };
  if (best.damage.what != fault::kind::none) {
    crash_state c = best;
    c.damage.what = fault::kind::none;
    attempt(c);
  }
  if (best.killed) {  // checks whether a power failure is enough
    crash_state c = best;
    c.killed = false;
    attempt(c);
  }
  while (best.again.size() > (best.killed ? 1u : 0u)) {
    crash_state c = best;
    c.again.pop_back();
    if (!s.fails(c)) break;
    best = std::move(c);
  }
  if (best.killed) return best;  // all stores were visible
  // The atoms are the model's own, current list.
  const auto& atoms = m.current_atoms();
  const crash_state up = s.towards(best, true, atoms);
  const crash_state down = s.towards(best, false, atoms);
  return count(up.durable, false) <= count(down.durable, true) ? up : down;
}

}  // namespace scute::testing
