// SPDX-License-Identifier: BSD-3-Clause
// The library's memory of each thread. Libraries that are loaded into a running process share a
// small area for thread-local variables that can be reached without a call (static TLS). This
// library takes at most 64 bytes of it: a few words, all of them initial-exec, and the pointer to
// this block, which holds the rest.
//
// A block is made at the first use in its thread, and freed at the thread's end. It begins as zero
// bytes, needs no destructor, and has a place for each folder that keeps something in it. If memory
// is short some blocks in reserve are used. When those are used up the program ends, as with every
// call that must not fail.
//
// A fault handler neither allocates nor frees: a thread without a block gets one on the handler's
// stack for the time of the handler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace scute::core {

struct thread_block {
  template <size_t Size>
  struct alignas(8) place {
    std::byte bytes[Size];
  };

  place<88> session;          // core/session/thread_state.hpp
  place<80> in_flight_write;  // core/shared/parity/in_flight_write.hpp
  place<16> rebuilding;       // core/repair/page_repair.cpp
  place<24> pow;              // pow/sections/thread_part.hpp
  uint32_t finder;            // core/shared/pool/event_log.hpp
  uint32_t cell;              // core/shared/accounting.hpp; 0: none yet
  uint32_t for_supervisor;    // base/locks/supervisor_lock.hpp
  bool end_is_watched;        // at_end is called, and the block freed, when the thread ends
  void (*at_end)() noexcept;
  const void* store_call;  // the newest call on a store (c_api/pow/calls.hpp)
  const char* message;     // of the last error
  char* message_room;      // from std::malloc(), or null
};

inline thread_local constinit thread_block* this_thread_block
    __attribute__((tls_model("initial-exec"))) = nullptr;

// For a thread without a block. Not async-signal-safe.
thread_block& make_thread_block() noexcept;
// Tries again to get what make_thread_block() could not get. Throws std::bad_alloc.
void require_end_of_thread(thread_block& mine);

inline thread_block& own_thread_block() noexcept {
  thread_block* const mine = this_thread_block;
  return mine != nullptr ? *mine : make_thread_block();
}

// For code after a call in this thread has made the block. It costs no more than a thread-local
// variable.
inline thread_block& present_thread_block() noexcept {
  return *this_thread_block;
}

// The content of a place.
template <typename T, size_t Size>
T& part_of_thread(thread_block::place<Size>& at) noexcept {
  static_assert(sizeof(T) <= Size && alignof(T) <= 8 && std::is_trivially_copyable_v<T>);
  return *std::launder(reinterpret_cast<T*>(at.bytes));
}

// For fault handlers.
class lent_thread_block {
 public:
  lent_thread_block() noexcept {
    if (this_thread_block == nullptr) this_thread_block = &own_;
  }
  ~lent_thread_block() {
    if (this_thread_block == &own_) this_thread_block = nullptr;
  }
  lent_thread_block(const lent_thread_block&) = delete;
  lent_thread_block& operator=(const lent_thread_block&) = delete;

 private:
  thread_block own_{};
};

}  // namespace scute::core
