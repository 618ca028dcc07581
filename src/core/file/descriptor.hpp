// SPDX-License-Identifier: BSD-3-Clause
// File descriptors of the library. All are registered, so that a child of fork() keeps none
// (base/process/process.hpp, PROC-3), and compared before each use (NUMBER-1, NUMBER-2 in
// base/process/kept_number.hpp).
#pragma once

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/process/kept_number.hpp"
#include "base/process/process.hpp"

namespace scute::core::medium {

// Owns one; -1: none.
class descriptor {
 public:
  explicit descriptor(int fd = -1) noexcept : kept_(fd) {}
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : kept_(std::exchange(other.kept_, kept_number())) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }

  // NUMBER-1: for one system call. Async-signal-safe; keeps errno.
  int get() const noexcept { return kept_.get(); }
  int release() noexcept { return std::exchange(kept_, kept_number()).number(); }
  // Keeps errno.
  void reset(int fd = -1) noexcept {
    const int keep = errno;
    if (kept_.number() >= 0) close_registered(kept_.number(), kept_.file());
    kept_ = kept_number(fd);
    errno = keep;
  }

 private:
  kept_number kept_;
};

enum class access : uint8_t { read, write };  // readers share the lock

}  // namespace scute::core::medium
