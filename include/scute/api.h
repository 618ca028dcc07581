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

#endif
