// SPDX-License-Identifier: BSD-3-Clause
// How long it takes until a pool can be used: after a clean close, and after the death of the
// process that was writing to it.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <stdexcept>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/object_system.hpp"
#include "systems/scute_pool.hpp"

#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
#include <libpmemobj.h>
#endif

namespace scute::bench {
namespace {

constexpr const char* clean = "open_clean";
constexpr const char* clean_empty = "open_clean_empty";
constexpr const char* recovery = "recovery_open";
constexpr uint64_t object_size = 256;
constexpr uint32_t victims = 64;  // objects that the killed process keeps writing to

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {clean, "open a cleanly closed, sparse 16 GiB pool of some thousand objects"},
    {clean_empty, "the same of a pool without objects"},
    {recovery, "open such a pool whose writer was killed in the middle of a transaction"}};

// A pool that is opened and closed over and over.
class openable {
 public:
  virtual ~openable() = default;
  virtual void create(uint64_t size, uint32_t objects) = 0;  // and close
  virtual void open() = 0;
  virtual void close() = 0;
  // Opens, overwrites objects until the process is killed; calls ready once under way.
  virtual void write_forever(const std::function<void()>& ready) = 0;
};

class scute_openable final : public openable {
 public:
  scute_openable(std::string path, std::string config)
      : path_(std::move(path)), config_(std::move(config)) {}
  ~scute_openable() override {
    scute_close(pool_);
    ::unlink(path_.c_str());
  }
  void create(uint64_t size, uint32_t objects) override {
    const scute_options o = pool_options(config_, size);
    must(scute_create(path_.c_str(), &o, &pool_));
    for (uint32_t i = 0; i < objects; ++i) {
      scute_tx* tx = nullptr;
      scute_oid oid = 0;
      void* bytes = nullptr;
      must(scute_tx_begin(pool_, &tx));
      must(scute_tx_alloc(tx, object_size, 1, &oid, &bytes));
      std::memset(bytes, static_cast<int>(i), object_size);
      must(scute_tx_commit(tx));
      if (oids_.size() < victims) oids_.push_back(oid);
    }
    close();
  }
  void open() override {
    scute_options o;
    scute_options_init(&o);
    must(scute_open(path_.c_str(), &o, &pool_));
  }
  void close() override {
    scute_pool* p = pool_;
    pool_ = nullptr;
    must(scute_close(p));
  }
  void write_forever(const std::function<void()>& ready) override {
    open();
    for (uint64_t i = 0;; ++i) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      must(scute_tx_begin(pool_, &tx));
      must(scute_tx_open(tx, oids_[i % oids_.size()], &bytes));
      std::memset(bytes, static_cast<int>(i / oids_.size()), object_size);
      must(scute_tx_commit(tx));
      if (i == victims) ready();
    }
  }

 private:
  std::string path_, config_;
  scute_pool* pool_ = nullptr;
  std::vector<scute_oid> oids_;
};

#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
class pmemobj_openable final : public openable {
 public:
  explicit pmemobj_openable(std::string path) : path_(std::move(path)) {}
  ~pmemobj_openable() override {
    if (pool_ != nullptr) pmemobj_close(pool_);
    ::unlink(path_.c_str());
  }
  void create(uint64_t size, uint32_t objects) override {
    ::unlink(path_.c_str());
    // An existing file of zeros stays sparse; a file that libpmemobj makes would be allocated.
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool made = fd >= 0 && ::ftruncate(fd, static_cast<off_t>(size)) == 0;
    if (fd >= 0) ::close(fd);
    if (!made) throw std::runtime_error("cannot make " + path_);
    check(pool_ = pmemobj_create(path_.c_str(), "scute-bench", 0, 0600));
    for (uint32_t i = 0; i < objects; ++i) {
      PMEMoid oid;
      check(pmemobj_tx_begin(pool_, nullptr, TX_PARAM_NONE) == 0);
      oid = pmemobj_tx_alloc(object_size, 1);
      check(!OID_IS_NULL(oid));
      std::memset(pmemobj_direct(oid), static_cast<int>(i), object_size);
      pmemobj_tx_commit();
      check(pmemobj_tx_end() == 0);
      if (oids_.size() < victims) oids_.push_back(oid);
    }
    close();
  }
  void open() override { check(pool_ = pmemobj_open(path_.c_str(), "scute-bench")); }
  void close() override {
    pmemobj_close(pool_);
    pool_ = nullptr;
  }
  void write_forever(const std::function<void()>& ready) override {
    open();
    for (uint64_t i = 0;; ++i) {
      void* bytes = pmemobj_direct(oids_[i % oids_.size()]);
      check(pmemobj_tx_begin(pool_, nullptr, TX_PARAM_NONE) == 0);
      check(pmemobj_tx_add_range_direct(bytes, object_size) == 0);
      std::memset(bytes, static_cast<int>(i / oids_.size()), object_size);
      pmemobj_tx_commit();
      check(pmemobj_tx_end() == 0);
      if (i == victims) ready();
    }
  }

 private:
  template <typename T>
  static void check(T ok) {
    if (!ok) throw std::runtime_error(std::string("libpmemobj: ") + pmemobj_errormsg());
  }
  std::string path_;
  PMEMobjpool* pool_ = nullptr;
  std::vector<PMEMoid> oids_;
};
#endif

std::unique_ptr<openable> make(const system_kind& kind, const std::string& path) {
  if (kind.system == "scute") return std::make_unique<scute_openable>(path, kind.config);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
  if (kind.system == "libpmemobj") return std::make_unique<pmemobj_openable>(path);
#endif
  return nullptr;
}

// Lets a child write to the pool and kills it at a random moment.
void interrupt(openable& pool, random_source& random) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    ::close(pipe_ends[0]);
    try {
      pool.write_forever([&] {
        if (::write(pipe_ends[1], "", 1) != 1) ::_exit(1);
      });
    } catch (const std::exception& e) {
      fmt::print(stderr, "scute-bench: writer: {}\n", e.what());
    }
    ::_exit(1);
  }
  ::close(pipe_ends[1]);
  char byte = 0;
  const bool under_way = ::read(pipe_ends[0], &byte, 1) == 1;
  ::close(pipe_ends[0]);
  if (under_way) ::usleep(static_cast<useconds_t>(1000 + random.below(2000)));
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!under_way) throw std::runtime_error("the writer that was to be killed failed");
}

struct plan {
  uint64_t size;
  uint32_t objects;
};

plan plan_of(const options& o, const std::string& work) {
  const uint32_t objects = o.tiny ? victims : 4096;
  if (work == clean_empty) return {o.open_size, 0};
  return {o.open_size, objects};
}

unsigned steps(const options& o) {
  unsigned n = 0;
  for (const auto& w : benchmarks) n += o.wants(w.first);
  return n;
}

void run_work(session& s, const std::string& work) {
  const plan p = plan_of(s.o, work);
  struct contestant {
    const system_kind* kind;
    std::unique_ptr<openable> pool;
    std::vector<double> samples;
  };
  std::vector<contestant> contestants;
  for (const system_kind& kind : system_kinds()) {
    if (!s.o.wants_system(kind.name)) continue;
    if (auto pool = make(kind, s.path(kind.name))) {
      pool->create(p.size, p.objects);
      contestants.push_back({&kind, std::move(pool), {}});
    }
  }
  random_source random(s.o.seed);
  for (unsigned round = 0; round <= s.o.rounds; ++round)
    for (size_t i = 0; i < contestants.size(); ++i) {
      contestant& c = contestants[(i + round) % contestants.size()];
      if (work == recovery) interrupt(*c.pool, random);
      const uint64_t begin = now_ns();
      c.pool->open();
      const uint64_t end = now_ns();
      c.pool->close();
      if (round != 0) c.samples.push_back(static_cast<double>(end - begin));
    }
  for (const contestant& c : contestants) {
    row r;
    r.work = work;
    r.size = p.size;
    r.system = c.kind->system;
    r.config = c.kind->config;
    r.ops = c.samples.size();
    summarize(r, c.samples);
    s.rows.push_back(r);
  }
}

void run(session& s) {
  for (const auto& w : benchmarks)
    if (s.o.wants(w.first)) {
      s.bar.step(w.first);
      run_work(s, w.first);
    }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const auto& w : benchmarks)
    if (o.wants(w.first))
      for (const system_kind& kind : system_kinds())
        if (o.wants_system(kind.name) && make(kind, "") != nullptr) {
          row r;
          r.work = w.first;
          r.size = plan_of(o, w.first).size;
          r.system = kind.system;
          r.config = kind.config;
          rows.push_back(r);
        }
}

}  // namespace

benchmark_group open_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
