// SPDX-License-Identifier: BSD-3-Clause
// How long a persist-on-write file takes to be opened after a crash, over the size of the file, the
// size of the objects, the share of it that counts, and the threads (ENTS section 5.6, Table 4). In
// shared memory: the file is in the page cache.
//
// A process writes each object once and then random ones again, a section each, and ends without
// closing. Each round opens a copy of what it has left. Opening has two parts: the store reads the
// file and decides what counts, in that many threads; the table hands what counts to the program,
// which copies it to its place, in one. They are in "stages", in ns.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "benchmarks/pow_benchmarks.hpp"
#include "benchmarks/stream.hpp"
#include "random.hpp"
#include "systems/content.hpp"
#include "systems/mapped_file.hpp"
#include "systems/pow_objects.hpp"

namespace scute::bench {
namespace {

constexpr const char* recovery = "pow_recovery";
constexpr uint64_t overhead = 48;  // of a record and its frame: the heads

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {recovery,
     "open a persist-on-write file after a crash, against reading its bytes once (`read`)"}};

struct place {
  uint64_t bytes;  // of records, in the file
  uint32_t object;
  unsigned live;  // per cent
  const char* config;

  uint64_t objects() const { return bytes / (object + overhead) * live / 100; }
};

std::vector<place> places(const options& o) {
  if (!o.wants(recovery)) return {};
  const std::vector<uint64_t> sizes = o.tiny ? std::vector<uint64_t>{1 << 20}
                                      : o.quick
                                          ? std::vector<uint64_t>{32 << 20, 128 << 20}
                                          : std::vector<uint64_t>{32 << 20, 128 << 20, 512 << 20};
  const std::vector<uint32_t> objects =
      o.tiny ? std::vector<uint32_t>{64, 256} : std::vector<uint32_t>{64, 256, 1024, 4096};
  const std::vector<unsigned> lives =
      o.tiny ? std::vector<unsigned>{50} : std::vector<unsigned>{25, 50, 90};
  std::vector<place> all;
  for (const char* config : {"pow-none", "pow"})
    for (const uint64_t bytes : sizes)
      for (const uint32_t object : objects)
        for (const unsigned live : lives)
          // Protected, a part of them has to do.
          if (o.wants_system(config) && (std::string(config) == "pow-none" || object == 256))
            all.push_back({bytes, object, live, config});
  return all;
}

unsigned rounds_of(const options& o) {
  return o.tiny ? 1 : o.quick ? 3 : 7;
}

row row_of(const place& p, unsigned threads, bool reading) {
  row r;
  r.work = recovery;
  r.structure = fmt::format("{}m_live_{}", p.bytes >> 20, p.live);
  r.size = p.object;
  r.threads = threads;
  r.system = reading ? "read" : "scute";
  r.config = reading ? "stream" : p.config;
  return r;
}

scute_pow_options options_of(const place& p, uint32_t flags, unsigned threads) {
  scute_pow_options o;
  scute_pow_options_init(&o);
  o.flags = flags | SCUTE_POW_NO_CLEANER;
  o.medium = SCUTE_MEDIUM_RAM;
  o.protection = std::string(p.config) == "pow-none" ? SCUTE_POW_NONE : SCUTE_POW_ALWAYS;
  o.size = (p.bytes / 8 * 10 + (uint64_t{4} << 20)) & ~uint64_t{4095};
  o.max_size = 2 * o.size;
  o.threads = threads;
  return o;
}

// Shows protected files next to unprotected ones.
bool read_too(const place& p) {
  return std::string(p.config) == "pow-none";
}

// The file of a process that has ended without closing it, and removes itself.
class crashed_file {
 public:
  crashed_file(const session& s, const place& p) : path_(s.path(recovery)) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
      try {
        write(p, s.o.seed);
        ::_exit(0);
      } catch (const std::exception& e) {
        fmt::print(stderr, "scute-bench: {}: {}\n", recovery, e.what());
        ::_exit(1);
      }
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
      ::unlink(path_.c_str());
      throw std::runtime_error("the process that was to write a persist-on-write file failed");
    }
  }
  ~crashed_file() {
    ::unlink(path_.c_str());
    ::unlink(copy().c_str());
  }
  crashed_file(const crashed_file&) = delete;
  crashed_file& operator=(const crashed_file&) = delete;

  std::string copy() const { return path_ + ".copy"; }
  // As after the crash.
  void renew() const {
    std::filesystem::copy_file(path_, copy(), std::filesystem::copy_options::overwrite_existing);
  }
  const std::string& path() const { return path_; }

 private:
  void write(const place& p, uint64_t seed) const {
    const scute_pow_options o = options_of(p, SCUTE_POW_NEW, 1);
    scute_pow* store = nullptr;
    must(scute_pow_open(path_.c_str(), &o, &store));
    const uint64_t n = p.objects(), all = p.bytes / (p.object + overhead);
    pow_objects objects(store, p.object, n);
    const content_source source(p.object, seed);
    random_source random(seed);
    content now = source.of(0);
    for (uint64_t i = 0; i < n; ++i) objects.add(now.next());
    for (uint64_t i = n; i < all; ++i) objects.write(random.below(n), now.next());
    must(scute_pow_sync(store));
  }

  std::string path_;
};

struct times {
  std::vector<double> whole, open, load, reading;
};

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

void measure(session& s, const crashed_file& f, const place& p, unsigned threads) {
  times t;
  uint64_t bytes = 0, count = 0;
  for (unsigned round = 0; round <= rounds_of(s.o); ++round) {
    f.renew();
    const scute_pow_options o = options_of(p, SCUTE_POW_EXISTING, threads);
    scute_pow* store = nullptr;
    const uint64_t begin = now_ns();
    must(scute_pow_open(f.copy().c_str(), &o, &store));
    const uint64_t opened = now_ns();
    const pow_objects objects(store, p.object, p.objects());
    const uint64_t loaded = now_ns();
    scute_pow_info info{};
    info.struct_size = sizeof info;
    must(scute_pow_get_info(store, &info));
    bytes = info.used_bytes;
    count = objects.count();
    must(scute_pow_close(store));
    if (count != p.objects() || info.recovered_lost != 0)
      throw std::runtime_error(
          fmt::format("{}: {} of {} objects were found again", recovery, count, p.objects()));
    const mapped_file file(f.path());
    const double reading = read_ns(s.workers, threads, file.bytes(), file.size(), bytes);
    if (round == 0) continue;
    t.open.push_back(static_cast<double>(opened - begin));
    t.load.push_back(static_cast<double>(loaded - opened));
    t.whole.push_back(static_cast<double>(loaded - begin));
    t.reading.push_back(reading);
  }
  row r = row_of(p, threads, false);
  r.moved = bytes;
  r.ops = t.whole.size();
  r.stages = {{"open", median(t.open)}, {"load", median(t.load)}};
  summarize(r, t.whole);
  s.rows.push_back(r);
  if (!read_too(p)) return;
  r = row_of(p, threads, true);
  r.moved = bytes;
  r.ops = t.reading.size();
  summarize(r, t.reading);
  s.rows.push_back(r);
}

unsigned steps(const options& o) {
  return static_cast<unsigned>(places(o).size());
}

void run(session& s) {
  for (const place& p : places(s.o)) {
    s.bar.step(fmt::format("{}, {}: {} MiB of objects of {} bytes, {} % live", recovery, p.config,
                           p.bytes >> 20, p.object, p.live));
    const crashed_file f(s, p);
    for (const unsigned threads : s.o.threads) measure(s, f, p, threads);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const place& p : places(o))
    for (const unsigned threads : o.threads)
      for (const bool reading : {false, true})
        if (!reading || read_too(p)) rows.push_back(row_of(p, threads, reading));
}

}  // namespace

benchmark_group pow_recovery_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
