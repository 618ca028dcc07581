// SPDX-License-Identifier: BSD-3-Clause
// The applications of STAMP (SpecPMT Fig. 1 and 12). In a round every system, in an order that
// rotates, runs the whole application in a fresh pool, on the same input; only the run itself is
// timed. The time of a transaction is that of the run, for each thread, over its transactions; the
// median over the rounds is the result. In addition to the times, the report counts what a
// transaction does, and shows the paper's Table 2.
//
// Before the run and after it a system does what it puts off: what the preparation left does not
// burden the run, and the counters have all that the run has caused. The time that this took
// afterwards is reported next to the run's time. The result of the first round is checked.
#include <fmt/format.h>

#include <numeric>

#include "benchmarks/benchmarks.hpp"
#include "systems/pmemobj_huge.hpp"
#include "systems/stamp_system.hpp"

namespace scute::bench {
namespace {

namespace stamp = workloads::stamp;

constexpr const char* run_work = "stamp";
constexpr const char* load_work = "stamp_load";

std::string name_of(const stamp::application& a) {
  return std::string(run_work) + "_" + a.name;
}

std::vector<std::pair<std::string, std::string>> names() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const stamp::application& a : stamp::applications())
    all.emplace_back(name_of(a), std::string("transactions of STAMP's ") + a.name);
  all.emplace_back(load_work, "bytes and updates of such transactions, counted");
  return all;
}

bool contends(const options& o, const stamp_kind& k) {
  if (!o.wants_system(k.name) || (k.asked_for && o.systems.empty())) return false;
  return k.name != pmemobj_huge || grants_huge_pages(o.dir);
}

stamp::scale scale_of(const options& o) {
  return o.tiny ? stamp::scale::tiny : o.quick ? stamp::scale::quick : stamp::scale::full;
}

row row_of(const char* work, const stamp::application& a, unsigned threads) {
  row r;
  r.work = work;
  r.structure = a.name;
  r.threads = threads;
  r.system = "scute";
  r.config = "counted";
  return r;
}
row row_of(const stamp::application& a, unsigned threads, const stamp_kind& kind) {
  row r = row_of(run_work, a, threads);
  r.system = kind.system;
  r.config = kind.config;
  return r;
}

class match {
 public:
  match(session& s, const stamp::application& a, unsigned threads)
      : s_(s),
        application_(a),
        threads_(threads),
        input_(stamp::make_input(a.name, scale_of(s.o), threads, s.o.seed)) {
    for (const stamp_kind& kind : stamp_kinds())
      if (contends(s.o, kind)) contestants_.push_back({&kind, {}, 0, {}, 0, false, false});
  }

  void run() {
    for (unsigned round = 0; round < s_.o.map_rounds; ++round)
      for (size_t i = 0; i < contestants_.size(); ++i)
        play(contestants_[(i + round) % contestants_.size()], round == 0);
    for (const contestant& c : contestants_) publish(c);
  }

 private:
  struct contestant {
    const stamp_kind* kind;
    std::vector<double> samples;  // ns of a transaction
    uint64_t transactions = 0;
    costs spent;
    double deferred_ns = 0;  // of all rounds
    bool counts = false, defers = false;
  };

  // A contestant that gets no huge pages this time has one sample less.
  void play(contestant& c, bool check) {
    try {
      const std::string path = s_.path(c.kind->name);
      const auto system = c.kind->make(*c.kind, {input_, threads_, path, stamp_pool_size(s_.o)});
      system->drain();
      costs before, after;
      system->count(before);
      std::vector<uint64_t> done(threads_);
      const double ns = s_.workers.run(threads_, [&](unsigned t) { done[t] = system->run(t); });
      const uint64_t end = now_ns();
      c.defers = system->drain();
      c.deferred_ns += static_cast<double>(now_ns() - end);
      c.counts = system->count(after);
      c.spent.add(after).add(before, -1);
      if (const std::string wrong = check ? system->check() : ""; !wrong.empty())
        throw std::runtime_error(c.kind->name + ": " + wrong);
      const auto all = std::accumulate(done.begin(), done.end(), uint64_t{0});
      c.samples.push_back(ns * threads_ / static_cast<double>(all));
      c.transactions += all;
    } catch (const no_huge_pages& e) {
      fmt::print(stderr, "scute-bench: {}, {} is left out of a round: {}\n", application_.name,
                 c.kind->name, e.what());
    }
  }

  void publish(const contestant& c) {
    if (c.samples.empty()) return;
    row r = row_of(application_, threads_, *c.kind);
    r.ops = c.transactions;
    summarize(r, c.samples);
    const double each = 1 / static_cast<double>(r.ops);
    if (c.counts) r.per_op = costs{}.add(c.spent, each);
    if (c.defers) r.deferred_ns = c.deferred_ns * each;
    s_.rows.push_back(r);
  }

  session& s_;
  const stamp::application& application_;
  const unsigned threads_;
  const stamp::any_input input_;
  std::vector<contestant> contestants_;
};

// f(application, threads) for each that is wanted.
template <class F>
void for_each_match(const options& o, F&& f) {
  for (const unsigned threads : o.threads)
    for (const stamp::application& a : stamp::applications())
      if (o.wants(name_of(a)) && threads <= a.threads_max) f(a, threads);
}

unsigned steps(const options& o) {
  unsigned n = o.wants(load_work) ? 1 : 0;
  for_each_match(o, [&](const stamp::application&, unsigned) { ++n; });
  return n;
}

void run(session& s) {
  for_each_match(s.o, [&](const stamp::application& a, unsigned threads) {
    s.bar.step(fmt::format("STAMP, {}, {} thread{}", a.name, threads, threads == 1 ? "" : "s"));
    match(s, a, threads).run();
  });
  if (!s.o.wants(load_work)) return;
  s.bar.step("STAMP, counted");
  for (const stamp::application& a : stamp::applications()) {
    row r = row_of(load_work, a, 1);
    r.load = stamp::measure(stamp::make_input(a.name, scale_of(s.o), 1, s.o.seed));
    r.ops = r.load->transactions;
    s.rows.push_back(r);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for_each_match(o, [&](const stamp::application& a, unsigned threads) {
    for (const stamp_kind& kind : stamp_kinds())
      if (contends(o, kind)) rows.push_back(row_of(a, threads, kind));
  });
  if (!o.wants(load_work)) return;
  for (const stamp::application& a : stamp::applications()) rows.push_back(row_of(load_work, a, 1));
}

}  // namespace

uint64_t stamp_pool_size(const options& o) noexcept {
  const uint64_t mebibytes = o.tiny ? 48 : o.quick ? 96 : 384;
  return mebibytes << 20;
}

benchmark_group stamp_benchmarks() {
  return {names(), steps, run, expected};
}

}  // namespace scute::bench
