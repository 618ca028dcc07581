/* SPDX-License-Identifier: BSD-3-Clause
 *
 * inspect.h: looking inside a pool, and checking all of it.
 * Part of scute.h, which programs include; its conventions hold here as well.
 */
#ifndef SCUTE_INSPECT_H
#define SCUTE_INSPECT_H

#include <scute/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a byte of the file lies in the format; for tools and for fault drills. */
enum scute_region SCUTE_ENUM {
  SCUTE_REGION_SUPERBLOCK = 0,
  SCUTE_REGION_LANE = 1,
  SCUTE_REGION_ZONE_HEADER = 2, /* zone descriptor, root anchor */
  SCUTE_REGION_CHUNK_HEADER = 3,
  SCUTE_REGION_OBJECT = 4, /* inside a chunk that holds objects, header or payload */
  SCUTE_REGION_FREE = 5,   /* a chunk in no use, or row space past the last chunk */
  SCUTE_REGION_LOG = 6, /* a chunk lent to a log: of engine spec, or one that overflowed its lane */
  SCUTE_REGION_PARITY = 7,
  SCUTE_REGION_PADDING = 8, /* in no use at all */
  SCUTE_REGION_NOTES = 9    /* the rest of the superblocks' pages: event ring, notes of repairs */
};

typedef struct scute_location {
  size_t struct_size;
  enum scute_region region;
  uint64_t zone, row, column; /* column: offset inside the row. Parity rows count from N */
  uint64_t chunk;             /* index in its zone */
  scute_oid object; /* region OBJECT: whose slot this is; null if free, or in a lost page */
  uint64_t replica; /* superblock, lane: which copy */
} scute_location;

/* Any thread. offset: of the file. */
SCUTE_API int scute_locate(scute_pool *pool, uint64_t offset, scute_location *location);

/* The file offset of the byte at (zone, row, column). */
SCUTE_API int scute_offset_of(scute_pool *pool, uint64_t zone, uint64_t row, uint64_t column,
                              uint64_t *offset);

/* Bytes that one transaction can certainly overwrite at present, as one range of an object. Each
 * further range costs up to 128 bytes more. Ranges in place do not fit this bound: their old bytes
 * take room as well. A transaction whose log does not fit its lane puts the log into free chunks,
 * with protection ML and above twice. So an object may be too large to be overwritten at once: the
 * commit then fails with SCUTE_E_NOSPC, and nothing has happened. Overwrite it in parts of this
 * size (scute_tx_add_range). New objects from 16 KiB on do not count. With engine LOGFREE changes
 * that share no columns do not count either: they need no log. The value grows and shrinks with the
 * free space. Any thread. */
SCUTE_API int scute_overwrite_max(scute_pool *pool, uint64_t *bytes);

typedef struct scute_chunk_info {
  uint64_t zone, chunk;            /* index of the zone, and of the chunk in it */
  uint64_t offset;                 /* of the chunk in the file */
  const char *kind;                /* "free", "run", "span", "span-body", "log"; static */
  uint64_t slot_size;              /* run: bytes per slot, header included */
  uint64_t slots, formatted, used; /* run: slots that fit, ever prepared, holding objects */
  uint64_t length;                 /* span: chunks */
  uint32_t generation;             /* how often the chunk changed its kind */
} scute_chunk_info;

/* Calls visit for every chunk that was ever used, in address order, until it returns non-zero,
 * which is then returned. Not inside a transaction. */
SCUTE_API int scute_visit_chunks(scute_pool *pool,
                                 int (*visit)(void *arg, const scute_chunk_info *chunk), void *arg);

/* The result of scute_check(). */
typedef struct scute_report {
  size_t struct_size;
  uint64_t objects, object_bytes; /* live objects and their payload */
  uint64_t chunks;                /* chunk headers looked at */
  uint64_t columns_bytes;         /* bytes of parity compared with their columns */
  uint64_t damaged;               /* structures, objects and parity pages found wrong */
  uint64_t repaired;              /* of those, repaired (always 0 without repair) */
  uint64_t lost;                  /* of those, beyond the redundancy */
  uint64_t bytes;                 /* of the pool that were looked at */
  uint64_t elapsed_ns;
  /* 1: everything was examined. 0: a scrub was stopped, or other threads were changing a part at
   * each attempt to examine it; the next scrub may find that damaged */
  int complete;
} scute_report;

/* One finding: what, where (file offset and length), the object if it is one, whether it was
 * repaired. The text is static or valid during the call. */
typedef void (*scute_finding_fn)(void *arg, const char *what, uint64_t offset, uint64_t length,
                                 scute_oid object, int repaired);

/* Verifies every structure, every object and every column of an open pool, and with repair != 0
 * repairs what the redundancy allows. Recovery that is still pending is finished first. Returns 0
 * when the check ran, whatever it found. Not while transactions run (SCUTE_E_INVALID if the calling
 * thread runs one). progress and finding may be null. */
SCUTE_API int scute_check(scute_pool *pool, int repair, scute_report *report,
                          scute_finding_fn finding, scute_progress_fn progress, void *arg);

#ifdef __cplusplus
}
#endif

#endif
