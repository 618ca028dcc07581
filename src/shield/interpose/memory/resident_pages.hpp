// SPDX-License-Identifier: BSD-3-Clause
// Loads the bytes that a call on a descriptor will read or write, before it is made (PAGEIN-3).
// Async-signal-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "shield/interpose/memory/page_out.hpp"

namespace scute::core::interpose {

// While an object lives they stay loaded. Keeps errno unless it fails.
class resident_pages {
 public:
  // n bytes at `at`, or at the descriptor's position (-1). For any descriptor; most need nothing. A
  // write past the end, which makes the file longer, also needs the last page: the bytes may lie in
  // it.
  enum class use : uint8_t { as_given, appends };
  resident_pages(int fd, off_t at, size_t n, use how = use::as_given) noexcept;
  resident_pages(const resident_pages&) = delete;
  resident_pages& operator=(const resident_pages&) = delete;
  // False with errno (EIO): they cannot be read, and the call must not be made.
  explicit operator bool() const noexcept { return done_; }

 private:
  std::optional<pages_stay> stay_;
  bool done_ = true;
};

// Loads the whole file and keeps it loaded, for calls that are not intercepted. False with errno.
bool make_resident(int fd) noexcept;

}  // namespace scute::core::interpose
