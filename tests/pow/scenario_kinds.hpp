// SPDX-License-Identifier: BSD-3-Clause
// The kinds of files that the scenarios of stores are about.
#pragma once

#include "scenarios.hpp"

namespace scute::testing {

using pow::durability;
using enum pow::durability;

struct named_kind {
  const char* name;
  pow_kind kind;
};
inline const named_kind none{"none", {}}, always{"always", {pow::protection::always}},
    stream{"stream", {pow::protection::none, true}},
    always_stream{"always-stream", {pow::protection::always, true}},
    sealed{"sealed", {pow::protection::sealed, false, 12, 36}};

inline pow_scenario with(const std::string& name, const named_kind& k) {
  return pow_scenario(name + "/" + k.name,
                      [kind = k.kind] { return std::make_unique<pow_subject>(kind); });
}

inline void add(std::vector<pow_entry>& to, const named_kind& k,
                pow_scenario (*make)(const named_kind&)) {
  to.push_back({make(k).name(), [&k, make] { return make(k); }});
}

// Groups of segments.
void add_sealed_scenarios(std::vector<pow_entry>& to);
// Several threads that see each other's sections before these are durable.
void add_later_scenarios(std::vector<pow_entry>& to);

}  // namespace scute::testing
