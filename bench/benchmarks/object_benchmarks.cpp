// SPDX-License-Identifier: BSD-3-Clause
// Object transactions (Pangolin Fig. 3-4, CodePM Fig. 7-9): one object per transaction.
//
// For each size and number of threads every system gets a pool with the same population. Then
// follow the rounds: in a round each system, one after the other, in an order that rotates, runs
// one batch of every work. So whatever slows the machine down for a while hits all systems alike,
// and the medians ignore it. All systems get the same sequence of slots and bytes.
//
// The slots of a thread: [first, first + objects) are overwritten and live throughout;
// [first + objects, first + objects + ops) are allocated and freed in every round.
#include <fmt/format.h>

#include <map>
#include <numeric>

#include "benchmarks/benchmarks.hpp"
#include "systems/object_system.hpp"
#include "systems/pmemobj_huge.hpp"

namespace scute::bench {
namespace {

constexpr const char* alloc = "alloc";
constexpr const char* sequential = "overwrite_sequential";
constexpr const char* random_order = "overwrite_random";
constexpr const char* edit_work = "edit_in_place";
constexpr const char* free_work = "free";

using slots = std::vector<uint32_t>;

bool contends(const options& o, const system_kind& k) {
  return o.wants_system(k.name) && (k.name != pmemobj_huge || grants_huge_pages(o.dir));
}

bool does(const system_kind& k, const std::string& work) {
  return (work != free_work || k.frees) && (work != edit_work || k.edits);
}

// One round's access sequence of one thread.
struct sequence {
  slots fresh, fresh_shuffled, in_order, shuffled;
};

struct contestant {
  const system_kind* kind = nullptr;
  std::unique_ptr<object_system> system;
  std::map<std::string, std::vector<double>> samples;
  std::map<std::string, costs> spent;
};

uint32_t objects_of(const options& o, uint64_t size, unsigned threads) {
  if (o.objects != 0) return o.objects;
  const uint64_t most = (uint64_t{1} << 18) / threads;
  return static_cast<uint32_t>(
      std::max<uint64_t>(std::min(o.working_set / size / threads, most), 64));
}

class cell {
 public:
  cell(session& s, uint64_t size, unsigned threads)
      : s_(s),
        size_(size),
        threads_(threads),
        objects_(objects_of(s.o, size, threads)),
        // A batch of large objects takes long enough with fewer of them.
        ops_(static_cast<uint32_t>(
            std::min<uint64_t>(s.o.ops, std::max<uint64_t>((uint64_t{96} << 20) / size, 64)))),
        overwrites_(std::min(ops_, objects_)),
        random_(s.o.seed * 1'000'003 + size * 7 + threads),
        content_(size, s.o.seed),
        sequences_(threads),
        order_(threads) {
    for (unsigned t = 0; t < threads_; ++t) {
      order_[t].resize(objects_);
      std::iota(order_[t].begin(), order_[t].end(), first(t));
      sequences_[t].fresh.resize(ops_);
      std::iota(sequences_[t].fresh.begin(), sequences_[t].fresh.end(), first(t) + objects_);
    }
  }

  void run() {
    for (const system_kind& kind : system_kinds()) {
      if (!contends(s_.o, kind)) continue;
      contestant c;
      c.kind = &kind;
      if (!make(c)) continue;
      populate(c);
      contestants_.push_back(std::move(c));
    }
    // The first round warms up: caches, page tables, and the space that the fresh objects reuse.
    for (unsigned round = 0; round <= s_.o.rounds; ++round) {
      plan(round);
      for (size_t i = 0; i < contestants_.size(); ++i)
        play(contestants_[(i + round) % contestants_.size()], round);
    }
    for (contestant& c : contestants_)
      for (const auto& [work, samples] : c.samples) {
        row r;
        r.work = work;
        r.size = size_;
        r.threads = threads_;
        r.system = c.kind->system;
        r.config = c.kind->config;
        r.ops = samples.size() * batch(work) * threads_;
        summarize(r, samples);
        if (c.spent.count(work) != 0)
          r.per_op = costs{}.add(c.spent[work], 1 / static_cast<double>(r.ops));
        s_.rows.push_back(r);
      }
  }

 private:
  uint32_t first(unsigned t) const { return t * (objects_ + ops_); }
  uint32_t batch(const std::string& work) const {
    return work == alloc || work == free_work ? ops_ : overwrites_;
  }

  // A contestant that gets no huge pages this time has no rows of this size.
  bool make(contestant& c) {
    const std::string& name = c.kind->name;
    try {
      c.system = c.kind->make(*c.kind, s_.o, {size_, threads_ * (objects_ + ops_), s_.path(name)});
      return true;
    } catch (const no_huge_pages& e) {
      fmt::print(stderr, "scute-bench: objects of {} bytes, {} is left out: {}\n", size_, name,
                 e.what());
      return false;
    }
  }

  void populate(contestant& c) {
    s_.workers.run(threads_, [&](unsigned t) { c.system->alloc(order_[t], content_.of(0)); });
  }

  void plan(unsigned round) {
    for (unsigned t = 0; t < threads_; ++t) {
      sequence& q = sequences_[t];
      q.fresh_shuffled = q.fresh;
      shuffle_front(q.fresh_shuffled, ops_, random_);
      shuffle_front(order_[t], overwrites_, random_);
      q.shuffled.assign(order_[t].begin(), order_[t].begin() + overwrites_);
      q.in_order.resize(overwrites_);
      const uint32_t start = static_cast<uint32_t>(uint64_t{round} * overwrites_ % objects_);
      for (uint32_t i = 0; i < overwrites_; ++i) q.in_order[i] = first(t) + (start + i) % objects_;
    }
  }

  void play(contestant& c, unsigned round) {
    const bool fresh = s_.o.wants(alloc) || s_.o.wants(free_work);
    const uint64_t number = 3 * uint64_t{round} + 1;  // of the batch; see content_source
    if (fresh)
      measure(c, round, alloc,
              [&](object_system& s, const sequence& q) { s.alloc(q.fresh, content_.of(number)); });
    if (s_.o.wants(sequential))
      measure(c, round, sequential, [&](object_system& s, const sequence& q) {
        s.overwrite(q.in_order, content_.of(number));
      });
    if (s_.o.wants(random_order))
      measure(c, round, random_order, [&](object_system& s, const sequence& q) {
        s.overwrite(q.shuffled, content_.of(number + 1));
      });
    if (s_.o.wants(edit_work))
      measure(c, round, edit_work, [&](object_system& s, const sequence& q) {
        s.edit(q.shuffled, content_.of(number + 2));
      });
    if (fresh)
      measure(c, round, free_work,
              [&](object_system& s, const sequence& q) { s.free(q.fresh_shuffled); });
  }

  template <typename Fn>
  void measure(contestant& c, unsigned round, const char* work, Fn&& fn) {
    costs before, after;
    if (!does(*c.kind, work)) return;
    const bool counts = c.system->count(before);
    const double ns = s_.workers.run(threads_, [&](unsigned t) { fn(*c.system, sequences_[t]); });
    c.system->count(after);
    if (round == 0 || !s_.o.wants(work)) return;
    c.samples[work].push_back(ns / batch(work));
    if (counts) c.spent[work].add(after).add(before, -1);
  }

  session& s_;
  uint64_t size_;
  unsigned threads_;
  uint32_t objects_, ops_, overwrites_;
  random_source random_;
  content_source content_;
  std::vector<sequence> sequences_;
  std::vector<slots> order_;  // of each thread, its objects, shuffled further in every round
  std::vector<contestant> contestants_;
};

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {alloc, "allocate an object and fill it"},
    {sequential, "overwrite all bytes of an object, in the order of allocation"},
    {random_order, "overwrite all bytes of an object, in random order"},
    {edit_work, "change a quarter of an object where it lies, in random order"},
    {free_work, "free an object, in random order"}};

bool wanted(const options& o) {
  for (const auto& w : benchmarks)
    if (o.wants(w.first)) return true;
  return false;
}

unsigned steps(const options& o) {
  return wanted(o) ? static_cast<unsigned>(o.sizes.size() * o.threads.size()) : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  for (const unsigned threads : s.o.threads)
    for (const uint64_t size : s.o.sizes) {
      s.bar.step(
          fmt::format("objects of {} bytes, {} thread{}", size, threads, threads == 1 ? "" : "s"));
      cell(s, size, threads).run();
    }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const auto& w : benchmarks)
    if (o.wants(w.first))
      for (const unsigned threads : o.threads)
        for (const uint64_t size : o.sizes)
          for (const system_kind& kind : system_kinds())
            if (contends(o, kind) && does(kind, w.first)) {
              row r;
              r.work = w.first;
              r.size = size;
              r.threads = threads;
              r.system = kind.system;
              r.config = kind.config;
              rows.push_back(r);
            }
}

}  // namespace

benchmark_group object_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
