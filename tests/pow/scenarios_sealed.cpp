// SPDX-License-Identifier: BSD-3-Clause
// Groups of segments, with pages that are lost besides (pow/file/seal.hpp).
#include "scenario_kinds.hpp"

namespace scute::testing {
namespace {

constexpr size_t wide = 6000;  // one in a segment

std::string everything_in(pow_subject& p) {
  return p.cells().all();
}

// A group is made, cleaned member by member, and its seal's segment used again.
pow_scenario grouped(const named_kind& k) {
  auto s = with("grouped", k);
  s.observe(everything_in);
  s.setup([](pow_subject& p) {
    for (uint64_t i = 0; i < 7; ++i) p.put(i, std::string(wide, static_cast<char>('a' + i)));
  });
  for (uint64_t i = 7; i < 10; ++i)
    s.step("make",
           [=](pow_subject& p) { p.put(i, std::string(wide, static_cast<char>('a' + i))); });
  s.step("change", [](pow_subject& p) { p.put(1, "small"); });
  s.step("erase", [](pow_subject& p) { p.erase(2); });
  for (int i = 0; i < 3; ++i) s.step("clean", [](pow_subject& p) { p.store().clean(1); });
  for (uint64_t i = 0; i < 3; ++i)
    s.step("change",
           [=](pow_subject& p) { p.put(3 + i, std::string(wide, static_cast<char>('A' + i))); });
  s.step_on_stage("close and open", [](const stage_of<pow_subject>& on) {
    on.close();
    on.open();
  });
  s.step("make", [](pow_subject& p) { p.put(20, std::string(wide, 'z')); });
  return s;
}

// Members of which one has what is durable, and another one what is not (POW-18).
pow_scenario later_grouped(const named_kind& k) {
  auto s = with("later-grouped", k);
  s.setup([](pow_subject& p) { p.put(1, "one"); });
  const auto below = [](pow_subject& p) {
    std::string t;
    for (const auto& [i, text] : p.cells().texts)
      if (i < 20) t += std::to_string(i) + text.substr(0, 1) + std::to_string(text.size()) + " ";
    return t;
  };
  s.in_thread(0).observe(below);
  s.in_thread(1).observe([](pow_subject&) { return std::string(); });
  // If one member alone lacks something, its group would know it: two of eight are of later
  // sections.
  const auto put = [](pow_subject& p, pow::durability how, mutex& m, uint64_t from, uint64_t n) {
    p.section(
        how,
        [&](pow::section& x) {
          for (uint64_t i = from; i < from + n; ++i)
            p.cells().put(x, i, std::string(wide, static_cast<char>('a' + i % 20)));
        },
        m);
  };
  for (uint64_t i = 0; i < 3; ++i) {
    s.in_thread(1).step("later", [=](pow_subject& p) { put(p, later, p.b, 20 + 2 * i, 2); });
    s.in_thread(0).step("strict", [=](pow_subject& p) { put(p, strict, p.a, 3 * i, 3); });
  }
  return s;
}

}  // namespace

void add_sealed_scenarios(std::vector<pow_entry>& to) {
  for (const auto make : {grouped, later_grouped}) add(to, sealed, make);
}

}  // namespace scute::testing
