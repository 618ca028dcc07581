// SPDX-License-Identifier: BSD-3-Clause
#include "schemes/scheme.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "schemes/hoop.hpp"
#include "schemes/plain.hpp"
#include "schemes/spec_hpmt.hpp"
#include "schemes/undo.hpp"

namespace scute::sim {

scheme::scheme(machine& m) : machine_(m) {
  for (unsigned i = 0; i < m.cores.size(); ++i) cores_.emplace_back(m.mem, i);
  m.cache.watch = this;
}

scheme::~scheme() {
  machine_.cache.watch = nullptr;
  machine_.mem.on_durable = nullptr;
}

void scheme::keep_contents(contents& c) {
  contents_ = &c;
  for (per_core& p : cores_) p.log.keeps_times = true;
  machine_.mem.on_durable = [this](uint64_t line, ticks accepted) {
    if (line < line_of(log_base) || line >= line_of(log_end)) contents_->write(line, accepted);
  };
}

void scheme::begin(unsigned core) {
  per_core& c = cores_[core];
  if (c.open) throw std::logic_error("a transaction begins in another one");
  c.open = true;
  c.transaction = next_transaction_++;
  c.touched.clear();
  c.seen.clear();
  beginning(core);
}

void scheme::end(unsigned core) {
  per_core& c = cores_[core];
  if (!c.open) throw std::logic_error("there is no transaction to end");
  ++counts_.transactions;
  machine_.cores[core].wait(committing(core, machine_.cores[core].drained()));
  c.open = false;
}

bool scheme::touch(per_core& c, uint64_t line) {
  if (!c.touched.empty() && c.touched.back() == line) return false;
  if (!c.seen.insert(line).second) return false;
  c.touched.push_back(line);
  return true;
}

ticks scheme::write_back_touched(unsigned core, ticks at) {
  ticks done = at;
  for (const uint64_t line : cores_[core].touched) {
    done = std::max(done, machine_.cache.write_back(core, line, at));
    ++counts_.data_lines;
  }
  return done;
}

std::vector<ticks> scheme::log_moments() const {
  std::vector<ticks> all;
  for (const per_core& c : cores_)
    for (size_t i = 0; i < c.log.appended(); ++i)
      if (c.log.durable(i) != log_area::never) all.push_back(c.log.durable(i));
  return all;
}

scheme::counts scheme::counted() const {
  counts all = counts_;
  for (const per_core& c : cores_) all.log_lines += c.log.lines;
  return all;
}

const std::vector<scheme_kind>& scheme_kinds() {
  static const std::vector<scheme_kind> all{
      {"none", "no transactions: the program alone",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<no_persistence>(m); },
       false},
      {"no-log", "data is written back at the end; no crash consistency",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<no_log>(m); }, false},
      {"software-undo", "undo logging by software, a fence for each range, as libpmemobj does it",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<software_undo>(m); },
       true},
      {"ede", "undo logging; a store alone waits for its own record (like EDE)",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<ede_like>(m); }, true},
      {"hoop", "out of place, with a mapping table and collection (like HOOP)",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<hoop_like>(m); }, true},
      {"spec-dp", "SpecHPMT that writes data back at the end",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<spec_hpmt>(m, true); },
       true},
      {"spec", "SpecHPMT",
       [](machine& m) -> std::unique_ptr<scheme> { return std::make_unique<spec_hpmt>(m, false); },
       true},
  };
  return all;
}

std::unique_ptr<scheme> make_scheme(std::string_view name, machine& m) {
  for (const scheme_kind& k : scheme_kinds())
    if (k.name == name) return k.make(m);
  throw std::invalid_argument("there is no scheme '" + std::string(name) + "'");
}

}  // namespace scute::sim
