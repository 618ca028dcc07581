// SPDX-License-Identifier: BSD-3-Clause
// The threads that are measured: started once, pinned to a CPU each, woken for every batch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace scute::bench {

enum class clock_kind { wall, cpu };

class crew {
 public:
  crew(unsigned threads, clock_kind clock);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // One batch of one thread; all threads start theirs together.
  using job = std::function<void(unsigned thread)>;

  // Runs the job in threads 0 .. threads-1. Returns the nanoseconds from the first start to the
  // last end, or with clock_kind::cpu the mean CPU time of a thread. Throws what a thread threw.
  double run(unsigned threads, const job& j);

  unsigned size() const noexcept { return static_cast<unsigned>(members_.size()); }

 private:
  struct member {
    std::thread thread;
    uint64_t begin = 0, end = 0;
    std::string error;
  };
  void live(unsigned me);
  void work(unsigned me, const job& j);

  clock_kind clock_;
  std::vector<member> members_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  uint64_t generation_ = 0;
  unsigned active_ = 0, running_ = 0;
  const job* job_ = nullptr;
  bool stop_ = false;
  std::atomic<unsigned> ready_{0};
};

// The CPUs that this process may use.
std::vector<int> usable_cpus();

// Nanoseconds of the monotonic clock.
uint64_t now_ns() noexcept;

}  // namespace scute::bench
