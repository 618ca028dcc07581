// SPDX-License-Identifier: BSD-3-Clause
// live_state.hpp: what the threads of a live campaign share.
#pragma once

#include "live_campaign.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace scute_campaign {

// A lock whose exclusive side is not kept waiting by ever new sharers.
class gate {
 public:
  void lock() {
    waiting_.fetch_add(1);
    mutex_.lock();
    waiting_.fetch_sub(1);
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    while (waiting_.load() != 0) std::this_thread::yield();
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
  std::atomic<int> waiting_{0};
};

struct live_state {
  explicit live_state(const live_settings& settings) : how(settings) {}

  const live_settings& how;
  scute_pool* pool = nullptr;
  std::atomic<bool> stop{false};

  // Held shared by a transaction, exclusively by a check, which must not run concurrently with any.
  gate rest;
  // Held exclusively while a flip or scribble strikes, and shared
  // - while bytes that were verified are compared: what is hit between the two would count as
  //   unnoticed;
  // - gentle: while a commit writes. An error that strikes bytes as they are being written can get
  //   into the parity in part, and damage both sides of one column.
  // In the wild while a page is lost, too: the first thread that touches it rebuilds it, with a
  // wrong byte if another cell of the column is damaged, and bytes that were verified before change
  // under the comparison. Transactions are hit at any other moment, and lose pages at any moment at
  // all.
  gate rain;

  live_result result;
  std::mutex result_mutex;

  void broken(const std::string& what) {
    const std::lock_guard hold(result_mutex);
    if (result.broken.empty()) result.broken = what;
    stop = true;
  }
};

}  // namespace scute_campaign
