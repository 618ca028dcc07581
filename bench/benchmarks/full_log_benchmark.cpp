// SPDX-License-Identifier: BSD-3-Clause
// Opening a pool whose writer was killed when its speculative log was as full as it gets:
// transactions help to checkpoint from three quarters on. Other engines are measured for
// comparison, after as many transactions. The time is that of the opening call. Work that the call
// leaves to be resolved later is reported as put off.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

constexpr const char* work = "recovery_full_log";
constexpr const char* configs[] = {"redo-mlpc", "logfree-mlpc", "spec-none", "spec-mlpc"};
constexpr uint64_t object_size = 256;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {work, "open such a pool whose writer was killed when its log was nearly full"}};

uint32_t objects_of(const options& o) {
  return o.tiny ? 500 : o.quick ? 100'000 : 1'000'000;
}

class victim {
 public:
  victim(std::string path, const std::string& config, const options& o)
      : path_(std::move(path)), most_(o.tiny ? 1000 : 250'000) {
    const scute_options how = pool_options(config, o.open_size);
    scute_pool* pool = nullptr;
    must(scute_create(path_.c_str(), &how, &pool));
    for (uint32_t left = objects_of(o); left != 0;) {
      scute_tx* tx = nullptr;
      must(scute_tx_begin(pool, &tx));
      for (unsigned k = 0; k < 100 && left != 0; ++k, --left) {
        void* bytes = nullptr;
        must(scute_tx_alloc(tx, object_size, 1, &oids_.emplace_back(), &bytes));
        std::memset(bytes, 1, object_size);
      }
      must(scute_tx_commit(tx));
    }
    must(scute_close(pool));
  }
  ~victim() { ::unlink(path_.c_str()); }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;

  // A process commits until its log is nearly full, or often enough, and is killed.
  void kill_writer(uint64_t seed) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
      write(seed);
      if (::write(ends[1], "", 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(ends[1]);
    char byte = 0;
    const bool ready = ::read(ends[0], &byte, 1) == 1;
    ::close(ends[0]);
    ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!ready) throw std::runtime_error("the writer that was to be killed failed");
  }
  // Nanoseconds until it is open, and from there until nothing is left to resolve.
  std::pair<double, double> open() const {
    scute_pool* pool = open_pool();
    const uint64_t end = now_ns();
    must(scute_recovery_wait(pool, nullptr, nullptr));
    const auto resolved = static_cast<double>(now_ns() - end);
    must(scute_close(pool));
    return {static_cast<double>(end - begin_), resolved};
  }

 private:
  scute_pool* open_pool() const {
    scute_options o;
    scute_options_init(&o);
    scute_pool* pool = nullptr;
    begin_ = now_ns();
    must(scute_open(path_.c_str(), &o, &pool));
    return pool;
  }
  static bool is_nearly_full(scute_pool* pool) {
    scute_info i{};
    i.struct_size = sizeof i;
    must(scute_pool_info(pool, &i));
    return i.log_cap != 0 && i.log_used * 100 >= i.log_cap * 70;
  }
  void write(uint64_t seed) const {
    scute_pool* pool = open_pool();
    random_source random(seed);
    for (uint64_t i = 0; i < most_ && (i % 1000 != 999 || !is_nearly_full(pool)); ++i) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      must(scute_tx_begin(pool, &tx));
      must(scute_tx_open(tx, oids_[random.below(oids_.size())], &bytes));
      std::memset(bytes, static_cast<int>(i + seed), object_size);
      must(scute_tx_commit(tx));
    }
  }

  std::string path_;
  uint64_t most_;  // transactions
  std::vector<scute_oid> oids_;
  mutable uint64_t begin_ = 0;
};

row row_of(const options& o, const char* config) {
  row r;
  r.work = work;
  r.size = o.open_size;
  r.system = "scute";
  r.config = config;
  return r;
}

unsigned rounds_of(const options& o) {
  return o.tiny ? 1 : o.quick ? 3 : 7;
}
unsigned steps(const options& o) {
  return o.wants(work) ? 1 : 0;
}

void run(session& s) {
  if (!s.o.wants(work)) return;
  s.bar.step(work);
  for (const char* config : configs) {
    if (!s.o.wants_system(config)) continue;
    const victim pool(s.path(config), config, s.o);
    std::vector<double> samples;
    double deferred = 0;
    for (unsigned round = 0; round <= rounds_of(s.o); ++round) {
      pool.kill_writer(s.o.seed + round);
      const auto [open, resolved] = pool.open();
      if (round == 0) continue;
      samples.push_back(open);
      deferred += resolved;
    }
    row r = row_of(s.o, config);
    r.ops = samples.size();
    r.deferred_ns = deferred / static_cast<double>(samples.size());
    summarize(r, samples);
    s.rows.push_back(r);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants(work)) return;
  for (const char* config : configs)
    if (o.wants_system(config)) rows.push_back(row_of(o, config));
}

}  // namespace

benchmark_group full_log_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
