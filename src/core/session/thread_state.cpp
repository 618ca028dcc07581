// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/thread_state.hpp"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <utility>

#include "base/process/process.hpp"
#include "base/process/thread_signals.hpp"
#include "core/session/instance.hpp"
#include "core/shared/pool/library_call.hpp"

namespace scute::core {
namespace {

std::atomic<uint32_t> next_ordinal{0};

// Holders in use and free ones, and the lives of pools. Never destroyed, since pools may outlive
// threads and statics, and threads may outlive both. Those of another process stay where they are
// (PROC-5 in base/process/process.hpp).
struct process_store {
  uint64_t process;
  process_store* before;
  std::deque<lease_holder> holders{};
  lease_holder* unused = nullptr;
  std::deque<pool_life> lives{};
  pool_life* unused_lives = nullptr;
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

// No other thread could end the transaction, or know that this thread will not continue it: its
// lane would stay in use for ever.
void abort_what_is_open(thread_state& me) noexcept {
  const locked hold(me.life->ending);
  if (me.life->is_open(me.serial)) {
    const pool::library_call within;
    me.current->abort();
    me.pool->release(*me.current);
  } else {
    me.holder->active.store(false, std::memory_order_release);
  }
  me.pool = nullptr;
  me.current = nullptr;
}

void thread_ends() noexcept {
  thread_state& me = this_thread();
  me.refresh();
  if (me.holder == nullptr) return;  // inherited from a thread of another process
  if (me.current != nullptr) abort_what_is_open(me);
  lease_holder* const one = std::exchange(me.holder, nullptr);
  if (!one->active.load(std::memory_order_relaxed)) give_holder(one);
}

}  // namespace

void thread_state::join() {
  thread_block& mine = own_thread_block();
  mine.at_end = &thread_ends;
  require_end_of_thread(mine);
  holder = take_holder();
  ordinal = next_ordinal.fetch_add(1, std::memory_order_relaxed);
}

void thread_state::begin_process() noexcept {
  if (process != 0) {
    if (current != nullptr) inherited = current;
    pool = nullptr;
    current = nullptr;
    life = nullptr;
    holder = nullptr;  // its thread also lives in the other process
    last_pool = 0;
    last_lane = 0;
  }
  process = this_process();
}

void thread_state::admit_faults() noexcept {
  unblock_faults();
  admits_faults = true;
}

void thread_state::set_message(const char* text) noexcept {
  thread_block& mine = own_thread_block();
  if (mine.message_room == nullptr)
    mine.message_room = static_cast<char*>(std::malloc(message_size));
  if (mine.message_room == nullptr) {
    mine.message = "out of memory, for the message of this error as well";
    return;
  }
  mine.message = mine.message_room;
  const size_t n = std::strlen(text);
  if (n < message_size) {
    std::memcpy(mine.message_room, text, n + 1);
    return;
  }
  std::memcpy(mine.message_room, text, message_size - 4);
  std::memcpy(mine.message_room + message_size - 4, "...", 4);
}

const char* thread_state::message() noexcept {
  const thread_block* const mine = this_thread_block;
  return mine != nullptr && mine->message != nullptr ? mine->message : "";
}

pool_life* new_pool_life(uint64_t serial) {
  const locked hold(process_tables());
  process_store& h = this_store();
  pool_life* one = h.unused_lives;
  if (one != nullptr)
    h.unused_lives = one->next;
  else
    one = &h.lives.emplace_back();
  one->serial.store(serial, std::memory_order_release);
  return one;
}

void give_pool_life(pool_life* one) noexcept {
  const locked hold(process_tables());
  process_store& h = this_store();
  one->next = h.unused_lives;
  h.unused_lives = one;
}

}  // namespace scute::core
