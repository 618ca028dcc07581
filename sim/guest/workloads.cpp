// SPDX-License-Identifier: BSD-3-Clause
#include "guest/workloads.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>

#include "guest/marked_store.hpp"
#include "guest/marks.hpp"
#include "options.hpp"
#include "systems/map_system.hpp"
#include "systems/mapped_file.hpp"
#include "systems/object_system.hpp"
#include "systems/pmemobj_huge.hpp"
#include "systems/record_system.hpp"
#include "systems/stamp_on.hpp"
#include "systems/stamp_system.hpp"
#include "workloads/stamp/applications.hpp"

namespace scute::sim {
namespace {

namespace stamp = workloads::stamp;

// How much a work does, by scale, on the simulated machine: `warm` operations, then `measured`
// ones. The filling before them is not simulated. So the lines that an operation touches first are
// in no cache, as if there were more data.
struct amount {
  size_t warm, measured;
};
amount amount_of(const guest_task& t) {
  return t.scale == "tiny" ? amount{500, 500} : amount{1500, 3000};
}

uint64_t mebibytes(const guest_task& t) {
  return (t.scale == "tiny" ? 48 : 96) * (uint64_t{1} << 20);
}
std::string file_of(const guest_task& t) {
  return t.dir + "/pool";
}

// A configuration of Scute's: ENGINE-PROTECTION. Those that bench/ has no line for are there as
// well.
bool is_engine(std::string_view system) {
  return system.starts_with("redo-") || system.starts_with("logfree-") ||
         system.starts_with("spec-");
}

// Not every application has locks: some are one thread's work.
void check_threads(const guest_task& t) {
  for (const stamp::application& a : stamp::applications())
    if (t.work.substr(6) == a.name && t.threads > a.threads_max)
      throw std::invalid_argument(t.work + " runs on one thread only");
}

// The home of marked nodes: memory of the machine's, mapped from a file as a pool would be.
class marked_home {
 public:
  using store_type = marked_store;
  marked_home(const std::string& path, uint64_t size) : file_(path, size) {}
  store_type& store() noexcept { return store_; }
  bool count(bench::costs&) const { return false; }

 private:
  bench::mapped_file file_;
  workloads::arena arena_{{file_.bytes(), file_.size()}};
  store_type store_{arena_};
};

class stamp_work final : public guest_workload {
 public:
  explicit stamp_work(const guest_task& t)
      : input_(stamp::make_input(t.work.substr(6),
                                 t.scale == "tiny" ? stamp::scale::tiny : stamp::scale::quick,
                                 t.threads, t.seed)) {
    check_threads(t);
    const bench::stamp_task task{input_, t.threads, file_of(t), mebibytes(t)};
    if (t.system == "marked") {
      system_ = bench::make_stamp_on<marked_home>(task, task.path, task.size);
      return;
    }
    if (is_engine(t.system)) {
      const bench::stamp_kind k{t.system, "scute", t.system, "", t.system, false, nullptr};
      system_ = bench::make_scute_stamp(k, task);
    } else {
      for (const bench::stamp_kind& k : bench::stamp_kinds())
        if (k.name == t.system) system_ = k.make(k, task);
    }
    if (!system_) throw std::invalid_argument("STAMP has no system " + t.system);
    system_->drain();
  }
  void run(unsigned thread) override { system_->run(thread); }
  std::string check() override { return system_->check(); }
  void drain() override { system_->drain(); }
  bool count(bench::costs& c) override { return system_->count(c); }

 private:
  const stamp::any_input input_;
  std::unique_ptr<bench::stamp_system> system_;
};

bench::system_kind kind_of(const std::string& name) {
  if (is_engine(name)) return {name, "scute", name, "", true, true, bench::make_scute};
  for (const bench::system_kind& k : bench::system_kinds())
    if (k.name == name) return k;
  throw std::invalid_argument("no system " + name);
}

// As bench/benchmarks does it: objects are overwritten in a random order, each in a transaction.
class overwrite_work final : public guest_workload {
 public:
  explicit overwrite_work(const guest_task& t)
      : size_(std::stoull(t.work.substr(10))), source_(size_, t.seed) {
    const uint64_t set = t.scale == "tiny" ? uint64_t{1} << 20 : uint64_t{6} << 20;
    const amount n = amount_of(t);
    const auto objects =
        static_cast<uint32_t>(std::max<uint64_t>(set / size_, n.warm + n.measured));
    bench::options o;
    o.dir = t.dir;
    o.working_set = objects * size_;
    const bench::system_kind k = kind_of(t.system);
    system_ = k.make(k, o, {size_, objects, file_of(t)});
    slots_.resize(objects);
    std::iota(slots_.begin(), slots_.end(), 0);
    std::shuffle(slots_.begin(), slots_.end(), std::mt19937_64(t.seed));
    system_->alloc(slots_, source_.of(1));
    system_->drain();
    warm_ = n.warm;
    slots_.resize(n.warm + n.measured);
  }
  void warm() override { system_->overwrite(std::span(slots_).first(warm_), source_.of(2)); }
  void run(unsigned) override {
    system_->overwrite(std::span(slots_).subspan(warm_), source_.of(3));
  }
  std::string check() override { return ""; }
  void drain() override { system_->drain(); }
  bool count(bench::costs& c) override { return system_->count(c); }

 private:
  uint64_t size_;
  bench::content_source source_;
  std::unique_ptr<bench::object_system> system_;
  std::vector<uint32_t> slots_;
  size_t warm_ = 0;
};

class insert_work final : public guest_workload {
 public:
  explicit insert_work(const guest_task& t)
      : warm_(amount_of(t).warm), keys_(amount_of(t).measured) {
    std::mt19937_64 random(t.seed);
    std::vector<uint64_t> before(t.scale == "tiny" ? 1000 : 10000);
    for (uint64_t& k : before) k = random();
    for (uint64_t& k : warm_) k = random();
    for (uint64_t& k : keys_) k = random();
    const std::string structure = t.work.substr(7);
    if (std::ranges::count(bench::map_structures(), structure) == 0)
      throw std::invalid_argument("no map " + structure);
    const bench::system_kind k = kind_of(t.system);
    const bench::map_population p{structure, before.size() + warm_.size() + keys_.size(),
                                  file_of(t), k.config};
    if (k.system == "scute") map_ = bench::make_scute_map(p);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
    else if (k.name == "libpmemobj" || k.name == bench::pmemobj_huge)
      map_ = bench::make_pmemobj_map(p, k.name == bench::pmemobj_huge);
#endif
    else
      map_ = bench::make_volatile_map(p);
    map_->insert(before);
    map_->drain();
  }
  void warm() override { map_->insert(warm_); }
  void run(unsigned) override { fresh_ = map_->insert(keys_); }
  std::string check() override {
    return fresh_ == keys_.size() ? "" : "unexpected keys were found";
  }
  void drain() override { map_->drain(); }
  bool count(bench::costs& c) override { return map_->count(c); }

 private:
  std::vector<uint64_t> warm_, keys_;
  std::unique_ptr<bench::map_system> map_;
  uint64_t fresh_ = 0;
};

class ycsb_work final : public guest_workload {
 public:
  explicit ycsb_work(const guest_task& t) {
    namespace ycsb = workloads::ycsb;
    const uint64_t records = t.scale == "tiny" ? 2000 : 10000;
    const bench::system_kind k = kind_of(t.system);
    const bench::record_population p{100, records + 20000, file_of(t), k.config};
    if (k.system == "scute") system_ = bench::make_scute_records(p);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
    else if (k.name == "libpmemobj" || k.name == bench::pmemobj_huge)
      system_ = bench::make_pmemobj_records(p, k.name == bench::pmemobj_huge);
#endif
    else
      system_ = bench::make_volatile_records(p);
    std::vector<ycsb::operation> load;
    for (uint64_t i = 0; i < records; ++i) load.push_back({ycsb::kind::insert, 1, i});
    system_->run(load, 1);
    system_->drain();
    struct source {
      std::mt19937_64 of;
      uint64_t next() { return of(); }
    } random{std::mt19937_64(t.seed)};
    const ycsb::zipfian popular(records);
    ycsb::generator<source> from(t.work.back(), ycsb::distribution::zipfian, popular,
                                 {records, records}, random);
    const amount n = amount_of(t);
    warm_ = ycsb::batch(from, n.warm);
    batch_ = ycsb::batch(from, n.measured);
  }
  void warm() override { system_->run(warm_, 2); }
  void run(unsigned) override { done_ = system_->run(batch_, 3); }
  std::string check() override { return done_ >= batch_.size() ? "" : "records were missing"; }
  void drain() override { system_->drain(); }
  bool count(bench::costs& c) override { return system_->count(c); }

 private:
  std::unique_ptr<bench::record_system> system_;
  std::vector<workloads::ycsb::operation> warm_, batch_;
  uint64_t done_ = 0;
};

}  // namespace

std::unique_ptr<guest_workload> make_workload(const guest_task& t) {
  const auto is = [&](std::string_view with) { return t.work.starts_with(with); };
  if (is("stamp-")) return std::make_unique<stamp_work>(t);
  if (t.threads != 1) throw std::invalid_argument("only STAMP runs on two cores");
  if (is("overwrite-")) return std::make_unique<overwrite_work>(t);
  if (is("insert-")) return std::make_unique<insert_work>(t);
  if (is("ycsb-")) return std::make_unique<ycsb_work>(t);
  throw std::invalid_argument("no work " + t.work);
}

void announce_persistent(const guest_task& t) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(t.dir + "/") == std::string::npos) continue;
    uint64_t from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
      say(mark::persistent, from, to - from);
  }
}

uint64_t footprint_of(const guest_task& t) {
  struct stat s{};
  return ::stat(file_of(t).c_str(), &s) == 0 ? static_cast<uint64_t>(s.st_blocks) * 512 : 0;
}

}  // namespace scute::sim
