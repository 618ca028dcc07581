// SPDX-License-Identifier: BSD-3-Clause
// The costs of the policies, and the bytes that they leave untested: Figure 6 and Table 4 of the
// Pangolin paper, for our maps. One operation looks a random key up through the pool and, if it is
// not there, inserts it in a transaction of its own; three of four do.
//
// The times are taken without the account (SCUTE_ACCOUNT), which costs something; a run of its own
// counts. The share is of all object bytes that the same run accesses under policy default, tested
// or not: a library that tests nothing would hand all of them out untested. For the scrubbing
// policies it is the most between two scrubs, as in the paper.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <scute/containers.hpp>
#include <scute/scute.hpp>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

constexpr const char* ordered = "policy_ordered_map";
constexpr const char* hashed = "policy_hash_map";

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {ordered, "look up and insert in an ordered_map under each policy; bytes left untested"},
    {hashed, "the same in a hash_map"}};

struct policy_kind {
  const char* name;
  scute::policy what;
  uint32_t scrubs;  // per run
};
constexpr policy_kind kinds[] = {{"default", scute::policy::standard, 0},
                                 {"scrub-tenth", scute::policy::scrub, 10},
                                 {"scrub-twentieth", scute::policy::scrub, 20},
                                 {"conservative", scute::policy::conservative, 0}};

// The pools are those of the default protection.
bool wants(const options& o, const char* work) {
  return o.wants(work) && o.wants_system("redo-mlpc");
}

unsigned steps(const options& o) {
  return (wants(o, ordered) ? 1u : 0u) + (wants(o, hashed) ? 1u : 0u);
}

struct outcome {
  double ns_per_op = 0;
  scute_counters counted{};
};

template <typename Map>
outcome play(session& s, const policy_kind& kind, bool account) {
  struct root_type {
    Map map;
  };
  scute::options how;
  // A node per insert at the most, and as much again for what grows by halves.
  how.size = (uint64_t{64} << 20) + (uint64_t{s.o.ops} * 512 & ~uint64_t{4095});
  how.overwrite = true;
  how.policy = kind.what;
  how.scrub_every = kind.scrubs == 0 ? 0 : std::max(1u, s.o.ops / kind.scrubs);
  how.account = account;
  const std::string path = s.path("policy");
  outcome result;
  {
    auto pool = scute::pool::create(path, how);
    const auto root = pool.template root<root_type>();
    const double ns = s.workers.run(1, [&](unsigned) {
      random_source random(s.o.seed);
      for (uint32_t i = 0; i < s.o.ops; ++i) {
        const uint64_t key = random.below(uint64_t{s.o.ops} * 2);
        if (pool.get(root).map.contains(pool, key)) continue;
        pool.transact([&](scute::tx& tx) {
          tx.edit(root, &root_type::map).insert_or_assign(tx, key, uint64_t{i});
        });
      }
    });
    result.ns_per_op = ns / s.o.ops;
    result.counted = pool.stats();
  }
  std::filesystem::remove(path);
  return result;
}

row row_of(const options& o, const char* work, const policy_kind& kind) {
  row r;
  r.work = work;
  r.size = o.ops;
  r.system = "scute";
  r.config = kind.name;
  return r;
}

template <typename Map>
void run_map(session& s, const char* work) {
  if (!wants(s.o, work)) return;
  s.bar.step(work);
  std::vector<double> samples[std::size(kinds)];
  for (unsigned round = 0; round <= s.o.rounds; ++round)
    for (size_t i = 0; i < std::size(kinds); ++i) {
      const size_t k = (i + round) % std::size(kinds);
      const double ns = play<Map>(s, kinds[k], false).ns_per_op;
      if (round != 0) samples[k].push_back(ns);
    }
  const scute_counters all = play<Map>(s, kinds[0], true).counted;
  const auto accessed = static_cast<double>(all.verified_bytes + all.unverified_bytes);
  for (size_t k = 0; k < std::size(kinds); ++k) {
    row r = row_of(s.o, work, kinds[k]);
    r.ops = s.o.ops;
    summarize(r, samples[k]);
    const scute_counters c = play<Map>(s, kinds[k], true).counted;
    r.untested = static_cast<double>(c.unverified_max) / accessed;
    s.rows.push_back(r);
  }
}

void run(session& s) {
  run_map<scute::ordered_map<uint64_t, uint64_t>>(s, ordered);
  run_map<scute::hash_map<uint64_t, uint64_t>>(s, hashed);
}

void expected(const options& o, std::vector<row>& rows) {
  for (const char* work : {ordered, hashed})
    for (const policy_kind& kind : kinds)
      if (wants(o, work)) rows.push_back(row_of(o, work, kind));
}

}  // namespace

benchmark_group policy_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
