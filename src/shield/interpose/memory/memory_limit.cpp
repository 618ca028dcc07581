// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/memory_limit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/failure.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/process/settings.hpp"

namespace scute::core::interpose {
namespace {

constexpr uint64_t no_limit = ~uint64_t{0};

// The memory available without swapping, by the kernel's estimate; no limit if it gives none.
uint64_t available() noexcept {
  char text[4096];
  const int fd = next::open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return no_limit;
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  next::close(fd);
  if (n <= 0) return no_limit;
  text[n] = 0;
  constexpr char field[] = "MemAvailable:";
  const char* const at = std::strstr(text, field);
  return at != nullptr ? std::strtoull(at + sizeof field - 1, nullptr, 10) * 1024 : no_limit;
}

// In KiB for small amounts: rounded to MiB, two different ones could look equal.
std::string amount(uint64_t bytes) {
  const bool few = bytes < uint64_t{16} << 20;
  const unsigned shift = few ? 10 : 20;
  return std::to_string((bytes + (uint64_t{1} << shift) - 1) >> shift) + (few ? " KiB" : " MiB");
}

}  // namespace

memory_limit::memory_limit(uint64_t others) : others_(others), named_(!asked().memory.empty()) {
  const std::string& word = asked().memory;
  limit_ = word == "none" ? no_limit
           : named_       ? std::strtoull(word.c_str(), nullptr, 10)
                          : available();
}

void memory_limit::require(uint64_t taken, uint64_t loaded, uint64_t size) const {
  const uint64_t wanted = named_ ? taken + others_ : taken;
  if (wanted <= limit_) return;
  throw failure(SCUTE_E_NOMEM,
                "the first " + amount(loaded) + " of its " + amount(size) + " took " +
                    amount(taken) + " of memory" +
                    (named_ && others_ != 0 ? ", other files have " + amount(others_) : "") +
                    ", and " + amount(limit_) + (named_ ? " are allowed" : " were available") +
                    "; `scute shield run --max-memory` allows more, and with --view-dir views lie "
                    "on a disk");
}

}  // namespace scute::core::interpose
