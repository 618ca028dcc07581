// SPDX-License-Identifier: BSD-3-Clause
// The two choices that the library makes by size, measured on this machine: how parity is changed
// (pool::atomic_parity_max) and how bytes are written (medium::nt_threshold). Each write goes to
// lines that are in the L1 cache or the L2 (`-hot`), and to lines that are in neither.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/benchmarks.hpp"
#include "codec/parity/parity.hpp"
#include "core/medium/persist.hpp"
#include "core/shared/parity/stripes.hpp"
#include "random.hpp"
#include "systems/mapped_file.hpp"

namespace scute::bench {
using namespace core;
namespace {

constexpr const char* parity = "parity";
constexpr const char* medium_work = "medium";
constexpr uint64_t block = 4096;
constexpr uint64_t area = uint64_t{16} << 20;  // half of it is larger than most L2 caches
constexpr uint64_t hot_area = uint64_t{32} << 10;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {parity, "change parity: atomic XORs under a shared lock or vectors under an exclusive one"},
    {medium_work, "write and fence: cached stores and write-back, or non-temporal stores"}};

const std::vector<uint64_t> parity_sizes{16, 32, 64, 128, 256, 512, 1024, 4096};
const std::vector<uint64_t> medium_sizes{64, 128, 256, 512, 1024, 2048, 4096, 16384};

class kernels {
 public:
  explicit kernels(session& s)
      : file_(s.path("kernels"), std::max(2u, s.workers.size()) * (area / 2)),
        fresh_(area / 2),
        random_(s.o.seed) {
    for (auto& b : fresh_) b = static_cast<std::byte>(random_.next());
    for (uint64_t at = 0; at < file_.size(); at += area / 2)
      std::copy(fresh_.begin(), fresh_.end(), file_.bytes() + at);
  }

  // The next place for n bytes, on a line of its own, inside a block if they fit one.
  struct place {
    uint64_t at;
    unsigned block;
  };
  static place next(random_source& random, uint64_t n, uint64_t within = area / 2) {
    const uint64_t places = (n <= block ? block : within) / std::max<uint64_t>(n, 64);
    const uint64_t of = n <= block ? random.below(within / block) * block : 0;
    const uint64_t at = of + random.below(places) * std::max<uint64_t>(n, 64);
    return {at, static_cast<unsigned>(at / block)};
  }

  // The data of all threads is in the first half, their common parity in the second, as for two
  // rows of one zone: neighbours in a block meet in its stripe.
  void change_parity(bool atomic, uint64_t n, uint64_t ops, uint64_t seed) {
    random_source random(seed);
    alignas(64) std::byte scratch[block];
    const auto keep = [](pool::stripe_owner o) noexcept { return o; };
    for (uint64_t i = 0; i < ops; ++i) {
      const place p = next(random, n);
      const std::byte* old = file_.bytes() + p.at;
      std::byte* to = file_.bytes() + area / 2 + p.at;
      const std::byte* fresh = fresh_.data() + p.at;
      const uint32_t stripe = pool::stripes::index(0, p.block);
      if (atomic) {
        locks_.lock_shared(stripe);
        codec::xor_delta(scratch, old, fresh, n);
        scratch[0] |= std::byte{1};
        codec::xor_into_atomic(to, scratch, n);
        ops_.flush(to, n);
        locks_.unlock_shared(stripe, keep);
      } else {
        locks_.lock_exclusive(stripe);
        codec::xor_encode(scratch, to, old, fresh, n);
        medium::copy_persist(ops_, false, to, scratch, n);
        locks_.unlock_exclusive(stripe, pool::stripes::stores::streamed, keep);
      }
      ops_.fence();
    }
  }

  void write(bool streaming, bool hot, uint64_t n, uint64_t ops, uint64_t seed, unsigned thread) {
    random_source random(seed);
    for (uint64_t i = 0; i < ops; ++i) {
      const place p = next(random, n, hot ? hot_area : area / 2);
      std::byte* to = file_.bytes() + thread * (area / 2) + p.at;
      if (streaming) {
        ops_.copy_nt(to, fresh_.data(), n);
      } else {
        std::copy_n(fresh_.data(), n, to);
        ops_.flush(to, n);
      }
      ops_.fence();
    }
  }

 private:
  mapped_file file_;
  std::vector<std::byte> fresh_;
  random_source random_;
  pool::stripes locks_;
  const medium::persist_ops& ops_ = medium::persist();
};

struct variant {
  std::string work, config;
  bool first;
  bool hot = false;
};

const std::vector<variant> variants{
    {parity, "atomic-shared", true},          {parity, "vector-exclusive", false},
    {medium_work, "cached", false},           {medium_work, "non-temporal", true},
    {medium_work, "cached-hot", false, true}, {medium_work, "non-temporal-hot", true, true}};

const std::vector<uint64_t>& sizes_of(const std::string& work) {
  return work == parity ? parity_sizes : medium_sizes;
}

row row_of(const variant& v, uint64_t size, unsigned threads) {
  row r;
  r.work = v.work;
  r.size = size;
  r.threads = threads;
  r.system = "scute";
  r.config = v.config;
  return r;
}

unsigned steps(const options& o) {
  return static_cast<unsigned>((o.wants(parity) + o.wants(medium_work)) * o.threads.size());
}

void run_work(session& s, kernels& k, const std::string& work, unsigned threads) {
  for (const uint64_t size : sizes_of(work)) {
    const uint64_t ops = std::max<uint64_t>(std::min<uint64_t>(s.o.ops, 4'000'000 / size), 16);
    std::vector<std::vector<double>> samples(variants.size());
    for (unsigned round = 0; round <= s.o.rounds; ++round)
      for (size_t i = 0; i < variants.size(); ++i) {
        const size_t v = (i + round) % variants.size();
        if (variants[v].work != work) continue;
        const double ns = s.workers.run(threads, [&](unsigned t) {
          const uint64_t seed = s.o.seed + round * 64 + t;
          if (work == parity)
            k.change_parity(variants[v].first, size, ops, seed);
          else
            k.write(variants[v].first, variants[v].hot, size, ops, seed, t);
        });
        if (round != 0) samples[v].push_back(ns / static_cast<double>(ops));
      }
    for (size_t v = 0; v < variants.size(); ++v) {
      if (variants[v].work != work) continue;
      row r = row_of(variants[v], size, threads);
      r.ops = samples[v].size() * ops * threads;
      summarize(r, samples[v]);
      s.rows.push_back(r);
    }
  }
}

void run(session& s) {
  if (steps(s.o) == 0) return;
  kernels k(s);
  for (const char* work : {parity, medium_work})
    if (s.o.wants(work))
      for (const unsigned threads : s.o.threads) {
        s.bar.step(fmt::format("{}, {} thread{}", work, threads, threads == 1 ? "" : "s"));
        run_work(s, k, work, threads);
      }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const variant& v : variants)
    if (o.wants(v.work))
      for (const unsigned threads : o.threads)
        for (const uint64_t size : sizes_of(v.work)) rows.push_back(row_of(v, size, threads));
}

}  // namespace

benchmark_group kernel_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
