// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ents_match.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "systems/pmemobj_huge.hpp"

namespace scute::bench {

bool contends(const options& o, const ents_kind& k, unsigned threads, bool level) {
  if (!o.wants_system(k.name) || (k.level_only && !level)) return false;
  if (k.variant && o.systems.empty() && (threads != 1 || o.quick)) return false;
  return k.name != pmemobj_huge || grants_huge_pages(o.dir);
}

row ents_row(const row& like, const ents_kind& kind) {
  row r = like;
  r.system = kind.system;
  r.config = kind.config;
  return r;
}

ents_match::ents_match(session& s, const workloads::ents::task& what, uint64_t requests,
                       unsigned threads, std::string title)
    : s_(s),
      title_(std::move(title)),
      level_(std::holds_alternative<workloads::ents::level_task>(what)) {
  const unsigned first = level_ ? 1 : s.o.threads.front();
  for (const ents_kind& kind : ents_kinds()) {
    bool any = contends(s.o, kind, first, level_);
    for (const unsigned n : s.o.threads) any = any || (!level_ && contends(s.o, kind, n, false));
    if (!any) continue;
    try {
      contestants_.push_back(
          {&kind, kind.make(kind, {what, requests, threads, s.path(kind.name)}), {}, {}});
    } catch (const no_huge_pages& e) {
      fmt::print(stderr, "scute-bench: {}, {} is left out: {}\n", title_, kind.name, e.what());
    }
  }
}

void ents_match::keep(unsigned threads) {
  std::erase_if(contestants_,
                [&](const contestant& c) { return !contends(s_.o, *c.kind, threads, level_); });
}

void ents_match::begin() {
  for (contestant& c : contestants_) {
    c.samples.clear();
    c.spent = {};
    c.requests = 0;
  }
}

void ents_match::round(unsigned number, const std::vector<workloads::ents::batch>& requests,
                       bool measured) {
  for (size_t i = 0; i < contestants_.size(); ++i)
    play(contestants_[(i + number) % contestants_.size()], requests, measured);
}

void ents_match::play(contestant& c, const std::vector<workloads::ents::batch>& requests,
                      bool measured) {
  costs before, after;
  c.counts = c.system->count(before);
  std::vector<uint64_t> done(requests.size());
  const double ns = s_.workers.run(static_cast<unsigned>(requests.size()),
                                   [&](unsigned t) { done[t] = c.system->run(t, requests[t]); });
  for (size_t t = 0; t < requests.size(); ++t)
    if (done[t] != size_of(requests[t]))
      throw std::runtime_error(fmt::format("{}, {}: {} of {} requests did what they should", title_,
                                           c.kind->name, done[t], size_of(requests[t])));
  if (!measured) return;
  c.samples.push_back(ns / static_cast<double>(size_of(requests[0])));
  for (const auto& r : requests) c.requests += size_of(r);
  if (c.counts && c.system->count(after)) c.spent.add(after).add(before, -1);
}

void ents_match::publish(const row& like) {
  for (contestant& c : contestants_) {
    row r = ents_row(like, *c.kind);
    r.ops = c.requests;
    summarize(r, c.samples);
    if (c.counts) r.per_op = costs{}.add(c.spent, 1 / static_cast<double>(r.ops));
    s_.rows.push_back(r);
  }
}

void ents_match::check() {
  for (contestant& c : contestants_)
    if (const std::string wrong = c.system->check(); !wrong.empty())
      throw std::runtime_error(fmt::format("{}, {}: {}", title_, c.kind->name, wrong));
}

}  // namespace scute::bench
