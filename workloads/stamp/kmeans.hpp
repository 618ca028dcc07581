// SPDX-License-Identifier: BSD-3-Clause
// STAMP's kmeans: points are put to the nearest of some centres, and the centres move to the means
// of their points, until few points change.
//
// The store has the centres, the sums that the next ones are made from, and a counter that
// deals the points out to the threads, three at a time. A transaction adds one point to the sums of
// its centre, or takes three points, or adds to the number of points that have changed. The search
// for the nearest centre is outside of all transactions. At the end of a round one transaction
// makes the sums the new centres.
//
// Locks: one for each centre's sums, one for the counters.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "workloads/stamp/kmeans_input.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class kmeans {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using input = kmeans_input;
  static constexpr uint32_t dimensions_max = 32, clusters_max = 64;

  struct centre {
    float numbers[1 + dimensions_max];  // how many points, and their sums or means
  };
  struct counters {
    uint64_t next;   // point
    uint64_t moved;  // points, in this round
  };
  struct root {
    ptr<counters> shared;
    ptr<centre> means[clusters_max], sums[clusters_max];
  };

  kmeans(S& s, const input& points, unsigned threads)
      : store_(s),
        points_(points),
        n_(points.how.points),
        k_(points.how.clusters),
        width_(1 + points.how.dimensions),
        root_(s.template root<root>()),
        member_(n_, k_),
        meet_(threads),
        locks_(k_) {}

  void prepare() {
    store_.transact([&](tx& t) {
      auto [at, c] = t.template make<counters>();
      t.edit(root_, &root::shared) = at;
      for (uint32_t k = 0; k < k_; ++k) {
        auto [mean, m] = t.template make<centre>();
        std::ranges::copy(points_.point(points_.first[k]), m.numbers + 1);
        t.edit(root_, &root::means, k) = mean;
        t.edit(root_, &root::sums, k) = t.template make<centre>().at;
      }
    });
    places_ = store_.view().get(root_);
  }

  // If a thread fails, the others continue without it.
  uint64_t run(unsigned thread) {
    uint64_t transactions = 0;
    std::vector<float> means;
    try {
      for (;;) {
        transactions += round(means);
        meet_.arrive_and_wait();
        if (thread == 0) transactions += end_round();
        meet_.arrive_and_wait();
        if (ended_) return transactions;
      }
    } catch (...) {
      ended_ = true;
      meet_.arrive_and_drop();
      throw;
    }
  }

  // The mean of a cluster, and the cluster that a point is in.
  std::vector<float> mean(uint32_t k) const {
    const centre& c = store_.view().get(places_.means[k]);
    return {c.numbers + 1, c.numbers + width_};
  }
  uint32_t member(uint64_t point) const { return member_[point]; }
  unsigned rounds() const noexcept { return rounds_; }

  std::string check() const {
    const auto& r = store_.view();
    double points = 0;
    for (uint32_t k = 0; k < k_; ++k) {
      points += r.get(places_.means[k]).numbers[0];
      for (uint32_t i = 0; i < width_; ++i)
        if (r.get(places_.sums[k]).numbers[i] != 0) return "kmeans: a sum is left over";
    }
    return points == n_ ? "" : "kmeans: points are lost or counted twice";
  }

  void clear() {
    store_.transact([&](tx& t) {
      const root r = t.get(root_);
      t.destroy(r.shared);
      for (uint32_t k = 0; k < k_; ++k) {
        t.destroy(r.means[k]);
        t.destroy(r.sums[k]);
      }
      t.open(root_) = root{};
    });
  }

 private:
  static constexpr uint64_t share = 3;

  // Every thread has a copy of the means for the searches of a round.
  uint64_t round(std::vector<float>& means) {
    uint64_t transactions = 0, moved = 0;
    copy_means(means);
    for (;;) {
      const uint64_t from = take();
      ++transactions;
      if (from >= n_) break;
      for (uint64_t i = from; i < std::min(from + share, n_); ++i, ++transactions) {
        const uint32_t k = nearest(means, i);
        moved += k != member_[i];
        member_[i] = k;
        add(k, i);
      }
    }
    const std::lock_guard hold(counters_lock_);
    store_.transact([&](tx& t) { t.edit(places_.shared, &counters::moved) += moved; });
    return transactions + 1;
  }
  uint64_t take() {
    const std::lock_guard hold(counters_lock_);
    return store_.transact([&](tx& t) {
      uint64_t& next = t.edit(places_.shared, &counters::next);
      const uint64_t from = next;
      next += share;
      return from;
    });
  }
  void add(uint32_t k, uint64_t point) {
    const std::lock_guard hold(locks_[k].mutex);
    store_.transact([&](tx& t) {
      const auto sums = t.edit(places_.sums[k], &centre::numbers, 0, width_);
      sums[0] += 1;
      const auto p = points_.point(point);
      for (uint32_t d = 0; d + 1 < width_; ++d) sums[d + 1] += p[d];
    });
  }

  void copy_means(std::vector<float>& means) const {
    means.clear();
    for (uint32_t k = 0; k < k_; ++k) {
      const centre& c = store_.view().get(places_.means[k]);
      means.insert(means.end(), c.numbers + 1, c.numbers + width_);
    }
  }
  uint32_t nearest(const std::vector<float>& means, uint64_t point) const {
    const auto p = points_.point(point);
    float least = std::numeric_limits<float>::max();
    uint32_t found = 0;
    const float* mean = means.data();
    for (uint32_t k = 0; k < k_; ++k, mean += p.size()) {
      float distance = 0;
      for (size_t d = 0; d < p.size(); ++d) distance += (p[d] - mean[d]) * (p[d] - mean[d]);
      if (distance < least) least = distance, found = k;
    }
    return found;
  }

  uint64_t end_round() {
    const uint64_t moved = store_.transact([&](tx& t) {
      for (uint32_t k = 0; k < k_; ++k) {
        const auto sums = t.edit(places_.sums[k], &centre::numbers, 0, width_);
        const auto means = t.edit(places_.means[k], &centre::numbers, 0, width_);
        means[0] = sums[0];
        // A centre that has lost all its points stays where it is.
        for (uint32_t d = 1; d < width_ && sums[0] != 0; ++d) means[d] = sums[d] / sums[0];
        std::ranges::fill(sums, 0.0F);
      }
      const uint64_t m = t.get(places_.shared).moved;
      t.edit(places_.shared, &counters::next) = 0;
      t.edit(places_.shared, &counters::moved) = 0;
      return m;
    });
    ++rounds_;
    if (static_cast<double>(moved) < points_.how.threshold * static_cast<double>(n_) ||
        moved == 0 || rounds_ == points_.how.rounds_max)
      ended_ = true;
    return 1;
  }

  struct alignas(128) lock {
    std::mutex mutex;
  };

  S& store_;
  const input& points_;
  const uint64_t n_;
  const uint32_t k_, width_;
  ptr<root> root_;
  root places_{};  // a copy: they do not change
  std::vector<uint32_t> member_;
  unsigned rounds_ = 0;
  std::atomic<bool> ended_ = false;
  std::barrier<> meet_;
  std::mutex counters_lock_;
  std::vector<lock> locks_;
};

}  // namespace scute::workloads::stamp
