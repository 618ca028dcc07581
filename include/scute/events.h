/* SPDX-License-Identifier: BSD-3-Clause
 *
 * events.h: what was found damaged, and what became of it.
 * Part of scute.h, which programs include; its conventions hold here as well.
 */
#ifndef SCUTE_EVENTS_H
#define SCUTE_EVENTS_H

#include <scute/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of thing that is damaged. */
enum scute_event_kind SCUTE_ENUM {
  SCUTE_EVENT_PAGE = 1,       /* a page that could not be read (SIGBUS, bad block) */
  SCUTE_EVENT_OBJECT = 2,     /* an object, or a 4 KiB fragment of one, failed its checksum */
  SCUTE_EVENT_STRUCTURE = 3,  /* chunk header, zone descriptor or root anchor */
  SCUTE_EVENT_SUPERBLOCK = 4, /* a copy of the superblock */
  SCUTE_EVENT_LOG =
      5, /* a replica of a lane; of engine spec a part of its log, in POOL.log if it is there */
  SCUTE_EVENT_PARITY = 6, /* parity that does not fit its rows, all of which are sound */
  SCUTE_EVENT_FREE = 7    /* space in no use */
};

/* The outcome. */
enum scute_outcome SCUTE_ENUM {
  SCUTE_OUTCOME_REPAIRED = 1,
  SCUTE_OUTCOME_LOST = 2,    /* beyond the redundancy */
  SCUTE_OUTCOME_DETECTED = 3 /* seen and left alone (read-only pool, check without repair) */
};

/* The activity that found it. */
enum scute_finder SCUTE_ENUM {
  SCUTE_FINDER_ACCESS = 1, /* a call that verifies */
  SCUTE_FINDER_FAULT = 2,  /* SIGBUS, or SIGSEGV on a page whose loss is emulated */
  SCUTE_FINDER_OPEN = 3,   /* opening the pool, recovery included */
  SCUTE_FINDER_SCRUB = 4,
  SCUTE_FINDER_CHECK = 5
};

/* A detection and its outcome. Events of one kind that are close in time and place are merged. */
typedef struct scute_event {
  uint64_t sequence; /* grows by 1 from event to event of the pool, over all its sessions */
  uint64_t time_ns;  /* CLOCK_REALTIME */
  enum scute_event_kind kind;
  enum scute_outcome outcome;
  enum scute_finder finder;
  uint32_t count;   /* places merged into this event, 1 or more */
  uint64_t offset;  /* of the file; the first one if count > 1 */
  uint64_t length;  /* bytes from there to the end of the last one */
  scute_oid object; /* the first object concerned, or null */
  uint64_t epoch;   /* session in which it happened (scute_info.epoch) */
  uint64_t dropped; /* further events about that time, too many at once to be recorded */
} scute_event;

/* Called for each event soon after it happened: at the end of the library call that met it, or of
 * the next call of any thread. It runs in no particular thread, never in a signal handler, and
 * never twice at a time for one pool. Must not call into the pool. */
typedef void (*scute_event_fn)(void *arg, const scute_event *event);

/* Visits the events that the pool's ring still holds, oldest first (see scute_event). Events of
 * this session that have not been written yet are written first, unless the pool is read-only. */
SCUTE_API int scute_events(scute_pool *pool, scute_event_fn visit, void *arg);

#ifdef __cplusplus
}
#endif

#endif
