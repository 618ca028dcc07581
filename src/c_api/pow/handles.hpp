// SPDX-License-Identifier: BSD-3-Clause
// The opaque types of scute/pow.h.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/process/process.hpp"
#include "base/process/uncancelled.hpp"
#include "c_api/pool/guard.hpp"
#include "c_api/pow/calls.hpp"
#include "pow/store.hpp"
#include "scute/pow.h"

struct scute_pow_table final {
  scute_pow* owner = nullptr;
  scute::core::pow::table* in = nullptr;
  std::unique_ptr<scute::core::pow::serializer> serializer;
};

struct scute_pow final {
  const uint64_t process = scute::core::this_process();
  scute::core::c_api::store_calls calls;
  std::atomic<uint64_t> holders{1};     // CALLS-3
  scute::core::plain_mutex close_lock;  // one thread closes, and others wait for it
  scute::core::plain_mutex lock;        // of the tables and files
  std::vector<std::unique_ptr<scute_pow_table>> tables;
  std::vector<std::unique_ptr<scute_pow_file>> files;
  std::unique_ptr<scute::core::pow::store> in;  // for calls that have entered; null: closed
  // Of `in`. Calls that have not entered compare its address, and access nothing there.
  std::atomic<const scute::core::pow::state*> parts{nullptr};  // null: closed
  scute::core::pow::progress_fn check_progress, compact_progress;

  scute_pow();
  ~scute_pow();
};

namespace scute::core::c_api {

// Adds a handle that is attached to `in` to those of the store. (Attaching may wait for a check,
// and that for a section which detaches a table: so no thread holds the lock while it attaches.)
template <typename Handle>
Handle& list(scute_pow& p, std::vector<std::unique_ptr<Handle>>& all, std::unique_ptr<Handle> made,
             pow::table& in) {
  const locked guard(p.lock);
  try {
    return *all.emplace_back(std::move(made));
  } catch (...) {
    p.in->detach(in);  // before its serializer goes
    throw;
  }
}

inline bool inherited(const scute_pow* store) noexcept {
  return store != nullptr && store->process != this_process();
}
scute_pow& need(scute_pow* store);
pow::section& need(scute_pow_section* section);
inline constexpr const char* closed_message =
    "the store is closed: what is in memory can be read, and not changed";
int refuse_closed() noexcept;

// For calls that make no system call, so that pthread_cancel() finds nothing in them
// (base/process/uncancelled.hpp).
template <typename Fn>
int guarded_short(scute_pow* store, Fn&& body) noexcept {
  if (store == nullptr) [[unlikely]]
    return guarded(body);
  if (inherited(store)) [[unlikely]]
    return refuse_inherited();
  const store_calls::call in(store->calls, [store] {
    const pow::state* const s = store->parts.load(std::memory_order_acquire);
    return s != nullptr && pow::section::of_thread(*s) != nullptr;
  });
  if (!in.is_open()) [[unlikely]]
    return refuse_closed();
  return guarded(body);
}
// Calls body(section); the section is this thread's.
template <typename Fn>
int guarded_short(scute_pow_section* section, Fn&& body) noexcept {
  auto* const s = reinterpret_cast<pow::section*>(section);
  if (s == nullptr || !pow::section::is_of_thread(s)) [[unlikely]]
    return guarded([&] { need(section); });
  if (s->parts().process != this_process()) [[unlikely]]
    return refuse_inherited();
  return guarded([&] { body(*s); });
}

// For all others.
template <typename Handle, typename Fn>
int guarded_pow(Handle* handle, Fn&& body) noexcept {
  const uncancelled now;
  return guarded_short(handle, body);
}

}  // namespace scute::core::c_api
