// SPDX-License-Identifier: BSD-3-Clause
#include "guest/works.hpp"

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
#include "systems/record_system.hpp"
#include "systems/stamp_on.hpp"
#include "systems/stamp_system.hpp"
#include "workloads/stamp/applications.hpp"

namespace scute::sim {
namespace {

namespace stamp = workloads::stamp;

uint64_t mebibytes(const guest_task& t) {
  return (t.scale == "tiny" ? 48 : 96) * (uint64_t{1} << 20);
}
std::string file_of(const guest_task& t) {
  return t.dir + "/pool";
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

class stamp_work final : public guest_work {
 public:
  explicit stamp_work(const guest_task& t)
      : input_(stamp::make_input(t.work.substr(6),
                                 t.scale == "tiny" ? stamp::scale::tiny : stamp::scale::quick,
                                 t.threads, t.seed)) {
    const bench::stamp_task task{input_, t.threads, file_of(t), mebibytes(t)};
    if (t.system == "marked") {
      system_ = bench::make_stamp_on<marked_home>(task, task.path, task.size);
      return;
    }
    for (const bench::stamp_kind& k : bench::stamp_kinds())
      if (k.name == t.system) system_ = k.make(k, task);
    if (!system_) throw std::invalid_argument("STAMP has no system " + t.system);
    system_->drain();
  }
  void run(unsigned thread) override { system_->run(thread); }
  std::string check() override { return system_->check(); }

 private:
  const stamp::any_input input_;
  std::unique_ptr<bench::stamp_system> system_;
};

const bench::system_kind& kind_of(const std::string& name) {
  for (const bench::system_kind& k : bench::system_kinds())
    if (k.name == name) return k;
  throw std::invalid_argument("no system " + name);
}

// As bench/works does it: objects are overwritten in a random order, each in a transaction.
class overwrite_work final : public guest_work {
 public:
  explicit overwrite_work(const guest_task& t)
      : size_(std::stoull(t.work.substr(10))), source_(size_, t.seed) {
    const uint64_t set = t.scale == "tiny" ? uint64_t{1} << 20 : uint64_t{16} << 20;
    const auto objects = static_cast<uint32_t>(std::max<uint64_t>(set / size_, 64));
    bench::options o;
    o.dir = t.dir;
    o.working_set = objects * size_;
    const bench::system_kind& k = kind_of(t.system);
    system_ = k.make(k, o, {size_, objects, file_of(t)});
    slots_.resize(objects);
    std::iota(slots_.begin(), slots_.end(), 0);
    std::shuffle(slots_.begin(), slots_.end(), std::mt19937_64(t.seed));
    system_->alloc(slots_, source_.of(1));
    system_->overwrite(slots_, source_.of(2));
    slots_.resize(std::min<size_t>(slots_.size(), t.scale == "tiny" ? 500 : 10000));
  }
  void run(unsigned) override { system_->overwrite(slots_, source_.of(3)); }
  std::string check() override { return ""; }

 private:
  uint64_t size_;
  bench::content_source source_;
  std::unique_ptr<bench::object_system> system_;
  std::vector<uint32_t> slots_;
};

class insert_work final : public guest_work {
 public:
  explicit insert_work(const guest_task& t) : keys_(t.scale == "tiny" ? 500 : 5000) {
    std::mt19937_64 random(t.seed);
    std::vector<uint64_t> before(t.scale == "tiny" ? 1000 : 50000);
    for (uint64_t& k : before) k = random();
    for (uint64_t& k : keys_) k = random();
    const std::string structure = t.work.substr(7);
    if (std::ranges::count(bench::map_structures(), structure) == 0)
      throw std::invalid_argument("no map " + structure);
    const bench::system_kind& k = kind_of(t.system);
    const bench::map_population p{structure, before.size() + keys_.size(), file_of(t), k.config};
    if (k.system == "scute") map_ = bench::make_scute_map(p);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
    else if (k.name == "libpmemobj")
      map_ = bench::make_pmemobj_map(p, false);
#endif
    else
      map_ = bench::make_volatile_map(p);
    map_->insert(before);
  }
  void run(unsigned) override { fresh_ = map_->insert(keys_); }
  std::string check() override {
    return fresh_ == keys_.size() ? "" : "keys were there that should not be";
  }

 private:
  std::vector<uint64_t> keys_;
  std::unique_ptr<bench::map_system> map_;
  uint64_t fresh_ = 0;
};

class ycsb_work final : public guest_work {
 public:
  explicit ycsb_work(const guest_task& t) {
    namespace ycsb = workloads::ycsb;
    const uint64_t records = t.scale == "tiny" ? 2000 : 50000;
    const bench::system_kind& k = kind_of(t.system);
    const bench::record_population p{100, records + 20000, file_of(t), k.config};
    if (k.system == "scute") system_ = bench::make_scute_records(p);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
    else if (k.name == "libpmemobj")
      system_ = bench::make_pmemobj_records(p, false);
#endif
    else
      system_ = bench::make_volatile_records(p);
    std::vector<ycsb::operation> load;
    for (uint64_t i = 0; i < records; ++i) load.push_back({ycsb::kind::insert, 1, i});
    system_->run(load, 1);
    struct source {
      std::mt19937_64 of;
      uint64_t next() { return of(); }
    } random{std::mt19937_64(t.seed)};
    const ycsb::zipfian popular(records);
    ycsb::generator<source> from(t.work.back(), ycsb::distribution::zipfian, popular,
                                 {records, records}, random);
    batch_ = ycsb::batch(from, t.scale == "tiny" ? 1000 : 10000);
  }
  void run(unsigned) override { system_->run(batch_, 2); }
  std::string check() override { return ""; }

 private:
  std::unique_ptr<bench::record_system> system_;
  std::vector<workloads::ycsb::operation> batch_;
};

}  // namespace

std::unique_ptr<guest_work> make_work(const guest_task& t) {
  const auto is = [&](std::string_view with) { return t.work.starts_with(with); };
  if (is("stamp-kmeans") && t.threads != 1)
    throw std::invalid_argument("kmeans meets at a barrier, which fibers do not have");
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
