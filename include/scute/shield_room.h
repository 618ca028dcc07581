/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shield_room.h: reserves room for a shielded file before it grows. It is for programs that first
 * store the new bytes elsewhere, and grow the file later (scute_shield_grow() of <scute/shield.h>),
 * as `scute shield run` does.
 */
#ifndef SCUTE_SHIELD_ROOM_H
#define SCUTE_SHIELD_ROOM_H

#include <scute/scute.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reserves room for FILE to grow to `size` bytes, as far as the file system can promise it and
 * RLIMIT_FSIZE allows. FILE and its bytes do not change. Does nothing if it is that long.
 * SCUTE_E_RANGE: beyond the capacity; SCUTE_E_NOSPC; SCUTE_E_IO. Any thread. */
SCUTE_API int scute_shield_reserve(scute_pool *pool, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
