// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/signals/signal_free_region.hpp"

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

#if __has_include(<sys/rseq.h>) && defined(RSEQ_SIG)
namespace {

// The kernel checks for its mark before the address to resume at, though no thread ever resumes
// there.
struct marked_address {
  uint32_t mark;
  uint32_t behind;
};
constinit const marked_address nowhere{RSEQ_SIG, 0};

// A sequence that contains no address.
struct sequence : rseq_cs {
  sequence() noexcept : rseq_cs{} { abort_ip = reinterpret_cast<uintptr_t>(&nowhere.behind); }
};
const sequence empty;

uint64_t place_of_empty() noexcept {
  return reinterpret_cast<uintptr_t>(static_cast<const rseq_cs*>(&empty));
}

// The thread's record, which the C library has registered with the kernel.
volatile struct rseq& of_thread() noexcept {
  auto* const at = static_cast<std::byte*>(__builtin_thread_pointer()) + __rseq_offset;
  return *reinterpret_cast<volatile struct rseq*>(at);
}

}  // namespace

bool signal_free_region::begin() noexcept {
  // Before this file's constructor the sequence has no address to continue at; no commit happens
  // then.
  if (__rseq_size == 0 || empty.abort_ip == 0) return false;
  // A negative number: the kernel does not know this thread's record.
  if (static_cast<int32_t>(of_thread().cpu_id) < 0) return false;
  of_thread().rseq_cs = place_of_empty();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

bool signal_free_region::end() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool none = of_thread().rseq_cs == place_of_empty();
  of_thread().rseq_cs = 0;
  return none;
}

#else

bool signal_free_region::begin() noexcept {
  return false;
}
bool signal_free_region::end() noexcept {
  return false;
}

#endif

}  // namespace scute::core::interpose
