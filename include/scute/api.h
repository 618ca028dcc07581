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

/* Names an object of one pool: the offset of its first payload byte in the low 48 bits and the
 * pool's tag in the high 16, so that an oid of another pool is recognised. 0 is null. May be
 * stored in objects of the same pool. */
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
 * A lost page is met as SIGBUS or SIGSEGV in the thread that touches it, and the kernel ends a
 * process whose thread blocks them then. So a thread stops blocking these two at its first call on
 * an open pool, and at every call while a page is known to be lost, unless every pool was opened
 * with SCUTE_NO_FAULT_HANDLER. A thread that blocks them later is safe from losses that were
 * announced only (injected, or on the kernel's list); let sigfillset() be followed by sigdelset()
 * of both.
 *
 * ---- processes ----------------------------------------------------------------------------------
 * A pool belongs to the process that opened it. A child, however it was made, has no mapping of it
 * and does not keep it locked: calls with a handle of the parent's answer SCUTE_E_FORKED (null or 0
 * where they return no code), scute_close() lets go of the handle and returns 0, and a pointer into
 * the pool faults as any wild pointer does. All of that, and exit(), is safe in a child whatever
 * other threads were doing; the parent notices nothing, inside a transaction or not. A child that
 * was made by fork() may open pools of its own, and this one once the parent has closed it or
 * ended. (A child of a raw system call runs no fork handlers. If the parent had several threads,
 * the allocator may be locked for ever in the child, and a pool that another thread was just
 * opening stays locked until the child ends.) To save a state of a pool in use, let the child open
 * a copy (docs/guides/operate.md, "Back up"). A child that was made inside a callback must not
 * return from it. */

#endif
