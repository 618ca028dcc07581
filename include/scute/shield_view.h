/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shield_view.h: for programs that work on a shielded file (scute/shield.h) and say themselves what
 * is to be durable. They link libscute-shield.so (-lscute-shield), and have these calls and all
 * that `scute shield run` gives to programs that know nothing of it: open(), mmap(), libpmem and
 * libpmemobj on shielded files. Run under `scute shield run`, which keeps what they stored when
 * they are killed; without it a kill is what a power failure is.
 *
 * Calls return 0 or a negative SCUTE_E_* (scute/errors.h); scute_shield_errormsg() says more. Any
 * thread may call them.
 */
#ifndef SCUTE_SHIELD_VIEW_H
#define SCUTE_SHIELD_VIEW_H

#include <scute/shield_run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maps all of `file`, to be read and stored to. *at is page-aligned; *size is the file's. It is
 * unshielded if it has no FILE.scute: SCUTE_E_NOENT. SCUTE_E_BUSY: another process has it open;
 * SCUTE_E_CORRUPT: bytes are lost; SCUTE_E_CHANGED; SCUTE_E_UNSUPPORTED: code in this process
 * flushes cache lines unheard (see the shield's page of the manual); SCUTE_E_NOMEM, SCUTE_E_IO. */
SCUTE_API int scute_shield_map(const char *file, void **at, uint64_t *size);

/* `at` is an address from scute_shield_map(). Stores that are not committed are written first.
 * SCUTE_E_IO: that failed, and the file stays mapped. SCUTE_E_INVALID. */
SCUTE_API int scute_shield_unmap(void *at);

/* Returns when [at, at + n) is durable, with all that other threads have flushed, in one
 * transaction. In a window it is noted, and made durable by the window's end. A failing commit ends
 * the process. SCUTE_E_INVALID: it is not in a shielded mapping. SCUTE_E_FORKED: a parent's. Signal
 * handlers may call it. */
SCUTE_API int scute_shield_commit(const void *at, size_t n);

/* Defers this thread's commits in the file that is mapped at `at`, and its fences, to the end of
 * the window. There they become durable together. They nest; the outermost counts. A commit in
 * another file ends the window early. SCUTE_E_INVALID. */
SCUTE_API int scute_shield_window_begin(const void *at);
SCUTE_API int scute_shield_window_end(void);

/* Counts since the file was opened; set struct_size before. SCUTE_E_INVALID. */
SCUTE_API int scute_shield_audit(const void *at, scute_shield_counts *counts);

/* The calling thread's last error in one of these calls; "" if there was none. */
SCUTE_API const char *scute_shield_errormsg(void);

#ifdef __cplusplus
}
#endif

#endif
