/* SPDX-License-Identifier: BSD-3-Clause
 *
 * errors.h: what calls return when they fail.
 * Part of scute.h, which programs include; its conventions hold here as well.
 */
#ifndef SCUTE_ERRORS_H
#define SCUTE_ERRORS_H

#include <scute/api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum scute_error {
  SCUTE_OK = 0,
  SCUTE_E_INVALID = -1,      /* an argument is invalid (null, zero size, unknown option) */
  SCUTE_E_NOMEM = -2,        /* no DRAM left; nothing was changed */
  SCUTE_E_NOENT = -3,        /* there is no file of that name */
  SCUTE_E_EXISTS = -4,       /* create: the file is there already */
  SCUTE_E_FORMAT = -5,       /* the file is not a Scute pool */
  SCUTE_E_VERSION = -6,      /* the pool needs a newer library */
  SCUTE_E_TRUNCATED = -7,    /* the file is shorter than its superblock says */
  SCUTE_E_CORRUPT = -8,      /* damage beyond the redundancy; the message names what is lost */
  SCUTE_E_BUSY = -9,         /* the pool is open in another process, or elsewhere in this one */
  SCUTE_E_READONLY = -10,    /* a change to a pool that was opened read-only */
  SCUTE_E_NOSPC = -11,       /* the pool (or the file system under it) is full */
  SCUTE_E_OID = -12,         /* the oid is null, points nowhere, or belongs to another pool */
  SCUTE_E_FREED = -13,       /* the object has been freed */
  SCUTE_E_RANGE = -14,       /* a size or range beyond the object, or beyond the limits */
  SCUTE_E_TYPE = -15,        /* the object has another type number than was asked for */
  SCUTE_E_CANARY = -16,      /* a write overran a micro-buffer; the transaction was aborted */
  SCUTE_E_ABORTED = -17,     /* a nested transaction aborted, so the whole one did */
  SCUTE_E_NOTX = -18,        /* no such transaction in this thread (ended, or another thread's) */
  SCUTE_E_CONFLICT = -19,    /* another thread changed the object since it was opened */
  SCUTE_E_IO = -20,          /* a system call failed; errno is kept and named in the message */
  SCUTE_E_LAYOUT = -21,      /* the pool's layout name is not the one given */
  SCUTE_E_UNSUPPORTED = -22, /* this build or this pool cannot do that */
  SCUTE_E_INTERNAL = -23,    /* a bug in Scute; please report it with the message */
  SCUTE_E_FORKED = -24,      /* the handle was made by the process from which this one was forked */
  SCUTE_E_CHANGED = -25      /* a shielded file is not as Scute left it; see scute/shield.h */
};

/* The last error of the calling thread in words: what failed, on what, and what to do. Never null.
 * Valid until the thread's next failing call. Any thread. */
SCUTE_API const char *scute_errormsg(void);

/* The name of an error code, such as "SCUTE_E_NOSPC". Never null, static. Any thread. */
SCUTE_API const char *scute_errorname(int code);

#ifdef __cplusplus
}
#endif

#endif
