// SPDX-License-Identifier: BSD-3-Clause
// A shielded file and its pool, as the backing of a view.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "scute/shield.h"
#include "shield/view/backing.hpp"

namespace scute::core::supervisor {

// Says why the file named FILE.scute does not protect the file (OUTLOOK-2), and what to do; empty
// if it may well protect it.
std::string why_unprotected(const std::string& path);

class pool_backing final : public view::backing {
 public:
  // Opens the pool of the file, and recovers it. Throws failure.
  // If the pool is open elsewhere: SCUTE_E_BUSY at once, or after waiting some seconds for its
  // release (CRASHWB-3).
  enum class if_busy : uint8_t { refuse, wait };
  // Opened for the supervisor of its view (SUPLOCK-2), or for a process without supervisor.
  enum class opened_for : uint8_t { itself, supervisor };
  // If this user may only read it: SCUTE_E_READONLY, or it is opened for reading, and every commit
  // fails.
  enum class if_read_only : uint8_t { refuse, read };
  explicit pool_backing(const std::string& path, if_busy then = if_busy::refuse,
                        if_read_only else_then = if_read_only::refuse,
                        opened_for whom = opened_for::itself);
  ~pool_backing() override;

  // Closes the pool and reports errors, which the destructor does not. Throws failure.
  void close();

  // Sets the file's modification time, for mappings whose stores do not set it (tmpfs).
  void set_time() noexcept;

  // When this returns, nothing committed is in a log alone (scute_drain()). Returns false if that
  // failed: see why().
  bool drain() noexcept;

  uint64_t capacity() const noexcept { return capacity_; }
  bool is_read_only() const noexcept { return is_read_only_; }
  // Repairs of the file since it was opened.
  uint64_t repairs() const noexcept;
  // Why a call has returned false; and whether room was lacking.
  std::string why() const;
  bool had_no_room() const noexcept { return had_no_room_.load(std::memory_order_relaxed); }

  uint64_t size() const noexcept override { return size_.load(std::memory_order_acquire); }
  bool read(uint64_t offset, std::span<std::byte> to) noexcept override;
  bool commit(std::span<const view::change> set) noexcept override;
  bool grow(uint64_t size) noexcept override;
  bool reserve(uint64_t size) noexcept;  // room for the file to grow to that
  size_t lines_max() const noexcept override;
  std::span<const std::byte> raw(uint64_t offset) noexcept override;
  bool repair(uint64_t offset, size_t n) noexcept override;

 private:
  bool noted(int result) noexcept;

  const std::string path_;
  bool is_timeless_ = false, is_read_only_ = false;
  std::atomic<bool> has_changed_{false};  // since its time was last set
  scute_pool* pool_ = nullptr;
  uint64_t capacity_ = 0;
  std::atomic<uint64_t> size_{0};
  std::vector<scute_shield_replacement>
      changes_;                  // memory for a commit, so that a commit allocates none
  mutable std::mutex why_lock_;  // page-ins run on a thread of their own
  std::string why_;
  std::atomic<bool> had_no_room_{false};
};

}  // namespace scute::core::supervisor
