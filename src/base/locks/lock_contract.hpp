// SPDX-License-Identifier: BSD-3-Clause
// Macros that say what a lock guards and which functions need it. Clang's thread-safety analysis
// checks them at compile time (docs/internals/architecture.md, "Threads"). For other compilers they
// are empty.
//
// The macros name locks that are members or globals, one by one. Locks that are chosen at run time
// from many, and sets of them, cannot be named: stripes (core/shared/parity/stripes.hpp), object
// locks (core/shared/object_locks.hpp), the window of a log-free commit and lanes. Assertions, the
// explorer and ThreadSanitizer check the rules of those.
#pragma once

#if defined(__clang__)
#define SCUTE_LOCK_CONTRACT(x) __attribute__((x))
#else
#define SCUTE_LOCK_CONTRACT(x)
#endif

// For classes: a lock; and a guard, which has a lock for as long as it lives.
#define SCUTE_CAPABILITY(name) SCUTE_LOCK_CONTRACT(capability(name))
#define SCUTE_SCOPED SCUTE_LOCK_CONTRACT(scoped_lockable)

// For data: read and written only with the lock.
#define SCUTE_GUARDED_BY(lock) SCUTE_LOCK_CONTRACT(guarded_by(lock))
#define SCUTE_PT_GUARDED_BY(lock) \
  SCUTE_LOCK_CONTRACT(pt_guarded_by(lock))  // the data that a pointer refers to

// For functions: called with the lock; called without it; acquire it; release it; acquire it if
// they return `result`.
#define SCUTE_REQUIRES(...) SCUTE_LOCK_CONTRACT(requires_capability(__VA_ARGS__))
#define SCUTE_EXCLUDES(...) SCUTE_LOCK_CONTRACT(locks_excluded(__VA_ARGS__))
#define SCUTE_ACQUIRE(...) SCUTE_LOCK_CONTRACT(acquire_capability(__VA_ARGS__))
#define SCUTE_RELEASE(...) SCUTE_LOCK_CONTRACT(release_capability(__VA_ARGS__))
#define SCUTE_TRY_ACQUIRE(result, ...) \
  SCUTE_LOCK_CONTRACT(try_acquire_capability(result __VA_OPT__(, ) __VA_ARGS__))

// For a function that does nothing: its caller has the lock. For lambdas, whose callers the
// analysis does not know.
#define SCUTE_ASSUME_HELD(...) SCUTE_LOCK_CONTRACT(assert_capability(__VA_ARGS__))

// For functions that the analysis cannot follow. Each says why.
#define SCUTE_NO_LOCK_ANALYSIS SCUTE_LOCK_CONTRACT(no_thread_safety_analysis)
