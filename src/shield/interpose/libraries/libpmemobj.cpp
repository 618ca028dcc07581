// SPDX-License-Identifier: BSD-3-Clause
// Windows around libpmemobj's transactions and atomic calls. Between their first fence and their
// last, no operation that the program has requested is half done from its point of view. So one
// commit at the end suffices.
//
// OBJ-1 A transaction's window is open while pmemobj_tx_stage() says that one is running, however
//    it was begun. Calls are not counted, since an abort leaves by longjmp(). The stage is checked
//    whenever such a call returns or jumps, at each fence, and before a stage callback.
// OBJ-2 If calls did not return, since their constructors left by longjmp(), their windows end with
//    a commit when the window of a transaction of the thread begins or ends. A window that the
//    program itself has opened stays (scute/shield_view.h).
// SHIELD-9 An aborted transaction's lines are committed like others: libpmemobj restores them
//    itself, from its log in the same file, and flushes them. Its window ends with the first fence
//    of that.
// OBJ-3 When pmemobj_tx_commit() or pmemobj_tx_abort() returns or jumps, the bytes that the
//    transaction has committed, or had made durable itself before its abort, are durable in the
//    following stages and callbacks, as with libpmemobj alone: its window ends there with a commit,
//    and later fences of the program commit at once.
// OBJ-4 The commit of an inner transaction makes nothing durable in libpmemobj, which drains only
//    in that of the outermost. So an inner commit without a fence leaves the window open, until the
//    program makes something durable in a stage of it (OBJ-1).
#include <sys/types.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cwchar>

#include "shield/interpose/calls/next_call.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/stores/durability.hpp"

using namespace scute::core::interpose;

namespace {

constexpr const char* library = "libpmemobj.so.1";

// As in libpmemobj.
struct pool;
struct oid {
  uint64_t pool, offset;
};
struct action;
using constructor = int (*)(pool*, void*, void*);
constexpr int stage_none = 0, stage_work = 1, stage_on_commit = 2, stage_on_abort = 3;

constinit next_call<int()> next_stage{"pmemobj_tx_stage", library};
constinit next_call<pool*(oid)> next_pool_by_oid{"pmemobj_pool_by_oid", library};

// Whether this thread has a transaction's window, and how many calls' windows.
[[gnu::tls_model("initial-exec")]] thread_local constinit bool in_transaction = false;
[[gnu::tls_model("initial-exec")]] thread_local constinit unsigned calls = 0;
// An inner transaction has committed, and has not ended (OBJ-4).
[[gnu::tls_model("initial-exec")]] thread_local constinit bool inner_committed = false;
// The pool of the last transaction that was to begin.
[[gnu::tls_model("initial-exec")]] thread_local constinit const void* pool_of_it = nullptr;

// OBJ-1
void follow_stage() noexcept {
  if (!asked().windows) return;
  const int stage = next_stage();
  const bool now = stage == stage_work;
  if (now == in_transaction) return;
  in_transaction = now;
  ask_at_fences(now ? &follow_stage : nullptr);
  for (; calls != 0; --calls) end_window();  // OBJ-2
  if (!now) return end_window();
  begin_window(pool_of_it);
}

// OBJ-4: after a call that may have committed; fences_before: fences_made() before it.
void follow_commit(uint64_t fences_before) noexcept {
  if (next_stage() == stage_on_commit && fences_made() == fences_before) inner_committed = true;
  if (!inner_committed) follow_stage();
}

class window {
 public:
  explicit window(const void* at) noexcept : is_open_(asked().windows) {
    if (!is_open_) return;
    begin_window(at);
    ++calls;
  }
  // It has already ended if the constructor has begun a transaction.
  ~window() {
    if (!is_open_ || calls == 0) return;
    --calls;
    end_window();
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;

 private:
  bool is_open_;
};

}  // namespace

// A call whose fences become one commit at its end. The pool is identified by its mapping.
#define SCUTE_IN_WINDOW(type, name, types, parameters, arguments) \
  namespace {                                                     \
  constinit next_call<type types> next_##name{#name, library};    \
  }                                                               \
  SCUTE_INTERPOSED(type, name, parameters) {                      \
    const window w(p);                                            \
    return next_##name arguments;                                 \
  }

SCUTE_IN_WINDOW(int, pmemobj_alloc, (pool*, oid*, size_t, uint64_t, constructor, void*),
                (pool * p, oid* to, size_t n, uint64_t type, constructor c, void* arg),
                (p, to, n, type, c, arg))
SCUTE_IN_WINDOW(int, pmemobj_xalloc, (pool*, oid*, size_t, uint64_t, uint64_t, constructor, void*),
                (pool * p, oid* to, size_t n, uint64_t type, uint64_t flags, constructor c,
                 void* arg),
                (p, to, n, type, flags, c, arg))
SCUTE_IN_WINDOW(int, pmemobj_zalloc, (pool*, oid*, size_t, uint64_t),
                (pool * p, oid* to, size_t n, uint64_t type), (p, to, n, type))
SCUTE_IN_WINDOW(int, pmemobj_realloc, (pool*, oid*, size_t, uint64_t),
                (pool * p, oid* to, size_t n, uint64_t type), (p, to, n, type))
SCUTE_IN_WINDOW(int, pmemobj_zrealloc, (pool*, oid*, size_t, uint64_t),
                (pool * p, oid* to, size_t n, uint64_t type), (p, to, n, type))
SCUTE_IN_WINDOW(int, pmemobj_strdup, (pool*, oid*, const char*, uint64_t),
                (pool * p, oid* to, const char* s, uint64_t type), (p, to, s, type))
SCUTE_IN_WINDOW(int, pmemobj_wcsdup, (pool*, oid*, const wchar_t*, uint64_t),
                (pool * p, oid* to, const wchar_t* s, uint64_t type), (p, to, s, type))
SCUTE_IN_WINDOW(int, pmemobj_defrag, (pool*, oid**, size_t, void*),
                (pool * p, oid** all, size_t n, void* result), (p, all, n, result))
SCUTE_IN_WINDOW(int, pmemobj_list_insert, (pool*, size_t, void*, oid, int, oid),
                (pool * p, size_t at, void* head, oid to, int before, oid what),
                (p, at, head, to, before, what))
SCUTE_IN_WINDOW(oid, pmemobj_list_insert_new,
                (pool*, size_t, void*, oid, int, size_t, uint64_t, constructor, void*),
                (pool * p, size_t at, void* head, oid to, int before, size_t n, uint64_t type,
                 constructor c, void* arg),
                (p, at, head, to, before, n, type, c, arg))
SCUTE_IN_WINDOW(int, pmemobj_list_remove, (pool*, size_t, void*, oid, int),
                (pool * p, size_t at, void* head, oid what, int and_free),
                (p, at, head, what, and_free))
SCUTE_IN_WINDOW(int, pmemobj_list_move, (pool*, size_t, void*, size_t, void*, oid, int, oid),
                (pool * p, size_t from_at, void* from, size_t to_at, void* to, oid where,
                 int before, oid what),
                (p, from_at, from, to_at, to, where, before, what))
SCUTE_IN_WINDOW(oid, pmemobj_root, (pool*, size_t), (pool * p, size_t n), (p, n))
SCUTE_IN_WINDOW(oid, pmemobj_root_construct, (pool*, size_t, constructor, void*),
                (pool * p, size_t n, constructor c, void* arg), (p, n, c, arg))
SCUTE_IN_WINDOW(int, pmemobj_publish, (pool*, action*, size_t), (pool * p, action* all, size_t n),
                (p, all, n))

namespace {
constinit next_call<void(oid*)> next_free{"pmemobj_free", library};
}
SCUTE_INTERPOSED(void, pmemobj_free, (oid * what)) {
  const bool is_object = what != nullptr && what->offset != 0;
  const window w(is_object ? next_pool_by_oid(*what) : nullptr);
  next_free(what);
}

// ---- transactions -------------------------------------------------------------------------------

namespace {

// Parameters are pairs of a kind and a value, until tx_nothing; no form of the call takes them as a
// list.
enum tx_parameter : int { tx_nothing, tx_mutex, tx_rwlock, tx_callback };
constexpr size_t words_max = 24;

constinit next_call<int(pool*, void*, ...)> next_tx_begin{"pmemobj_tx_begin", library};
constinit next_call<int()> next_tx_end{"pmemobj_tx_end", library};
constinit next_call<void()> next_tx_commit{"pmemobj_tx_commit", library};
constinit next_call<void(int)> next_tx_abort{"pmemobj_tx_abort", library};
constinit next_call<void()> next_tx_process{"pmemobj_tx_process", library};
constinit next_call<int()> next_tx_errno{"pmemobj_tx_errno", library};
constinit next_call<int(int, void*)> next_tx_lock{"pmemobj_tx_lock", library};
constinit next_call<int(int, void*, uint64_t)> next_tx_xlock{"pmemobj_tx_xlock", library};

constexpr size_t lock_size = 64;

using callback = void (*)(pool*, int, void*);
// The callback of the outermost transaction, which has at most one: libpmemobj refuses another.
[[gnu::tls_model("initial-exec")]] thread_local constinit callback program_callback = nullptr;

// OBJ-3
void on_stage(pool* p, int stage, void* arg) {
  follow_stage();
  if (program_callback != nullptr) program_callback(p, stage, arg);
}

// The callback for libpmemobj to call instead of c. Only one of the program's is followed.
callback followed(callback c) noexcept {
  if (c == nullptr || (program_callback != nullptr && program_callback != c)) return c;
  program_callback = c;
  return &on_stage;
}

}  // namespace

SCUTE_INTERPOSED(int, pmemobj_tx_begin, (pool * p, void* environment, ...)) {
  uintptr_t w[words_max] = {};
  size_t n = 0;
  if (next_stage() == stage_none) program_callback = nullptr;
  const callback before = program_callback;
  va_list more;
  va_start(more, environment);
  for (int what = va_arg(more, int); what != tx_nothing && n + 3 < words_max;
       what = va_arg(more, int)) {
    w[n++] = static_cast<unsigned>(what);
    w[n++] = va_arg(more, uintptr_t);
    if (what == tx_callback) {
      w[n - 1] = reinterpret_cast<uintptr_t>(followed(reinterpret_cast<callback>(w[n - 1])));
      w[n++] = va_arg(more, uintptr_t);
    }
    if (what == tx_mutex || what == tx_rwlock)
      mask_lines(reinterpret_cast<const void*>(w[n - 1]), lock_size);
  }
  va_end(more);
  const int result =
      next_tx_begin(p, environment, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9],
                    w[10], w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20],
                    w[21], w[22], w[23], uintptr_t{tx_nothing});
  if (result != 0) program_callback = before;
  inner_committed = false;
  pool_of_it = p;
  follow_stage();
  return result;
}

SCUTE_INTERPOSED(void, pmemobj_tx_commit, ()) {
  const uint64_t fences = fences_made();
  next_tx_commit();
  follow_commit(fences);
}
SCUTE_INTERPOSED(void, pmemobj_tx_abort, (int why)) {
  next_tx_abort(why);  // or it has jumped
  follow_stage();
}
SCUTE_INTERPOSED(void, pmemobj_tx_process, ()) {
  const uint64_t fences = fences_made();
  next_tx_process();
  follow_commit(fences);
}

SCUTE_INTERPOSED(int, pmemobj_tx_end, ()) {
  const int result = next_tx_end();
  inner_committed = false;
  follow_stage();
  return result;
}

SCUTE_INTERPOSED(int, pmemobj_tx_lock, (int kind, void* lock)) {
  mask_lines(lock, lock_size);
  return next_tx_lock(kind, lock);
}
SCUTE_INTERPOSED(int, pmemobj_tx_xlock, (int kind, void* lock, uint64_t flags)) {
  mask_lines(lock, lock_size);
  return next_tx_xlock(kind, lock, flags);
}

// ---- locks --------------------------------------------------------------------------------------

// Locks lie in the pool, are stored to and never flushed: a word of theirs says in which run of the
// program they were made. NOLINTBEGIN(bugprone-macro-parentheses): they are parenthesized lists.
#define SCUTE_LOCK(name, types, parameters, arguments)        \
  namespace {                                                 \
  constinit next_call<int types> next_##name{#name, library}; \
  }                                                           \
  SCUTE_INTERPOSED(int, name, parameters) {                   \
    mask_lines(lock, lock_size);                              \
    return next_##name arguments;                             \
  }
// NOLINTEND(bugprone-macro-parentheses)

SCUTE_LOCK(pmemobj_mutex_lock, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_mutex_trylock, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_rwlock_rdlock, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_rwlock_wrlock, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_rwlock_tryrdlock, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_rwlock_trywrlock, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_cond_broadcast, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_cond_signal, (pool*, void*), (pool * p, void* lock), (p, lock))
SCUTE_LOCK(pmemobj_mutex_timedlock, (pool*, void*, const void*),
           (pool * p, void* lock, const void* until), (p, lock, until))
SCUTE_LOCK(pmemobj_rwlock_timedrdlock, (pool*, void*, const void*),
           (pool * p, void* lock, const void* until), (p, lock, until))
SCUTE_LOCK(pmemobj_rwlock_timedwrlock, (pool*, void*, const void*),
           (pool * p, void* lock, const void* until), (p, lock, until))
SCUTE_LOCK(pmemobj_cond_wait, (pool*, void*, void*), (pool * p, void* lock, void* mutex),
           (p, lock, mutex))
SCUTE_LOCK(pmemobj_cond_timedwait, (pool*, void*, void*, const void*),
           (pool * p, void* lock, void* mutex, const void* until), (p, lock, mutex, until))
