/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What PMDK's examples expect of a header that Debian's package of them lacks.
 */
#ifndef EX_COMMON_H
#define EX_COMMON_H

#include <stdint.h>
#include <unistd.h>

#define CREATE_MODE_RW 0600
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

static inline int file_exists(const char *path) { return access(path, F_OK); }
static inline unsigned find_last_set_64(uint64_t word) { return 63u - (unsigned)__builtin_clzll(word); }

#endif
