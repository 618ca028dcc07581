// SPDX-License-Identifier: BSD-3-Clause
// The costs of cleaning for a program, over the live share of the file. In shared memory.
//
// Every contestant holds the same objects in a file of its own, no larger than they are at that
// share, and a little. In a round each of them, in an order that rotates, writes random objects
// again, a section each. Before that it has written its file over twice. So the cleaner finds what
// a program's cleaner finds after a long time. An "inline" contestant has no thread that cleans: a
// section that needs room cleans, and its time is the only one. With a thread, the time of a round
// lasts until that thread has nothing left to do; the time after the last section is "deferred".
// `live_none` has room for all that it writes, and is not cleaned.
//
// In the rows bytes of the log are those that the program's sections have written, bytes of
// metadata what the cleaner has copied. In "stages", `file_per_live` is how large the used part of
// the file is, in bytes for each that counts.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "benchmarks/pow_benchmarks.hpp"
#include "random.hpp"
#include "systems/content.hpp"
#include "systems/pow_objects.hpp"

namespace scute::bench {
namespace {

constexpr const char* clean = "pow_clean";
constexpr uint32_t object_size = 256;
constexpr uint64_t written_size = object_size + 48;  // with heads

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {clean, "write an object of 256 bytes into a file that is cleaned, over its live share"}};

struct place {
  unsigned live;  // per cent; 0: no cleaning
  bool thread;    // that cleans
  const char* config;

  std::string structure() const { return live == 0 ? "live_none" : fmt::format("live_{}", live); }
};

std::vector<place> places(const options& o) {
  std::vector<place> all;
  if (!o.wants(clean) || !o.wants_system("pow-none")) return all;
  all.push_back({0, false, "pow-none"});
  for (const unsigned live : {20U, 33U, 50U, 67U, 80U}) {
    if (o.tiny && live != 33 && live != 50) continue;
    all.push_back({live, true, "pow-none"});
    all.push_back({live, false, "pow-none-inline"});
  }
  return all;
}

uint64_t objects_of(const options& o) {
  return o.tiny ? 4000 : o.quick ? 64'000 : 256'000;
}
unsigned rounds_of(const options& o) {
  return o.tiny ? 1 : (o.rounds + 2) / 3;
}
// Of each thread: a round of the file's whole length, or nearly.
uint64_t ops_of(const options& o) {
  return objects_of(o) / 2;
}

row row_of(const place& p, unsigned threads) {
  row r;
  r.work = clean;
  r.structure = p.structure();
  r.size = object_size;
  r.threads = threads;
  r.system = "scute";
  r.config = p.config;
  return r;
}

class contestant {
 public:
  contestant(session& s, const place& p, unsigned threads)
      : what(p), path_(s.path(fmt::format("{}.{}.{}", clean, p.config, p.structure()))) {
    const uint64_t n = objects_of(s.o), all = n * written_size;
    scute_pow_options o;
    scute_pow_options_init(&o);
    o.flags = SCUTE_POW_NEW | (p.thread ? 0 : SCUTE_POW_NO_CLEANER);
    o.medium = SCUTE_MEDIUM_RAM;
    o.protection = SCUTE_POW_NONE;
    o.segment_size = s.o.tiny ? 32 << 10 : 256 << 10;
    // Segments of each thread, of the cleaner, and those that are kept for it.
    const uint64_t open = (threads + 6) * o.segment_size;
    const uint64_t rounds = rounds_of(s.o) + 1;
    o.max_size = p.live == 0 ? all + 2 * rounds * threads * ops_of(s.o) * written_size + open
                             : all * 100 / p.live + open;
    o.max_live_share = p.live == 0 ? 0.5 : p.live / 100.0;
    // With a thread, the dial is the bound. The end of the file bounds a writer that is faster than
    // the thread.
    if (p.thread) o.max_size += o.max_size / 4;
    o.size = o.max_size;
    must(scute_pow_open(path_.c_str(), &o, &store_));
    objects_ = std::make_unique<pow_objects>(store_, object_size, n);
    const content_source source(object_size, s.o.seed);
    content now = source.of(0);
    for (uint64_t i = 0; i < n; ++i) objects_->add(now.next());
    random_source random(s.o.seed + 1);
    if (p.live != 0)
      for (uint64_t i = 0; i < 2 * n * 100 / p.live; ++i)
        objects_->write(random.below(n), now.next());
    else
      for (uint64_t i = 0; i < n; ++i) objects_->write(random.below(n), now.next());
    settle();
  }
  ~contestant() {
    if (store_ != nullptr) scute_pow_close(store_);
    ::unlink(path_.c_str());
  }
  contestant(const contestant&) = delete;
  contestant& operator=(const contestant&) = delete;

  // Each thread has every threads-th object.
  void play(session& s, unsigned threads, unsigned round) {
    const scute_pow_info before = info();
    const content_source source(object_size, s.o.seed);
    const uint64_t mine = objects_->count() / threads;
    const double ns = s.workers.run(threads, [&](unsigned t) {
      random_source random((s.o.seed + round) * 1'000'003 + t);
      content now = source.of(round);
      for (uint64_t i = 0; i < ops_of(s.o); ++i)
        objects_->write(random.below(mine) * threads + t, now.next());
    });
    const uint64_t end = now_ns();
    const uint64_t quiet = settle();
    if (round == 0) return;
    const scute_pow_info after = info();
    const auto n = static_cast<double>(ops_of(s.o));
    // The work that the thread has put off burdens the sections that caused it.
    const double late = quiet > end ? static_cast<double>(quiet - end) / n : 0;
    samples.push_back(ns / n + late);
    deferred.push_back(late);
    const auto copied = static_cast<double>(after.cleaned_bytes - before.cleaned_bytes);
    spent.bytes_metadata += copied;
    spent.bytes_log += static_cast<double>(after.bytes_written - before.bytes_written) - copied;
    spent.fences += static_cast<double>(after.fences - before.fences);
    spent.lines += static_cast<double>(after.lines - before.lines);
    ops += threads * ops_of(s.o);
    file_per_live = static_cast<double>(after.used_bytes) / static_cast<double>(after.live_bytes);
  }

  const place what;
  std::vector<double> samples, deferred;
  costs spent;
  uint64_t ops = 0;
  double file_per_live = 0;

 private:
  scute_pow_info info() const {
    scute_pow_info i{};
    i.struct_size = sizeof i;
    must(scute_pow_get_info(store_, &i));
    return i;
  }
  // Waits until the thread has nothing to do; when it was done, at the latest.
  uint64_t settle() const {
    if (!what.thread) return 0;
    // It looks every 20 ms whether there is something.
    constexpr std::chrono::milliseconds look{1};
    constexpr unsigned long enough = 60;
    uint64_t last = info().cleaned_segments, since = now_ns();
    for (unsigned long still = 0; still < enough; ++still) {
      std::this_thread::sleep_for(look);
      const uint64_t now = info().cleaned_segments;
      if (now == last) continue;
      last = now;
      since = now_ns();
      still = 0;
    }
    return since;
  }

  std::string path_;
  scute_pow* store_ = nullptr;
  std::unique_ptr<pow_objects> objects_;
};

void measure(session& s, unsigned threads) {
  std::vector<std::unique_ptr<contestant>> all;
  for (const place& p : places(s.o)) {
    s.bar.step(fmt::format("{}, {}, {}, {} thread{}", clean, p.config, p.structure(), threads,
                           threads == 1 ? "" : "s"));
    all.push_back(std::make_unique<contestant>(s, p, threads));
  }
  for (unsigned round = 0; round <= rounds_of(s.o); ++round)
    for (size_t i = 0; i < all.size(); ++i) all[(i + round) % all.size()]->play(s, threads, round);
  for (const auto& c : all) {
    row r = row_of(c->what, threads);
    r.ops = c->ops;
    summarize(r, c->deferred);
    r.deferred_ns = r.ns_per_op;
    summarize(r, c->samples);
    r.per_op = costs{}.add(c->spent, 1 / static_cast<double>(c->ops));
    r.stages = {{"file_per_live", c->file_per_live}};
    s.rows.push_back(r);
  }
}

unsigned steps(const options& o) {
  return static_cast<unsigned>(places(o).size() * o.threads.size());
}

void run(session& s) {
  if (places(s.o).empty()) return;
  for (const unsigned threads : s.o.threads) measure(s, threads);
}

void expected(const options& o, std::vector<row>& rows) {
  for (const unsigned threads : o.threads)
    for (const place& p : places(o)) rows.push_back(row_of(p, threads));
}

}  // namespace

benchmark_group pow_clean_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
