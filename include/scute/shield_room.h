/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shield_room.h: room for a shielded file that is about to get longer, for who stores its new bytes
 * elsewhere first and grows it when he has them (scute_shield_grow() of <scute/shield.h>), as the
 * runtime of `scute shield run` does.
 */
#ifndef SCUTE_SHIELD_ROOM_H
#define SCUTE_SHIELD_ROOM_H

#include <scute/scute.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room on the file system for FILE to get `size` bytes long, as far as the file system can promise
 * it and RLIMIT_FSIZE allows; FILE stays as it is, and so do its bytes. Nothing to do if it is that
 * long. SCUTE_E_RANGE: beyond the capacity; SCUTE_E_NOSPC; SCUTE_E_IO. Any thread. */
SCUTE_API int scute_shield_reserve(scute_pool *pool, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
