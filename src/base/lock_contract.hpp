// SPDX-License-Identifier: BSD-3-Clause
// What a lock guards and which functions need it, in words that clang's thread-safety analysis
// checks when it compiles (docs/internals/architecture.md, "Threads"). For other compilers they are
// empty.
//
// The words name locks that are members or globals, one by one. Locks that are chosen at run time
// from many, and sets of them, cannot be named: stripes (pool/stripes.hpp), object locks
// (pool/object_locks.hpp), the window of a log-free commit and lanes. Those are held to their rules
// by assertions, the explorer and ThreadSanitizer.
#pragma once

#if defined(__clang__)
#define SCUTE_LOCK_CONTRACT(x) __attribute__((x))
#else
#define SCUTE_LOCK_CONTRACT(x)
#endif

// Of classes: a lock; and a guard, which has a lock for as long as it lives.
#define SCUTE_CAPABILITY(name) SCUTE_LOCK_CONTRACT(capability(name))
#define SCUTE_SCOPED SCUTE_LOCK_CONTRACT(scoped_lockable)

// Of data: read and written with the lock only.
#define SCUTE_GUARDED_BY(lock) SCUTE_LOCK_CONTRACT(guarded_by(lock))
#define SCUTE_PT_GUARDED_BY(lock) \
  SCUTE_LOCK_CONTRACT(pt_guarded_by(lock))  // the data that a pointer leads to

// Of functions: called with the lock; without it; take it; give it back; take it if they return
// `result`.
#define SCUTE_REQUIRES(...) SCUTE_LOCK_CONTRACT(requires_capability(__VA_ARGS__))
#define SCUTE_EXCLUDES(...) SCUTE_LOCK_CONTRACT(locks_excluded(__VA_ARGS__))
#define SCUTE_ACQUIRE(...) SCUTE_LOCK_CONTRACT(acquire_capability(__VA_ARGS__))
#define SCUTE_RELEASE(...) SCUTE_LOCK_CONTRACT(release_capability(__VA_ARGS__))
#define SCUTE_TRY_ACQUIRE(result, ...) \
  SCUTE_LOCK_CONTRACT(try_acquire_capability(result __VA_OPT__(, ) __VA_ARGS__))

// Of a function that does nothing: its caller has the lock. For lambdas, of which the analysis does
// not know the callers.
#define SCUTE_ASSUME_HELD(...) SCUTE_LOCK_CONTRACT(assert_capability(__VA_ARGS__))

// Of functions that the analysis cannot follow. Each says why.
#define SCUTE_NO_LOCK_ANALYSIS SCUTE_LOCK_CONTRACT(no_thread_safety_analysis)
