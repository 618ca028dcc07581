// SPDX-License-Identifier: BSD-3-Clause
// The scan that resolves a log-free pool after a crash: how fast, against reading the same bytes
// once with as many threads.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/stream.hpp"
#include "systems/mapped_file.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

constexpr const char* scan = "recovery_scan";
constexpr const char* config = "logfree-mlpc";
constexpr uint64_t object_size = 1024;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {scan, "resolve a whole log-free pool after a crash, against reading its bytes once (`read`)"}};

unsigned steps(const options& o) {
  return o.wants(scan) ? 1 : 0;
}

// A pool full of objects, closed.
class full_pool {
 public:
  explicit full_pool(const session& s) : path_(s.path(scan)) {
    const scute_options o =
        pool_options(config, (s.o.scrub_size + (uint64_t{4} << 20)) & ~uint64_t{4095});
    scute_pool* pool = nullptr;
    must(scute_create(path_.c_str(), &o, &pool));
    for (unsigned filled = 0;; ++filled) {  // to the last chunk, so that every row is read
      scute_tx* tx = nullptr;
      void* at = nullptr;
      must(scute_tx_begin(pool, &tx));
      const int e = scute_tx_alloc(tx, object_size, 1, &first_, &at);
      if (e == SCUTE_E_NOSPC) {
        must(scute_tx_abort(tx));
        break;
      }
      must(e);
      std::memset(at, static_cast<int>(filled), object_size);
      must(scute_tx_commit(tx));
    }
    must(scute_close(pool));
  }
  ~full_pool() { ::unlink(path_.c_str()); }
  full_pool(const full_pool&) = delete;
  full_pool& operator=(const full_pool&) = delete;

  // A process commits and ends without closing.
  void crash() const {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
      scute_pool* pool = open();
      scute_tx* tx = nullptr;
      void* at = nullptr;
      must(scute_tx_begin(pool, &tx));
      must(scute_tx_open(tx, first_, &at));
      std::memset(at, ++*static_cast<unsigned char*>(at), object_size);
      must(scute_tx_commit(tx));
      ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) throw std::runtime_error("the process that was to end early failed");
  }
  scute_pool* open() const {
    scute_options o;
    scute_options_init(&o);
    o.flags = SCUTE_LAZY_RECOVERY;  // only the timed calls scan
    scute_pool* pool = nullptr;
    must(scute_open(path_.c_str(), &o, &pool));
    return pool;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  scute_oid first_ = 0;
};

row row_of(unsigned threads, const options& o, const char* system, const char* how) {
  row r;
  r.work = scan;
  r.size = o.scrub_size;
  r.threads = threads;
  r.system = system;
  r.config = how;
  return r;
}

void measure(session& s, const full_pool& f, unsigned threads) {
  std::vector<double> resolving, reading;
  const mapped_file file(f.path());
  uint64_t bytes = 0;
  for (unsigned round = 0; round <= s.o.rounds; ++round) {
    f.crash();
    scute_pool* pool = f.open();
    uint64_t total = 0;
    must(scute_recovery_progress(pool, nullptr, &total));
    bytes = total;
    const uint64_t begin = now_ns();
    s.workers.run(threads, [&](unsigned) { must(scute_recovery_wait(pool, nullptr, nullptr)); });
    if (round != 0) resolving.push_back(static_cast<double>(now_ns() - begin));
    must(scute_close(pool));
    const double ns = read_ns(s.workers, threads, file.bytes(), file.size(), bytes);
    if (round != 0) reading.push_back(ns);
  }
  const auto publish = [&](row r, const std::vector<double>& samples) {
    r.moved = bytes;
    r.ops = samples.size();
    summarize(r, samples);
    s.rows.push_back(r);
  };
  publish(row_of(threads, s.o, "scute", config), resolving);
  publish(row_of(threads, s.o, "read", "stream"), reading);
}

void run(session& s) {
  if (!s.o.wants_system(config) || !s.o.wants(scan)) return;
  s.bar.step(scan);
  const full_pool f(s);
  for (const unsigned threads : s.o.threads) measure(s, f, threads);
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants_system(config) || !o.wants(scan)) return;
  for (const unsigned threads : o.threads) {
    rows.push_back(row_of(threads, o, "scute", config));
    rows.push_back(row_of(threads, o, "read", "stream"));
  }
}

}  // namespace

benchmark_group recovery_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
