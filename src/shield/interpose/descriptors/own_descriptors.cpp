// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/own_descriptors.hpp"

#include <fcntl.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "shield/interpose/calls/next_calls.hpp"

namespace scute::core::interpose {
namespace {

constexpr int numbers_max = 1 << 16;
constinit std::array<std::atomic<uint64_t>, numbers_max / 64> own{};

bool in_table(int fd) noexcept {
  return fd >= 0 && fd < numbers_max;
}

}  // namespace

void remember_own(int fd) noexcept {
  if (in_table(fd))
    own[static_cast<size_t>(fd) / 64].fetch_or(uint64_t{1} << (fd % 64), std::memory_order_relaxed);
}

void forget_own(int fd) noexcept {
  if (in_table(fd))
    own[static_cast<size_t>(fd) / 64].fetch_and(~(uint64_t{1} << (fd % 64)),
                                                std::memory_order_relaxed);
}

bool is_own(int fd) noexcept {
  return in_table(fd) &&
         (own[static_cast<size_t>(fd) / 64].load(std::memory_order_relaxed) >> (fd % 64) & 1) != 0;
}

int keep_own(int fd) noexcept {
  // OWN-2
  constexpr int high = 512, above_standard = 3;
  int kept = next::fcntl(fd, F_DUPFD_CLOEXEC, high);
  if (kept < 0 && (errno == EINVAL || errno == EMFILE))
    kept = next::fcntl(fd, F_DUPFD_CLOEXEC, above_standard);
  if (kept >= 0) remember_own(kept);
  return kept;
}

void close_own(int fd) noexcept {
  if (fd < 0) return;
  forget_own(fd);
  next::close(fd);
}

void close_own(const kept_number& of) noexcept {
  forget_own(of.number());
  close_own(of.get());
}

}  // namespace scute::core::interpose
