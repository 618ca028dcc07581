// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios.hpp"

namespace scute::testing {
namespace {

using scenario_of_file = scenario_of<foreign_subject>;
using stage = stage_of<foreign_subject>;

constexpr uint64_t share = foreign_subject::share;

scenario_of_file begin(const std::string& name, const foreign_shape& shape) {
  scenario_of_file s(name, [shape] { return std::make_unique<foreign_subject>(shape); });
  s.observe([](foreign_subject& f) { return f.text(); });
  return s;
}

void reopen(const stage& s) {
  s.close();
  s.open();
}

// Changes of several ranges; none of them is in two states (SLICE-1).
basic_scenario changes(const std::string& name, scute_engine engine) {
  auto s = begin(name, {40'001, 100'000, 1, engine});
  s.step("write two ranges",
         [](foreign_subject& f) { f.write({{1000, 70, 'a'}, {30'000, 500, 'b'}}); })
      .step("write ranges that overlap and touch",
            [](foreign_subject& f) {
              f.write({{1000, 3000, 'c'}, {2000, 10, 'd'}, {4000, 96, 'e'}, {40'000, 1, 'f'}});
            })
      .step_on_stage("close, and open", reopen)
      .step("write a fragment and more", [](foreign_subject& f) { f.write({{8000, 5000, 'g'}}); });
  return s;
}

// Longer within its last fragment, by several, and again after an opening (IDENT-3, SPAN-2,
// SPAN-3).
basic_scenario grows(const std::string& name, scute_engine engine) {
  auto s = begin(name, {9'001, 100'000, 1, engine});
  s.step("grow by a little", [](foreign_subject& f) { f.grow(9'500); })
      .step("write past the old end", [](foreign_subject& f) { f.write({{9'000, 300, 'a'}}); })
      .step("grow by fragments", [](foreign_subject& f) { f.grow(31'000); })
      .step("write there",
            [](foreign_subject& f) { f.write({{9'400, 200, 'b'}, {30'000, 1000, 'c'}}); })
      .step_on_stage("close, and open", reopen)
      .step("grow to the capacity", [](foreign_subject& f) { f.grow(100'000); });
  return s;
}

// Two zones have it: one change is in both, and it grows into the second one (FOREIGN-4, SLICE-1).
basic_scenario zones(const std::string& name, scute_engine engine) {
  auto s = begin(name, {share - 3000, 2 * share, 2, engine});
  s.step("grow into the second zone", [](foreign_subject& f) { f.grow(share + 9000); })
      .step("write on both sides",
            [](foreign_subject& f) { f.write({{share - 2000, 4000, 'a'}, {1000, 10, 'b'}}); })
      .step("grow there", [](foreign_subject& f) { f.grow(share + 20'000); });
  return s;
}

// Lines whose old bytes are known, in pages that were changed before and in others (SLICE-3,
// SLICE-1).
basic_scenario replaced(const std::string& name, scute_engine engine) {
  auto s = begin(name, {share - 3000, 2 * share, 2, engine});
  s.step("grow into the second zone", [](foreign_subject& f) { f.grow(share + 9000); })
      .step("replace lines of three pages",
            [](foreign_subject& f) {
              f.replace({{960, 64, 'a'}, {4032, 128, 'b'}, {29'952, 64, 'c'}});
            })
      .step("replace one of them again", [](foreign_subject& f) { f.replace({{960, 64, 'd'}}); })
      .step("replace lines of both zones",
            [](foreign_subject& f) {
              f.replace({{1024, 64, 'e'}, {share - 64, 128, 'f'}, {share + 8960, 40, 'g'}});
            })
      .step("write next to them", [](foreign_subject& f) { f.write({{1000, 70, 'h'}}); })
      .step("and replace again", [](foreign_subject& f) { f.replace({{960, 64, 'i'}}); });
  return s;
}

// It comes under the shield (MAKE-1, SPAN-1).
basic_scenario added(const std::string& name, scute_engine engine) {
  auto s = begin(name, {9'001, 20'000, 1, engine});
  s.without_subject()
      .step_on_stage("add", [](const stage& on) { on.create(); })
      .step("write", [](foreign_subject& f) { f.write({{4000, 200, 'a'}}); });
  return s;
}

}  // namespace

const std::vector<foreign_entry>& foreign_scenarios() {
  static const std::vector<foreign_entry> all = [] {
    std::vector<foreign_entry> list;
    constexpr struct {
      const char *name, *about;
      basic_scenario (*make)(const std::string& name, scute_engine engine);
    } kinds[] = {
        {"changes", "a shielded file is changed in several places at once", changes},
        {"replaced", "lines of a shielded file are replaced by a caller that knows them", replaced},
        {"grows", "a shielded file gets longer", grows},
        {"zones", "a shielded file over two zones is changed and gets longer", zones},
        {"added", "a file comes under the shield", added},
    };
    constexpr struct {
      const char* name;
      scute_engine engine;
    } engines[] = {{"logfree", SCUTE_ENGINE_LOGFREE},
                   {"redo", SCUTE_ENGINE_REDO},
                   {"spec", SCUTE_ENGINE_SPEC}};
    for (const auto& k : kinds)
      for (const auto& e : engines) {
        const std::string name = std::string("shield-") + k.name + "/" + e.name;
        list.push_back({name, std::string(k.about) + ", engine " + e.name,
                        [=] { return k.make(name, e.engine); }});
      }
    return list;
  }();
  return all;
}

}  // namespace scute::testing
