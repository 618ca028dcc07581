/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shield.h: protection of a file that was not made by Scute.
 * Part of scute.h, which programs include; its conventions hold here as well.
 *
 * A file FILE under the shield keeps its name, its size and its bytes: after a clean close it is
 * what it would be without Scute. Next to it lies FILE.scute, a pool with a checksum for every 4096
 * bytes of FILE, parity over N slices of it, and logs. FILE's bytes are the payload of that pool's
 * objects. A program that opens the pool can check, scrub and change FILE with all calls of
 * scute.h. Repair covers flipped bits, overwritten ranges, and pages that cannot be read. (The log
 * of engine spec on a disk lies in FILE.scute.log.)
 *
 * Only one process at a time has the pool open. It locks FILE.scute and never FILE, so a program's
 * own locks on FILE work. While the pool is open no other process may write to FILE; such writes
 * are taken for damage.
 *
 * Between two sessions FILE may have been changed:
 *  - after a proper close, and FILE has another inode or other times (if it is guarded, another
 *    time of modification): all checksums and all parity are verified, and if they are right FILE
 *    is accepted. If not, or if it has another size, the pool is not opened: SCUTE_E_CHANGED.
 *    scute_shield_adopt() takes what FILE holds for right; the flag SCUTE_DAMAGED takes it for
 *    damage, to be repaired.
 *  - after any other end a file of another inode or size is refused, SCUTE_DAMAGED or not. Its
 *    times say nothing then, and bytes that differ are damage.
 */
#ifndef SCUTE_SHIELD_H
#define SCUTE_SHIELD_H

#include <scute/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scute_options; /* scute.h */

enum {
  /* FILE's permission bits are taken away while it is under the shield, so that programs that know
   * nothing of it cannot open it (root can). Its owner opens it by these calls, and under `scute
   * shield run`. They come back with scute_shield_remove(). */
  SCUTE_SHIELD_GUARD = 1u << 0,
  /* scute_shield_adopt(): FILE.scute is made as it was, if that can be read: of the options only
   * progress and medium count. */
  SCUTE_SHIELD_KEEP = 1u << 1
};

/* Protects `file`: reads it, and makes FILE.scute, which gets its name when it is whole and
 * durable. No process may have the file open for writing. options: as for scute_create(); null for
 * the defaults. size is ignored. rows: the number of slices of FILE, 0 for 100; room to grow makes
 * further ones. lanes: 0 for 4. progress is called as "protect". capacity: FILE may grow to so many
 * bytes, 0 for a quarter more than it has; room costs no space except for checksums (0.8 %). FILE's
 * holes get blocks. flags: SCUTE_SHIELD_*. FILE.scute takes about parity / rows + 0.8 % of FILE's
 * size, and some MiB for logs. SCUTE_E_NOENT, SCUTE_E_FORMAT: no regular file; SCUTE_E_RANGE: it is
 * empty, or larger than the capacity; SCUTE_E_EXISTS: there is a FILE.scute; SCUTE_E_BUSY: another
 * process has it locked, or open for writing, as far as the system shows; SCUTE_E_CONFLICT: it was
 * changed meanwhile; SCUTE_E_NOSPC, SCUTE_E_IO, SCUTE_E_INVALID. After any of these there is no
 * FILE.scute, and FILE is as it was. (Closes a descriptor of FILE, which ends locks that the
 * calling process has on it by fcntl(F_SETLK).) */
SCUTE_API int scute_shield_add(const char *file, const struct scute_options *options,
                               uint64_t capacity, uint32_t flags);

/* Accepts FILE's bytes as they are, whatever FILE.scute says, and makes a new FILE.scute. Discards
 * the logs of a session that was not closed properly. options null: the defaults, with
 * SCUTE_SHIELD_KEEP. That keeps the capacity (if FILE is not larger) as well. A file that was
 * guarded stays so in any case. Otherwise, and for errors, as scute_shield_add(). SCUTE_E_NOENT:
 * there is no FILE.scute; SCUTE_E_BUSY: it is open; SCUTE_E_EXISTS: the pool there protects no
 * file. After an error the old FILE.scute remains. */
SCUTE_API int scute_shield_adopt(const char *file, const struct scute_options *options,
                                 uint64_t capacity, uint32_t flags);

/* FILE leaves the shield: what was committed is in it, durably, it has its permissions, and
 * FILE.scute is gone, and its log. All of it is checked, and repaired, before. options as for
 * scute_open(), its progress as well, or null. A file that was changed since a proper close stays
 * as it is, and is not checked. Errors of scute_shield_open(); SCUTE_E_CHANGED: the last session
 * was not closed properly, and FILE is another file since; SCUTE_E_CORRUPT, also: some of it is
 * lost, and FILE stays under the shield (scute_shield_adopt() takes it as it is). */
SCUTE_API int scute_shield_remove(const char *file, const struct scute_options *options);

/* scute_open() of FILE.scute. Errors as there, and: SCUTE_E_NOENT: FILE is not shielded, or
 * missing; SCUTE_E_CHANGED (see above); SCUTE_E_INVALID: FILE.scute protects no file, or another
 * one. */
SCUTE_API int scute_shield_open(const char *file, const struct scute_options *options,
                                scute_pool **pool);

/* The file that a pool protects; set struct_size before the call. */
typedef struct scute_shield_state {
  size_t struct_size;
  uint64_t size;     /* of FILE; 0: the pool is one of its own, and protects no other file */
  uint64_t capacity; /* that FILE can grow to */
  uint64_t inode;    /* of FILE */
  uint32_t rows;     /* slices that FILE was cut into */
  uint32_t guard;    /* permission bits that were taken away; 0: none were */
  uint32_t segments; /* objects that have FILE's bytes; see scute_shield_locate() */
  uint32_t reserved;
  char file[4096]; /* FILE, NUL-terminated; cut off if it is longer */
} scute_shield_state;
SCUTE_API int scute_shield_info(scute_pool *pool, scute_shield_state *state);

/* The state in which the next opening of a shielded file would find it. */
typedef enum scute_shield_condition {
  SCUTE_SHIELD_IN_USE = 1,  /* its pool is open, in this process or in another one */
  SCUTE_SHIELD_CLEAN = 2,   /* the last session was closed properly, and FILE is as it left it */
  SCUTE_SHIELD_UNCLEAN = 3, /* it was not: the opening will recover */
  SCUTE_SHIELD_TOUCHED =
      4, /* it was, and FILE has another inode or other times: the opening will read all of it,
                             * and refuse it if it holds other bytes (SCUTE_E_CHANGED) */
  SCUTE_SHIELD_CHANGED = 5, /* FILE has another size, or is another file: it will be refused */
  SCUTE_SHIELD_MISSING = 6  /* there is no FILE */
} scute_shield_condition;

/* Reads it from FILE.scute's superblock and FILE's inode, size and times, and opens no pool:
 * nothing is locked, read through or changed, and another process may have it in use. So it says
 * nothing of damage. state, which may be null, is filled in as by scute_shield_info(); inode is 0
 * if there is no FILE. (What a session that is open does meanwhile may make it out of date.)
 * SCUTE_E_NOENT: there is no FILE.scute; SCUTE_E_INVALID: it is a pool of its own, or protects
 * another file; SCUTE_E_FORMAT, SCUTE_E_VERSION, SCUTE_E_CORRUPT, SCUTE_E_TRUNCATED: FILE.scute
 * cannot be used; SCUTE_E_IO: it cannot be read. Any thread. */
SCUTE_API int scute_shield_look(const char *file, scute_shield_condition *condition,
                                scute_shield_state *state);

/* Where the byte at `offset` of FILE is: *at bytes into the object *oid, with *length bytes of FILE
 * from there on (any of these may be null). An object holds up to 16 GiB. Objects of a shielded
 * file cannot be freed. SCUTE_E_INVALID: the pool protects no file; SCUTE_E_RANGE: FILE ends
 * before. Any thread. */
SCUTE_API int scute_shield_locate(scute_pool *pool, uint64_t offset, scute_oid *oid, uint64_t *at,
                                  uint64_t *length);

/* Copies bytes [offset, offset + n) of FILE to `to`, verified and, where they are damaged, repaired
 * before. SCUTE_E_RANGE, SCUTE_E_CORRUPT: they are lost. Any thread. */
SCUTE_API int scute_shield_read(scute_pool *pool, uint64_t offset, void *to, uint64_t n);

/* Changes ranges of FILE, durably, and of which a crash leaves all or none: a transaction. They may
 * overlap; the last one wins. SCUTE_E_RANGE: one reaches beyond FILE; SCUTE_E_INVALID: the thread
 * runs a transaction; SCUTE_E_NOSPC: too much at a time for the logs; SCUTE_E_CORRUPT; SCUTE_E_IO:
 * the outcome is left to recovery. Else nothing was changed. Any thread; these calls wait for each
 * other. */
typedef struct scute_shield_change {
  uint64_t offset;
  const void *bytes;
  uint64_t length;
} scute_shield_change;
SCUTE_API int scute_shield_write(scute_pool *pool, const scute_shield_change *changes,
                                 size_t count);

/* The same for a caller that still has the verified old bytes, from scute_shield_read() or its own
 * last change. Where FILE holds `old`, nothing else of the pages is read. Where it does not, the
 * page is verified and repaired, and `bytes` are written all the same. The changes are sorted by
 * offset, and none overlaps another. `bytes` and `old` do not lie in a pool: they are read while
 * parts of FILE are locked. SCUTE_E_INVALID: out of order; else as scute_shield_write(). */
typedef struct scute_shield_replacement {
  uint64_t offset;
  const void *bytes;
  const void *old;
  uint64_t length;
} scute_shield_replacement;
SCUTE_API int scute_shield_replace(scute_pool *pool, const scute_shield_replacement *changes,
                                   size_t count);

/* Extends FILE by zeros to `size` bytes, which have blocks. A crash leaves the old size or the new
 * one. SCUTE_E_RANGE: beyond the capacity, or shorter than it is; SCUTE_E_NOSPC; SCUTE_E_IO. No
 * other thread may change its last bytes meanwhile. */
SCUTE_API int scute_shield_grow(scute_pool *pool, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
