// SPDX-License-Identifier: BSD-3-Clause
// The maps (Pangolin Fig. 5, CodePM Fig. 7): random keys are inserted into an empty map, looked up
// and removed, each in an order of its own; one transaction per key, one thread.
//
// In a round every system has a new map in a new pool. The keys of a phase are cut into slices, and
// every system runs a slice, in an order that rotates, before any runs the next one: so the systems
// are at the same size of the map at the same time, and what slows the machine down for a second
// or two hits all of them. The time of an operation is that of all slices over all keys; the median
// over the rounds is the result, and their spread the spread.
//
// All maps of a round exist at once. A node of the radix tree takes 4136 bytes, one per key, so
// that a million keys would take 5 GiB per system: it gets a tenth of the keys.
#include <fmt/format.h>

#include <map>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/map_system.hpp"
#include "systems/object_system.hpp"
#include "systems/pmemobj_huge.hpp"

namespace scute::bench {
namespace {

constexpr const char* insert = "map_insert";
constexpr const char* get = "map_get";
constexpr const char* remove_work = "map_remove";

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {insert, "insert a random key into each of six maps (--structures)"},
    {get, "look up a key that is there"},
    {remove_work, "remove a key that is there"}};

// With --quick without the configurations that lie between others.
bool contends(const options& o, const system_kind& k) {
  if (k.name == "memcpy" || k.config == "floor" || k.name == "logfree2-mlpc" ||
      !o.wants_system(k.name))
    return false;
  if (k.name == pmemobj_huge) return grants_huge_pages(o.dir);
  return !o.quick || (k.name != "redo-ml" && k.name != "redo-mlp" && k.name != "plain-mlpc");
}

bool wanted(const options& o) {
  return o.wants(insert) || o.wants(get) || o.wants(remove_work);
}

uint64_t keys_of(const options& o, const std::string& structure) {
  return structure == "rtree" ? std::max<uint64_t>(o.keys / 10, 20) : o.keys;
}

std::unique_ptr<map_system> make(const system_kind& kind, const map_population& p) {
  if (kind.system == "scute") return make_scute_map(p);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
  if (kind.system == "libpmemobj" || kind.system == pmemobj_huge)
    return make_pmemobj_map(p, kind.system == pmemobj_huge);
#endif
  return make_volatile_map(p);
}

row row_of(const char* work, const std::string& structure, const system_kind& kind) {
  row r;
  r.work = work;
  r.structure = structure;
  r.size = map_value_size(structure);
  r.system = kind.system;
  r.config = kind.config;
  return r;
}

class match {
 public:
  match(session& s, const std::string& structure) : s_(s), structure_(structure) {
    random_source random(s.o.seed * 1'000'033 + 17);
    keys_.resize(keys_of(s.o, structure));
    for (uint64_t& key : keys_) key = random.next();  // all of them different: see random_source
    looked_up_ = removed_ = keys_;
    shuffle_front(looked_up_, looked_up_.size(), random);
    shuffle_front(removed_, removed_.size(), random);
    for (const system_kind& kind : system_kinds())
      if (contends(s.o, kind)) contestants_.push_back({&kind, nullptr, {}, {}});
  }

  void run() {
    for (unsigned round = 0; round < s_.o.map_rounds; ++round) play(round);
    for (const char* work : {insert, get, remove_work})
      for (contestant& c : contestants_)
        if (s_.o.wants(work)) publish(work, c);
  }

 private:
  struct contestant {
    const system_kind* kind;
    std::unique_ptr<map_system> map;
    std::map<std::string, std::vector<double>> samples;  // ns per operation of each round
    std::map<std::string, costs> spent;
  };

  void play(unsigned round) {
    start();
    phase(insert, round, keys_, &map_system::insert);
    for (contestant& c : contestants_) expect(c, keys_.size(), round);
    if (s_.o.wants(get)) phase(get, round, looked_up_, &map_system::get);
    if (s_.o.wants(remove_work)) {
      phase(remove_work, round, removed_, &map_system::remove);
      for (contestant& c : contestants_) expect(c, 0, round);
    }
    for (contestant& c : contestants_) c.map.reset();
  }

  // A contestant that gets no huge pages this time has no rows of this structure.
  void start() {
    std::erase_if(contestants_, [&](contestant& c) {
      try {
        c.map = make(*c.kind, {structure_, keys_.size(), s_.path(c.kind->name), c.kind->config});
        return false;
      } catch (const no_huge_pages& e) {
        fmt::print(stderr, "scute-bench: {}, {} is left out: {}\n", structure_, c.kind->name,
                   e.what());
        return true;
      }
    });
  }

  void phase(const char* work, unsigned round, const std::vector<uint64_t>& keys,
             uint64_t (map_system::*operation)(std::span<const uint64_t>)) {
    const size_t slices = std::clamp<size_t>(keys.size() / 500, 1, 20);
    const size_t n = contestants_.size();
    std::vector<double> ns(n);
    for (size_t slice = 0; slice < slices; ++slice) {
      const size_t from = slice * keys.size() / slices, to = (slice + 1) * keys.size() / slices;
      const std::span part(keys.data() + from, to - from);
      for (size_t i = 0; i < n; ++i) {
        const size_t which = (i + slice + round) % n;
        contestant& c = contestants_[which];
        costs before, after;
        const bool counts = c.map->count(before);
        uint64_t done = 0;
        ns[which] += s_.workers.run(1, [&](unsigned) { done = ((*c.map).*operation)(part); });
        if (done != part.size())
          throw std::runtime_error(fmt::format("{} of {}, {}: {} of {} keys", work, structure_,
                                               c.kind->name, done, part.size()));
        if (counts && c.map->count(after)) c.spent[work].add(after).add(before, -1);
      }
    }
    for (size_t i = 0; i < n; ++i)
      contestants_[i].samples[work].push_back(ns[i] / static_cast<double>(keys.size()));
  }

  // Looking at every entry takes its time: in the first round, and at every invariant with --tiny.
  void expect(contestant& c, uint64_t entries, unsigned round) {
    if (round != 0) return;
    const uint64_t there = c.map->entries();
    const std::string wrong = s_.o.tiny ? c.map->check() : "";
    if (there != entries || !wrong.empty())
      throw std::runtime_error(fmt::format("{}, {}: {} entries instead of {}; {}", structure_,
                                           c.kind->name, there, entries, wrong));
  }

  void publish(const char* work, contestant& c) {
    row r = row_of(work, structure_, *c.kind);
    r.ops = c.samples[work].size() * keys_.size();
    summarize(r, c.samples[work]);
    if (c.spent.count(work) != 0)
      r.per_op = costs{}.add(c.spent[work], 1 / static_cast<double>(r.ops));
    s_.rows.push_back(r);
  }

  session& s_;
  std::string structure_;
  std::vector<uint64_t> keys_, looked_up_, removed_;
  std::vector<contestant> contestants_;
};

unsigned steps(const options& o) {
  unsigned n = 0;
  for (const std::string& structure : map_structures()) n += o.wants_structure(structure) ? 1 : 0;
  return wanted(o) ? n : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  for (const std::string& structure : map_structures()) {
    if (!s.o.wants_structure(structure)) continue;
    s.bar.step(fmt::format("{}, {} keys", structure, keys_of(s.o, structure)));
    match(s, structure).run();
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const char* work : {insert, get, remove_work})
    for (const std::string& structure : map_structures())
      for (const system_kind& kind : system_kinds())
        if (o.wants(work) && o.wants_structure(structure) && contends(o, kind))
          rows.push_back(row_of(work, structure, kind));
}

}  // namespace

benchmark_group map_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
