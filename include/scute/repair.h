/* SPDX-License-Identifier: BSD-3-Clause
 *
 * repair.h: scrubbing, lost pages, and damage on purpose.
 * Part of scute.h, which programs include; its conventions hold here as well.
 */
#ifndef SCUTE_REPAIR_H
#define SCUTE_REPAIR_H

#include <scute/inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scrubbing ------------------------------------------------------------------------------- */

/* The result of a scrub in one zone. */
typedef struct scute_zone_report {
  uint64_t zone;
  uint64_t bytes; /* of data rows and parity that were read */
  uint64_t objects, object_bytes;
  uint64_t damaged, repaired, lost;
} scute_zone_report;

typedef struct scute_scrub_options {
  size_t struct_size;
  uint32_t threads;           /* 0: one per CPU that the process may use */
  uint64_t rate;              /* bytes of the pool per second, all threads together; 0: no limit */
  int resume;                 /* 1: continue where an interrupted scrub stopped, if there was one */
  scute_finding_fn finding;   /* these callbacks may be null; calls are made one at a time, */
  scute_progress_fn progress; /* from the scrub's threads */
  void (*zone)(void *arg, const scute_zone_report *zone); /* at each zone's end */
  void *arg;
} scute_scrub_options;

/* Fills in the defaults: one thread per CPU, no limit, from the start, no callbacks. */
SCUTE_API void scute_scrub_options_init(scute_scrub_options *options);

/* Verifies and repairs the whole pool while transactions run: every object, structure, superblock
 * copy, log replica, and every column against its parity. Holds a column block (4 KiB of each row
 * of a zone) only where something is wrong there. Returns 0 when the scrub ended, whatever it
 * found; report->complete says whether it has looked at all (scute_report). SCUTE_E_BUSY if a
 * scrub is under way. A pool that is open read-only is looked at and not repaired. options null:
 * the defaults. Any thread; not inside a transaction. */
SCUTE_API int scute_scrub(scute_pool *pool, const scute_scrub_options *options,
                          scute_report *report);

/* The same in threads of its own, which yield the CPU to others. The callbacks' data must stay
 * valid until scute_scrub_wait() or scute_close() returns. */
SCUTE_API int scute_scrub_start(scute_pool *pool, const scute_scrub_options *options);

/* Waits for the scrub that scute_scrub_start() began, and gives its report (null: not wanted).
 * SCUTE_E_NOENT if none was begun. */
SCUTE_API int scute_scrub_wait(scute_pool *pool, scute_report *report);

/* Asks a scrub that is under way to stop where it is; it can be resumed. Returns at once. May be
 * called from signal handlers. Does nothing if none is under way. */
SCUTE_API void scute_scrub_stop(scute_pool *pool);

/* ---- recovery of log-free pools -------------------------------------------------------------- */

/* After a crash a pool of engine logfree opens in milliseconds, whatever its size. Every call that
 * returns or changes objects first resolves the traces of the crash there. So no caller ever sees a
 * part of an undecided transaction. One background thread per spare CPU resolves the rest. Pointers
 * kept from scute_direct_base() bypass that: wait for the end of recovery before using any.
 *
 * Takes part in the work until everything is resolved. progress (may be null) is called now and
 * then. Does nothing if nothing is pending. The pool may be closed earlier: the next session
 * continues. SCUTE_E_IO. Any thread; not inside a transaction. */
SCUTE_API int scute_recovery_wait(scute_pool *pool, scute_progress_fn progress, void *arg);

/* Bytes of columns that are resolved, and their number; both 0 if the pool was opened with nothing
 * to resolve. Outputs may be null. Any thread. */
SCUTE_API int scute_recovery_progress(scute_pool *pool, uint64_t *done, uint64_t *total);

/* Engine logfree: returns when the parity of all transactions that have returned is durable. They
 * are without it; this is for programs that are about to be idle, so that a crash finds nothing to
 * resolve. Engine spec: returns when all that they have changed is durable in its place, and
 * nothing of the log is needed. Closing does it. SCUTE_E_IO if a fence has failed, in this call or
 * before. Any thread. */
SCUTE_API int scute_drain(scute_pool *pool);

/* ---- faults and drills ----------------------------------------------------------------------- */

/* For programs with a handler of their own for SIGBUS or SIGSEGV that does not pass signals on: to
 * be called in it with the handler's arguments (signal, siginfo_t *, ucontext_t *). 1: the fault
 * was in a pool and the page is back, so the handler should return; 0: none of Scute's business, or
 * beyond repair. Async-signal-safe. The handler needs SA_NODEFER: rebuilding a page may meet
 * another lost one. */
SCUTE_API int scute_handle_fault(int signal, void *siginfo, void *context);

enum scute_injury SCUTE_ENUM {
  SCUTE_INJURE_LOSE_PAGE =
      1,                 /* a 4 KiB page becomes noise, and every access to it faults until it has
                                 been rebuilt. After closing it still counts as lost. In zones with
                                 protection mlp and mlpc only: SCUTE_E_UNSUPPORTED */
  SCUTE_INJURE_FLIP = 2, /* runs of `bits` bits are inverted */
  SCUTE_INJURE_SCRIBBLE = 3 /* `length` bytes become noise */
};

#define SCUTE_REGION_ANY (-1)
#define SCUTE_ANYWHERE UINT64_MAX

/* An injury to make. The same injection into the same pool hits the same places. */
typedef struct scute_injection {
  size_t struct_size;
  enum scute_injury kind;
  int region;      /* enum scute_region, or SCUTE_REGION_ANY */
  uint64_t offset; /* of the file, where exactly; or SCUTE_ANYWHERE: at random in the region */
  uint64_t count;  /* injuries; 0: by rate */
  double rate;     /* count 0: expected injuries per bit of the region, 0 to 1 */
  uint32_t bits;   /* FLIP: 1, 8, 16, 32 or 64, aligned to their width (1: any) */
  uint64_t length; /* SCRIBBLE: bytes */
  uint64_t seed;
} scute_injection;

/* Fills in the defaults: one flip of one bit anywhere, seed 1. */
SCUTE_API void scute_injection_init(scute_injection *injection);

/* Damages an open pool without its knowledge, for drills; transactions may run. Visits each injury
 * with its place (visit may be null) and returns their number in *done (may be null).
 * SCUTE_E_NOENT: the pool has no byte in such a region; SCUTE_E_READONLY; SCUTE_E_RANGE. Any
 * thread. By rate, 0 is a possible result. In what protects a file, an injury that reaches the
 * file's end ends there. */
SCUTE_API int scute_inject(scute_pool *pool, const scute_injection *injection,
                           void (*visit)(void *arg, uint64_t offset, uint64_t length), void *arg,
                           uint64_t *done);

#ifdef __cplusplus
}
#endif

#endif
