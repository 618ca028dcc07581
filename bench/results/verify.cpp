// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "benchmarks/benchmarks.hpp"
#include "results/results.hpp"

namespace scute::bench {
namespace {

// Fences of a small transaction. With a redo log there are two, for the log and for the objects.
// Without a log there is one, for the objects: the next transaction's fence makes the parity
// durable. One more is due only where two transactions in a row have columns in common, or when the
// thread was held up for so long that the pool's own thread made the parity durable meanwhile
// (core/session/idle_drain.hpp). With a speculative log there is one, for the log, and at times a
// checkpoint's two.
template <typename Complain>
void verify_commit(const row& r, const Complain& complain, const std::string& name) {
  const costs& c = *r.per_op;
  // Of objects that are overwritten repeatedly, one in some hundred gets the bytes that it has.
  const double same = r.work.starts_with("overwrite_hot") ? 0.01 : 1e-9;
  if (r.config.rfind("redo-", 0) == 0) {
    if (!(c.fences > 2 - same && c.fences <= 2))
      complain(fmt::format("{} fences instead of 2: {}", c.fences, name));
    if (c.bytes_log <= 0) complain("no bytes of log: " + name);
  } else {
    if (!(c.fences >= 1 - same && c.fences <= 1.1))
      complain(fmt::format("{} fences instead of 1: {}", c.fences, name));
    if (r.config.rfind("spec-", 0) == 0) {
      if (c.bytes_log <= 0) complain("no bytes of log: " + name);
    } else if (c.bytes_log != 0)
      complain(fmt::format("{} bytes of log instead of none: {}", c.bytes_log, name));
  }
}

}  // namespace

int verify(const options& o, const std::vector<row>& rows) {
  int wrong = 0;
  const auto complain = [&](const std::string& what) {
    fmt::print(stderr, "scute-bench: {}\n", what);
    ++wrong;
  };
  const auto name = [](const row& r) {
    return fmt::format("{} {} {} {} {} {}, {} threads", r.work, r.structure, r.distribution, r.size,
                       r.system, r.config, r.threads);
  };
  const auto find = [](const std::vector<row>& in, const row& like) -> const row* {
    for (const row& r : in)
      if (r.same_case(like) && r.system == like.system && r.config == like.config) return &r;
    return nullptr;
  };

  std::vector<row> expected;
  for (const benchmark_group& g : benchmark_groups()) g.expected(o, expected);
  const std::vector<row> again = from_json(to_json(rows));
  if (again.size() != rows.size()) complain("the JSON has another number of rows");
  if (expected.size() != rows.size())
    complain(fmt::format("{} rows, expected {}", rows.size(), expected.size()));
  for (const row& e : expected) {
    const row* r = find(again, e);
    if (r == nullptr) {
      complain("missing: " + name(e));
      continue;
    }
    if (r->work == "table3") {
      if (!r->sizes || r->sizes->insert.new_bytes <= 0 || r->sizes->insert.modified_bytes <= 0 ||
          r->sizes->remove.modified_bytes <= 0 || r->ops == 0)
        complain("no sizes: " + name(e));
      continue;
    }
    if (r->work == "stamp_load") {
      if (!r->load || r->load->bytes <= 0 || r->load->updates == 0 || r->ops == 0)
        complain("no load: " + name(e));
      continue;
    }
    if (!(r->ns_per_op > 0) || !(r->spread >= 0) || r->ops == 0) complain("no time: " + name(e));
    const auto is = [&](const char* group) { return r->work.rfind(group, 0) == 0; };
    const bool transactions = r->work == "alloc" || r->work == "free" || is("overwrite") ||
                              is("edit_") || is("map_") || is("ycsb_") || is("ents_") ||
                              is("stamp");
    if (transactions && r->system == "scute" && !r->per_op) complain("not counted: " + name(e));
    if (is("map_get") && r->per_op && r->per_op->fences > 0.1)
      complain("fences of a look-up: " + name(e));
    if ((is("map_insert") || is("map_remove")) && r->per_op && r->per_op->fences < 0.99)
      complain("a transaction without a fence: " + name(e));
    if (is("kv_") && (!r->p50_ns || !r->p99_ns || *r->p50_ns > *r->p99_ns || *r->p50_ns <= 0 ||
                      r->file_system.empty()))
      complain("latencies or file system: " + name(e));
    if (r->work.rfind("policy", 0) == 0 && (!r->untested || *r->untested < 0 || *r->untested > 1 ||
                                            (r->config == "conservative" && *r->untested != 0)))
      complain("share of untested bytes: " + name(e));
    if (r->per_op && r->system == "scute" && r->work.rfind("overwrite", 0) == 0 &&
        r->size <= 4096 && r->threads == 1)
      verify_commit(*r, complain, name(e));
  }
  if (wrong == 0) fmt::print("verified: {} rows\n", rows.size());
  return wrong == 0 ? 0 : 1;
}

}  // namespace scute::bench
