// SPDX-License-Identifier: BSD-3-Clause
// The boundary between the core's exceptions and the C ABI: every exported function runs its body
// in guarded(), which turns exceptions into a code and a message for scute_errormsg(). A call with
// a handle inherited by fork() is refused before: refusing takes no lock and no memory, so it is
// safe in a child whatever the other threads of its parent were doing.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>

#include "base/failure.hpp"
#include "base/process/process.hpp"
#include "base/process/uncancelled.hpp"
#include "core/session/instance.hpp"
#include "core/session/thread_state.hpp"
#include "core/shared/pool/library_call.hpp"

// The opaque types of the C interface.
struct scute_pool final {
  std::unique_ptr<scute::core::instance> in;
  scute_pool* next_inherited = nullptr;  // the next one closed in a child
};

namespace scute::core::c_api {

int fail(int code, const char* message) noexcept;
inline constexpr const char* inherited_message =
    "the pool was opened by the process from which this one was forked, and only that process may "
    "use it; let it close the pool first, or give this process a copy of the file";
int refuse_inherited() noexcept;

// Whether the handle belongs to another process, from which this one was forked.
inline bool inherited(const scute_pool* pool) noexcept {
  return pool != nullptr && pool->in->inherited();
}
inline bool inherited(const scute_tx* handle) noexcept {
  thread_state& me = this_thread();
  if (me.process != this_process()) [[unlikely]]
    me.refresh();
  return me.inherited != nullptr && handle == reinterpret_cast<const scute_tx*>(me.inherited);
}

template <typename Fn>
int guarded(Fn&& body) noexcept {
  const int keep = errno;
  const pool::library_call within;
  try {
    body();
    errno = keep;
    return SCUTE_OK;
  } catch (const failure& e) {
    return fail(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(SCUTE_E_NOMEM, "out of memory; nothing was changed");
  } catch (const std::exception& e) {
    return fail(SCUTE_E_INTERNAL, e.what());
  }
}

// Reports waiting events at the end of a call, when no lock is held any more.
inline void notify_events(pool::state& s) noexcept {
  if (!s.events.pending()) [[likely]]
    return;
  const int keep = errno;
  s.events.notify_all(s);
  errno = keep;
}

// SIG-1, in base/process/thread_signals.hpp.
inline void admit_faults(const pool::state& s, thread_state& me = this_thread()) noexcept {
  if (!me.admits_faults || s.medium->any_revoked()) [[unlikely]]
    if ((s.flags & SCUTE_NO_FAULT_HANDLER) == 0) me.admit_faults();
}

// For calls on an open pool.
template <typename Fn>
int guarded(scute_pool* pool, Fn&& body) noexcept {
  if (inherited(pool)) [[unlikely]]
    return refuse_inherited();
  if (pool != nullptr) admit_faults(pool->in->s);
  const int result = guarded(body);
  if (pool != nullptr) notify_events(pool->in->s);
  return result;
}

// For calls on a transaction; the body gets it with need().
template <typename Fn>
int guarded(scute_tx* handle, Fn&& body) noexcept {
  if (inherited(handle)) [[unlikely]]
    return refuse_inherited();
  const int result = guarded(body);
  // Otherwise need() has accepted the handle, and the pool stays open as long as this call runs.
  if (result != SCUTE_E_NOTX) notify_events(reinterpret_cast<tx::transaction*>(handle)->pool());
  return result;
}

inline instance& need(scute_pool* pool) {
  if (pool == nullptr) throw failure(SCUTE_E_INVALID, "the pool handle is null");
  return *pool->in;
}

template <typename T>
T& need_out(T* p, const char* name) {
  if (p == nullptr) throw failure(SCUTE_E_INVALID, std::string(name) + " is null");
  return *p;
}

// For the structs that carry their own size: the caller's may be of an older or newer library.
template <typename T>
void copy_out(T* to, T& filled, const char* name) {
  need_out(to, name);
  const size_t n = to->struct_size;
  if (n < sizeof(size_t) || n > 4096)
    throw failure(SCUTE_E_INVALID, std::string(name) + "->struct_size is not set; assign sizeof(*" +
                                       name + ") before the call");
  filled.struct_size = n;
  std::memcpy(to, &filled, std::min(n, sizeof filled));
}

// The calling thread's transaction for a handle. A handle is only compared with the transaction
// that the thread is known to run, so a stale one is recognised even after its pool was closed.
inline tx::transaction& need(scute_tx* handle) {
  thread_state& me = known_thread();  // inherited() has asked for it
  me.refresh();
  auto* t = reinterpret_cast<tx::transaction*>(handle);
  if (t == nullptr || t != me.current)
    throw failure(SCUTE_E_NOTX,
                  "this thread runs no such transaction; it has ended, belongs to another thread, "
                  "or was never begun (scute_tx_begin)");
  admit_faults(t->pool(), me);
  return *t;
}

}  // namespace scute::core::c_api
