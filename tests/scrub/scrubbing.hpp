// SPDX-License-Identifier: BSD-3-Clause
// Scrubs of a pool with known contents, and threads that change objects meanwhile.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/damage.hpp"

namespace scute::test {
using namespace core;

struct scrub_result {
  scute_report report{};
  std::vector<std::string> findings;  // "object (repaired)"
  std::vector<scute_oid> lost_objects;
  std::vector<scute_zone_report> zones;

  size_t count(const std::string& finding) const {
    return static_cast<size_t>(std::count(findings.begin(), findings.end(), finding));
  }
};

inline scute_scrub_options scrub_options(scrub_result& into, uint32_t threads = 1) {
  scute_scrub_options o;
  scute_scrub_options_init(&o);
  o.threads = threads;
  o.arg = &into;
  o.finding = [](void* arg, const char* what, uint64_t, uint64_t, scute_oid oid, int repaired) {
    auto& r = *static_cast<scrub_result*>(arg);
    r.findings.push_back(std::string(what) + (repaired != 0 ? " (repaired)" : ""));
    if (repaired == 0 && oid != 0) r.lost_objects.push_back(oid);
  };
  o.zone = [](void* arg, const scute_zone_report* z) {
    static_cast<scrub_result*>(arg)->zones.push_back(*z);
  };
  return o;
}

inline scrub_result run_scrub(scute_pool* pool, uint32_t threads = 1, bool resume = false) {
  scrub_result r;
  scute_scrub_options o = scrub_options(r, threads);
  o.resume = resume ? 1 : 0;
  r.report.struct_size = sizeof r.report;
  SCUTE_OKAY_E(scute_scrub(pool, &o, &r.report));
  return r;
}

// Threads that overwrite objects of their own, each with content that it knows, until they are
// stopped.
class writers {
 public:
  writers(known_pool& f, unsigned threads, std::vector<size_t> sizes) : f_(f) {
    for (unsigned t = 0; t < threads; ++t) {
      auto& mine = objects_.emplace_back();
      for (const size_t n : sizes) mine.push_back(f.add(n));
    }
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back([this, t] { work(t); });
  }
  ~writers() { stop(); }
  void stop() {
    over_ = true;
    for (auto& t : threads_)
      if (t.joinable()) t.join();
  }
  uint64_t commits() const { return commits_; }
  uint64_t failures() const { return failures_; }

 private:
  void work(unsigned t) {
    uint64_t key = (t + 1) * 1000003;
    while (!over_) {
      for (const scute_oid oid : objects_[t]) {
        bytes& content = known(oid);
        bytes fresh = pattern(++key, content.size());
        scute_tx* tx = nullptr;
        void* to = nullptr;
        if (scute_tx_begin(f_, &tx) != 0) {
          ++failures_;
          continue;
        }
        if (scute_tx_open(tx, oid, &to) != 0) {
          ++failures_;
          scute_tx_abort(tx);
          continue;
        }
        std::memcpy(to, fresh.data(), fresh.size());
        if (scute_tx_commit(tx) != 0) {
          ++failures_;
          continue;
        }
        content = std::move(fresh);
        ++commits_;
      }
    }
  }
  // The map itself does not change while threads run.
  bytes& known(scute_oid oid) { return f_.objects.find(oid)->second; }

  known_pool& f_;
  std::vector<std::vector<scute_oid>> objects_;
  std::vector<std::thread> threads_;
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> commits_{0}, failures_{0};
};

}  // namespace scute::test
