// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/forking.hpp"

#include "base/failure.hpp"
#include "base/process/process.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/memory/view_faults.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/last_thread.hpp"
#include "shield/interpose/process/program_threads.hpp"
#include "shield/interpose/process/supervisor_link.hpp"
#include "shield/interpose/signals/deferred_signals.hpp"
#include "shield/interpose/signals/handler_leaves.hpp"
#include "shield/interpose/stores/durability.hpp"
#include "shield/interpose/stores/store_guard.hpp"

// Of the C library, which does not declare it.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" int __register_atfork(void (*before)(), void (*parent)(), void (*child)(),
                                 void* library) noexcept;

namespace scute::core::interpose {

void begin_fork() noexcept {
  lock_for_fork();
  load_all_views();
}

void end_fork_in_parent() noexcept {
  unlock_after_fork();
}

void end_fork_in_child() noexcept {
  forget_faults();
  forget_held_pages();
  forget_staying_pages();
  if (call_under_way() != 0) guarded_file::leave_regions();
  forget_calls();
  forget_departures();
  own_handlers();
  close_link_in_child();
  own_tables();
  forget_threads_of_parent();
  main_thread_of_child();
  guarded_file::become_child();
  unlock_after_fork();
  let_deferred_signals_come();
}

void handle_forks() {
  [[maybe_unused]] static const bool done = [] {
    // CRIT-2: the last registered handler is called first, so our mutex is taken before the
    // library's.
    static_cast<void>(process_tables());
    const int e = __register_atfork(&begin_fork, &end_fork_in_parent, &end_fork_in_child, nullptr);
    if (e != 0) throw_errno("register handlers of fork()", e);
    return true;
  }();
}

}  // namespace scute::core::interpose
