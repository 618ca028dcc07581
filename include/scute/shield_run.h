/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shield_run.h: running a program that was not written for Scute on shielded files
 * (scute/shield.h). Its conventions are those of scute.h.
 */
#ifndef SCUTE_SHIELD_RUN_H
#define SCUTE_SHIELD_RUN_H

#include <scute/scute.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of one view of a file, from its opening to its end. */
typedef struct scute_shield_counts {
  size_t struct_size;
  const char *file;
  uint32_t process;
  int32_t signal;   /* that ended the process while it had the view; 0: none did */
  uint64_t flushes; /* lines of 64 bytes that were flushed */
  uint64_t fences;  /* that had something to wait for, or not */
  uint64_t commits; /* transactions of the file's pool that came of them */
  uint64_t committed_lines;
  uint64_t unflushed_lines;   /* stored to and never flushed, at munmap, msync or the end */
  uint64_t repeated_flushes;  /* of lines that were flushed before and not fenced since */
  uint64_t unchanged_flushes; /* of lines that held what the file holds */
  uint64_t empty_fences;      /* with nothing pending */
  /* besides: what libpmemobj never flushes by design: its locks, and what it keeps for the run */
  uint64_t masked_lines;
  uint64_t dropped_lines; /* unflushed ones that went to FILE.scute-unflushed instead of the file */
  /* old bytes that were not what they should be, when a commit looked; repaired before */
  uint64_t damaged_lines;
  uint64_t repairs; /* repairs of the file meanwhile */
  /* that changed without a reported store: see SCUTE_SHIELD_REPORT_STRAYS */
  uint64_t stray_lines;
  /* that may have stored without a report, so that strays are advice: names, commas between; "":
   * none */
  const char *unreported_objects;
  /* flushed, and never fenced, when they were unmapped or the program had ended; in no other of
   * these */
  uint64_t unfenced_lines;
  uint64_t early_flushes; /* of unflushed_lines: those that were stored to after their last flush */
  /* of unflushed_lines: those that were found in a pool of libpmemobj after the program's end, so
   * that they may be what libpmemobj never flushes by design */
  uint64_t unsure_lines;
} scute_shield_counts;

/* The same by a place in the source of code that scute-cc has compiled; all of one view come before
 * its scute_shield_counts. Strings are valid during the call. */
typedef struct scute_shield_site_counts {
  size_t struct_size;
  const char *file; /* that is shielded */
  uint32_t process;
  uint32_t line; /* of source, 0: not known */
  uint32_t column;
  const char *source; /* "": code that is not instrumented, or has no debug information */
  const char *function;
  uint64_t flushes;
  uint64_t repeated_flushes;
  uint64_t unchanged_flushes;
  uint64_t fences;
  uint64_t empty_fences;
  uint64_t
      unflushed_lines;  /* that were stored to last from here (-fscute=detect), and never flushed */
  uint64_t stray_lines; /* that changed without a word, and were flushed from here; or loaded, if
                           that was first (-fscute=loads) */
  uint64_t unfenced_lines; /* that were flushed last from here, and never fenced */
} scute_shield_site_counts;

enum {
  SCUTE_SHIELD_NEVER_FLUSHED = 1,
  SCUTE_SHIELD_STRAY = 2,
  SCUTE_SHIELD_STRAY_LOADED = 3,
  SCUTE_SHIELD_NEVER_FENCED = 4,
  SCUTE_SHIELD_FLUSHED_EARLY = 5 /* stored to after its last flush; one of unflushed_lines */
};

/* One line of the file; the first 1024 of a view are reported. */
typedef struct scute_shield_finding {
  size_t struct_size;
  const char *file;
  uint32_t process;
  int32_t
      what; /* SCUTE_SHIELD_NEVER_FLUSHED, _STRAY, _STRAY_LOADED, _NEVER_FENCED or _FLUSHED_EARLY */
  uint64_t offset; /* of the line's 64 bytes in the file */
  /* Where the last reported store to it was, and the flush, or the load (_STRAY_LOADED); or "" and
   * 0. */
  const char *stored_source;
  uint32_t stored_line;
  const char *flushed_source;
  uint32_t flushed_line;
} scute_shield_finding;

enum { SCUTE_SHIELD_EXITED = 0, SCUTE_SHIELD_SIGNALED = 1 };

/* How the program ended. */
typedef struct scute_shield_outcome {
  size_t struct_size;
  int32_t how;           /* SCUTE_SHIELD_EXITED or _SIGNALED */
  int32_t value;         /* exit status, or signal */
  uint64_t views;        /* that the program, or its children, had */
  uint64_t written_back; /* of these, what the program had left open; written back after its end */
  uint64_t failed;       /* of these, what could not be written back: see `failed` of the options */
} scute_shield_outcome;

enum {
  SCUTE_SHIELD_NO_WINDOWS =
      1u << 0, /* every fence is durable when it returns, those inside libpmemobj's calls as well */
  /* bytes that were never flushed do not reach the file, however the program ends, nor by munmap():
   * they go to FILE.scute-unflushed */
  SCUTE_SHIELD_DROP_UNFLUSHED = 1u << 1,
  /* Strays: lines that changed without a store that code compiled with -fscute=detect, or an
   * interposed call, had reported. Without these flags they are reported (on the program's standard
   * error, and in the counts) if all of the program's code reports its stores. */
  SCUTE_SHIELD_REPORT_STRAYS = 1u << 2, /* also where other code may have stored */
  /* the program ends by SIGABRT before a stray store reaches the file. The file keeps the last
   * commit; all later stores go to FILE.scute-unflushed */
  SCUTE_SHIELD_STOP_STRAYS = 1u << 3,
  SCUTE_SHIELD_IGNORE_STRAYS = 1u << 4,
  /* Pages of a file are read, verified and repaired when the program touches them, not when it
   * opens the file. Needs userfaultfd(2) for the kernel's accesses as well (CAP_SYS_PTRACE, or
   * /dev/userfaultfd, or vm.unprivileged_userfaultfd = 1). Without it, and with view_folder, files
   * are read when they are opened, and the program says so on its standard error. Not for programs
   * that use a shielded file by io_uring or raw system calls. */
  SCUTE_SHIELD_PAGE_IN = 1u << 5,
  /* Views lie in memory in pages of 2 MiB, as a DAX file does. The program spends less time on page
   * tables. Each file takes memory for all of it, holes as well, when it is opened. If the system
   * grants no such pages (Linux before 6.1, fragmented memory) they stay small, and nothing is
   * lost. Not with SCUTE_SHIELD_PAGE_IN, nor with view_folder. */
  SCUTE_SHIELD_HUGE_PAGES = 1u << 6
};

typedef struct scute_shield_run_options {
  size_t struct_size;
  /* libscute-shield.so; null: next to the library or the program, or where the linker finds it */
  const char *runtime;
  /* objects that may contain flush instructions that are not reported: file names, colons
   * between */
  const char *allow;
  uint32_t flags; /* SCUTE_SHIELD_* */
  /* May be null. Called on the calling thread: when a view has ended, and when one could not be
   * written back. */
  void (*audit)(void *arg, const scute_shield_counts *audit);
  void (*failed)(void *arg, const char *file, const char *why);
  void *arg;
  /* May be null. With one of them, the program's stores and flushes are counted by place in its
   * source as well. That takes up to 25 bytes of memory for each line of 64 bytes that it stores
   * to, or flushes. */
  void (*site)(void *arg, const scute_shield_site_counts *site);
  void (*finding)(void *arg, const scute_shield_finding *finding);
  /* that views may take in each process, in bytes; 0: what the machine has available when a file is
   * opened; UINT64_MAX: no limit. A file that needs more is not opened (the program sees ENOMEM) */
  uint64_t memory;
  /* views lie in unnamed files in this folder, which needs as much room as the files have, and is
   * trusted as memory is. Null: in memory */
  const char *view_folder;
} scute_shield_run_options;

SCUTE_API void scute_shield_run_options_init(scute_shield_run_options *options);

/* Runs argv[0] (looked for in PATH) with these arguments (null at the end) and this process's
 * environment, descriptors and terminal. Holds its views. Returns when the program has ended, and
 * all processes that have views of its files. The views are then written back. After an exit, an
 * exec, SIGTERM, SIGKILL and other signals from outside, flushed bytes are committed first, then
 * all other stores. After SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP and SIGSYS only flushed
 * bytes are; the rest goes to FILE.scute-unflushed. While the program runs, signals that can be
 * meant for it are passed on to it: SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGALRM, SIGPIPE, real-time
 * ones and the like. Faults and job control are not. SIGPIPE of this process's own writes is
 * ignored. Masks and dispositions change meanwhile: call it on a process's only thread, once at a
 * time. options null: the defaults. SCUTE_E_NOENT: there is no such program, or no
 * libscute-shield.so; SCUTE_E_IO; SCUTE_E_INVALID. */
SCUTE_API int scute_shield_run(const char *const *argv, const scute_shield_run_options *options,
                               scute_shield_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif
