// SPDX-License-Identifier: BSD-3-Clause
#include "session/thread_state.hpp"

#include <pthread.h>

#include <cstring>
#include <deque>
#include <new>

#include "base/process.hpp"
#include "base/thread_signals.hpp"
#include "pool/library_call.hpp"
#include "session/instance.hpp"

namespace scute::core {
namespace {

constinit thread_local char last_message[thread_state::message_size] = {};

std::atomic<uint32_t> next_ordinal{0};

// Holders in use and free, and the lives of pools; never destroyed, since pools may outlive threads and
// statics, and threads may outlive both. Those of another process stay where they are (PROC-5 in
// base/process.hpp).
struct process_store {
  uint64_t process;
  process_store* before;
  std::deque<lease_holder> holders{};
  lease_holder* unused = nullptr;
  std::deque<pool_life> lives{};
};
process_store& this_store() SCUTE_REQUIRES(process_tables()) {
  static constinit process_store* store = nullptr;
  const uint64_t process = this_process();
  if (store == nullptr || store->process != process) store = new process_store{process, store};
  return *store;
}

lease_holder* take_holder() {
  const locked hold(process_tables());
  process_store& h = this_store();
  // (clang's analyzer does not see that the store was made with its members.)
  if (h.unused == nullptr)  // NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult)
    return &h.holders.emplace_back();
  lease_holder* one = h.unused;
  h.unused = one->next;
  return one;
}

void give_holder(lease_holder* one) noexcept {
  const locked hold(process_tables());
  process_store& h = this_store();
  one->next = h.unused;  // NOLINT(clang-analyzer-core.uninitialized.Assign): as above
  h.unused = one;
}

// Nobody else could end it, or would know that it will not go on: its lane would be taken for ever.
void abort_what_is_open(thread_state& me) noexcept {
  const locked hold(me.life->ending);
  if (me.life->open.load(std::memory_order_acquire)) {
    const pool::library_call within;
    me.current->abort();
    me.pool->release(*me.current);
  } else {
    me.holder->active.store(false, std::memory_order_release);
  }
  me.pool = nullptr;
  me.current = nullptr;
}

// Called by pthreads when a thread ends, returning, by pthread_exit() or cancelled.
void thread_ends(void* holder) {
  thread_state& me = state_of_this_thread;
  me.refresh();
  if (holder == nullptr || me.holder != holder)
    return;  // it was the holder of a thread of another process
  if (me.current != nullptr) abort_what_is_open(me);
  auto* one = static_cast<lease_holder*>(holder);
  me.holder = nullptr;
  if (!one->active.load(std::memory_order_relaxed)) give_holder(one);
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (::pthread_key_create(&made, &thread_ends) != 0) throw std::bad_alloc();
    return made;
  }();
  return key;
}

}  // namespace

void thread_state::join() {
  const pthread_key_t key = end_key();
  lease_holder* one = take_holder();
  if (::pthread_setspecific(key, one) != 0) {
    give_holder(one);
    throw std::bad_alloc();
  }
  holder = one;
  ordinal = next_ordinal.fetch_add(1, std::memory_order_relaxed);
}

void thread_state::begin_process() noexcept {
  if (process != 0) {
    if (current != nullptr) inherited = current;
    pool = nullptr;
    current = nullptr;
    life = nullptr;
    holder = nullptr;  // its thread lives in the other process, too
    last_pool = 0;
    last_lane = -1;
  }
  process = this_process();
}

void thread_state::admit_faults() noexcept {
  unblock_faults();
  admits_faults = true;
}

void thread_state::set_message(const char* text) noexcept {
  const size_t n = std::strlen(text);
  if (n < message_size) {
    std::memcpy(last_message, text, n + 1);
    return;
  }
  std::memcpy(last_message, text, message_size - 4);
  std::memcpy(last_message + message_size - 4, "...", 4);
}

const char* thread_state::message() noexcept {
  return last_message;
}

pool_life* new_pool_life() {
  const locked hold(process_tables());
  return &this_store().lives.emplace_back();
}

}  // namespace scute::core
