/* SPDX-License-Identifier: BSD-3-Clause
 *
 * api.h: what every part of the C interface needs.
 * Part of scute.h, which programs include; its conventions hold here as well.
 */
#ifndef SCUTE_API_H
#define SCUTE_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SCUTE_API __attribute__((visibility("default")))
#else
#define SCUTE_API
#endif

/* In C++ the enums have a fixed type, as they have in C in effect: a number that names no
 * enumerator is then an error that the library reports, and not undefined behaviour. */
#ifdef __cplusplus
#define SCUTE_ENUM : int
#else
#define SCUTE_ENUM
#endif

typedef struct scute_pool scute_pool; /* an open pool; opaque */

/* Names an object of one pool. The low 48 bits are the offset of its first payload byte. The high
 * 16 are the pool's tag, so that an oid of another pool is recognised. 0 is null. May be stored in
 * objects of the same pool. */
typedef uint64_t scute_oid;
#define SCUTE_OID_NULL ((scute_oid)0)

/* Called during long work (recovery, preallocation, check): done and total in bytes. Runs in the
 * calling thread; must not call into the pool. */
typedef void (*scute_progress_fn)(void *arg, const char *what, uint64_t done, uint64_t total);

/* ---- threads ------------------------------------------------------------------------------------
 * A thread that ends inside a transaction, by returning, pthread_exit() or pthread_cancel(), aborts
 * it.
 *
 * No call is a cancellation point, nor is a callback that a call makes: a thread that is cancelled
 * ends at the next cancellation point of the program's own. (Asynchronous cancellation, which no
 * library allows but where it says so, is not allowed here either.)
 *
 * A thread that touches a lost page gets SIGBUS or SIGSEGV. The kernel ends the process if that
 * thread blocks them. So Scute unblocks both in a thread at its first call on an open pool. It does
 * so again at every call while a page is known to be lost. It does not if every pool was opened
 * with SCUTE_NO_FAULT_HANDLER. A thread that blocks them later is safe only from losses that were
 * announced (injected, or on the kernel's list). After sigfillset() remove both by sigdelset().
 *
 * ---- processes ----------------------------------------------------------------------------------
 * A pool belongs to the process that opened it. A child, however it was made, has no mapping of it
 * and does not keep it locked. There, calls with a handle of the parent's return SCUTE_E_FORKED
 * (null or 0 if they return no code). scute_close() releases the handle and returns 0. A pointer
 * into the pool faults as any wild pointer does. All of that, and exit(), is safe in a child
 * whatever other threads were doing; the parent notices nothing, inside a transaction or not. A
 * child that was made by fork() may open pools of its own, and this one once the parent has closed
 * it or ended. (A child of a raw system call runs no fork handlers. If the parent had several
 * threads, the allocator may stay locked in the child for ever. A pool that another thread was just
 * opening stays locked until the child ends.) To save a state of a pool in use, let the child open
 * a copy (docs/guides/operate.md, "Back up"). A child that was made inside a callback must not
 * return from it. */

#endif
