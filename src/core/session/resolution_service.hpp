// SPDX-License-Identifier: BSD-3-Clause
// Resolves an open pool after a crash: the scanning threads, the waiting ones, and the end.
//
// EPOCH-1 The superblock's resolved_epoch grows only when every block is durably resolved. Until
//    then the next opening begins where this one did, whatever this one has resolved.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "base/locks/lock.hpp"
#include "scute/scute.h"

namespace scute::core {

class instance;

class resolution_service {
 public:
  explicit resolution_service(instance& in) : in_(in) {}
  ~resolution_service() { stop(); }
  resolution_service(const resolution_service&) = delete;
  resolution_service& operator=(const resolution_service&) = delete;

  // Blocks are unresolved from here on (tx::engine::resume()).
  void begin() noexcept;
  // Starts threads of its own that scan in the background.
  void start();
  // Scans in this thread too until everything is resolved. Throws what a scan threw.
  void finish(scute_progress_fn progress, void* arg);
  // Ends the background threads, wherever they are in the scan.
  void stop() noexcept;

 private:
  void scan() noexcept;
  void conclude();
  bool all_done() const noexcept;

  instance& in_;
  std::atomic<bool> stop_{false};
  plain_mutex mutex_;
  std::vector<std::thread> threads_ SCUTE_GUARDED_BY(mutex_);
  std::exception_ptr error_ SCUTE_GUARDED_BY(mutex_);
};

}  // namespace scute::core
