// SPDX-License-Identifier: BSD-3-Clause
// Describes a failing crash state as readable text.
#include <algorithm>

#include "testing/crash_state.hpp"

namespace scute::testing {
namespace {

// Chosen atoms (or the others), joined to ranges.
std::string ranges(const subject& what, const std::vector<model::persistence_model::atom>& atoms,
                   const model::persistence_model::choice& c, bool durable,
                   std::span<const std::byte> image) {
  struct range {
    uint64_t offset, length;
  };
  std::vector<range> all;
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (c[i] != durable) continue;
    if (!all.empty() && all.back().offset + all.back().length == atoms[i].offset)
      all.back().length += atoms[i].length;
    else
      all.push_back({atoms[i].offset, atoms[i].length});
  }
  std::string text;
  constexpr size_t most = 24;
  for (size_t i = 0; i < std::min(all.size(), most); ++i)
    text += "\n    " + what.place(image, all[i].offset) + ", " + std::to_string(all[i].length) +
            " bytes";
  if (all.size() > most) text += "\n    and " + std::to_string(all.size() - most) + " more";
  return text.empty() ? " none" : text;
}

std::string steps(const detail::scenario_state& s, const recording& r, uint64_t moment) {
  std::string text;
  const auto counts = steps_at(r, moment);
  for (size_t t = 0; t < counts.size(); ++t) {
    if (counts.size() > 1) text += "  thread " + std::to_string(t) + ":\n";
    const auto& plan = s.threads[t].steps;
    // Only the last few steps matter.
    constexpr uint64_t most = 12;
    const uint64_t from = counts[t].done > most ? counts[t].done - most : 0;
    if (from != 0) text += "    (" + std::to_string(from) + " steps before)\n";
    for (uint64_t k = from; k < counts[t].done; ++k)
      text += "    " + std::to_string(k + 1) + ". " + plan[k].what + "\n";
    if (counts[t].under_way)
      text += "  > " + std::to_string(counts[t].done + 1) + ". " + plan[counts[t].done].what +
              "  (under way)\n";
  }
  return text;
}

// Which fence of which step.
std::string when(const recording& r, uint64_t moment) {
  if (moment == r.events.events.size()) return "after the last step";
  const event& e = r.events.events[moment];
  uint64_t fences = 0;
  for (uint64_t i = 0; i <= moment; ++i) {
    const event& x = r.events.events[i];
    if (x.actor != e.actor) continue;
    if (x.what == event_kind::begun) fences = 0;
    if (x.what == event_kind::fenced) ++fences;
  }
  if (e.what == event_kind::fenced)
    return "before fence " + std::to_string(fences) + " of the step" +
           (r.states.size() > 1 ? " of thread " + std::to_string(e.actor) : "");
  return "after fence " + std::to_string(fences) + " of the step";
}

}  // namespace

std::string story_of(const detail::scenario_state& s, const subject& what, const recording& r,
                     const state_name& name, model::persistence_model& m, const crash_state& c,
                     const check_result& v, const std::string& repeat_command) {
  const auto& atoms = m.atoms();
  const std::span<const std::byte> g = m.durable();
  std::string t = "scenario \"" + s.name + "\", state " + name.text() + "\n";
  t += "steps:\n" + steps(s, r, name.moment);
  if (r.states.size() > 1) t += "  interleaving: " + r.order.text() + "\n";
  t += std::string("then the ") + (c.killed ? "process died, " : "power failed, ") +
       when(r, name.moment) + " (event " + std::to_string(name.moment) + " of " +
       std::to_string(r.events.events.size()) + ").\n";
  const auto durable = static_cast<size_t>(std::count(c.durable.begin(), c.durable.end(), true));
  t += "Of the stores that no fence had completed, " + std::to_string(durable) + " of " +
       std::to_string(atoms.size()) + " pieces were " +
       (c.killed ? "visible to the next process, none of them durable.\n" : "durable.\n");
  if (c.killed)
    t += "  visible:" + ranges(what, atoms, c.durable, true, g) + "\n";
  else if (durable != 0)
    t += "  durable:" + ranges(what, atoms, c.durable, true, g) + "\n";
  if (durable != atoms.size()) t += "  lost:" + ranges(what, atoms, c.durable, false, g) + "\n";
  for (const std::string& line : v.log) t += "  " + line + "\n";
  t += "violation:\n    " + v.wrong + "\n";
  if (!repeat_command.empty()) {
    std::string command = repeat_command;
    if (const auto at = command.find("%s"); at != std::string::npos)
      command.replace(at, 2, name.text());
    t += "repeat: " + command + "\n";
  }
  return t;
}

}  // namespace scute::testing
