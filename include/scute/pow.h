/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pow.h: persist-on-write files. A program keeps its data in DRAM, in structures of its own, and
 * changes them in *sections*, between taking its locks and giving them back. At a section's end
 * each object that was changed is appended whole to a file, and when the call returns it is durable
 * (ENTS; docs/start/stores.md). C++ programs use <scute/pow.hpp>.
 *
 * A *store* is one open file. A *table* is a kind of object in it; its *serializer*, the program,
 * has the objects and says how each becomes bytes. An *id* names an object for ever: an index (low
 * 48 bits), which is dense, and a tag (the rest), by which an id of an erased object is known when
 * its index is used again.
 *
 * Conventions are those of scute.h: 0 or a negative SCUTE_E_* code, the text in scute_errormsg(),
 * no exception leaves a call, sizes in bytes. A store belongs to the process that opened it
 * (SCUTE_E_FORKED elsewhere). A section belongs to the thread that began it; all other calls may be
 * made by any thread, and by several at once. The handle of a store is void after
 * scute_pow_close(), unless it is kept: a program whose threads may still use it then calls
 * scute_pow_keep() first.
 */
#ifndef SCUTE_POW_H
#define SCUTE_POW_H

#include <scute/scute.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scute_pow scute_pow;                 /* an open store; opaque */
typedef struct scute_pow_table scute_pow_table;     /* an open table; opaque */
typedef struct scute_pow_section scute_pow_section; /* a section of one thread; opaque */

/* The bytes that a media error can destroy. */
enum scute_pow_protection SCUTE_ENUM {
  SCUTE_POW_NONE = 0, /* all bytes that it hits; checksums find that */
  /* only bytes that are not sealed yet. Eight full segments and their XOR are a group. A group can
   * lose a page of each segment, at different places; so can a file that was closed properly */
  SCUTE_POW_SEALED = 1,
  SCUTE_POW_ALWAYS =
      2, /* nothing: each segment lies on nine pages side by side, one of which can be lost */
  SCUTE_POW_DEFAULT =
      3 /* in options: SCUTE_POW_ALWAYS for a new file; the file's own for an existing one */
};

enum scute_pow_flags {
  /* open: report lost parts (damage), and open the rest. Without it such a file is refused with
   * SCUTE_E_CORRUPT */
  SCUTE_POW_SALVAGE = 1u << 0,
  /* no thread cleans in the background: scute_pow_clean() does, or a thread that needs room */
  SCUTE_POW_NO_CLEANER = 1u << 1,
  SCUTE_POW_EXISTING = 1u << 2, /* open: do not make the file (SCUTE_E_NOENT) */
  SCUTE_POW_NEW = 1u << 3,      /* open: the file must not be there (SCUTE_E_EXISTS) */
  /* open: nothing reaches the file, which other processes may have open in the same way. Traces of
   * a crash and damage are repaired in memory; a section is SCUTE_E_READONLY */
  SCUTE_POW_READONLY = 1u << 4,
  /* debugging; costs a look-up per lock and section. Finds a section that releases its own lock
   * while it is open, as by waiting on a condition variable. Its commit aborts it
   * (SCUTE_E_INVALID); a section that took the lock meanwhile gets SCUTE_E_CONFLICT
   * (scute_pow_lock) */
  SCUTE_POW_WATCH_LOCKS = 1u << 5
};

/* Called once for each thing that is not as it was written. lost: beyond repair. Must not call into
 * the store. */
typedef void (*scute_pow_damage_fn)(void *arg, const char *what, int lost);

/* The same in numbers, for programs. */
#define SCUTE_POW_NO_SEGMENT UINT32_MAX
typedef struct scute_pow_damage_range { /* objects of one table */
  size_t struct_size; /* its own: the next range begins so many bytes after the start of this one */
  const char *table;  /* empty: only its number is known */
  uint32_t number;
  uint64_t first,
      last;         /* indexes (SCUTE_POW_INDEX_MASK) of the objects, the lowest and the highest */
  uint64_t records; /* that lay there; some may have been replaced since */
} scute_pow_damage_range;
typedef struct scute_pow_damage {
  size_t struct_size;
  const char *what;                     /* the sentence that scute_pow_damage_fn gets */
  int lost;                             /* beyond repair */
  uint32_t segment;                     /* SCUTE_POW_NO_SEGMENT: of none */
  uint32_t lane;                        /* of the thread that wrote it, if session is not 0 */
  uint64_t session;                     /* of the file, counted from 1; 0: not known */
  uint64_t first_section, last_section; /* of that lane and session, counted from 1; 0: not known */
  const scute_pow_damage_range *ranges; /* objects, as far as the damaged bytes say */
  size_t range_count;
} scute_pow_damage;
/* All pointers are good during the call. Must not call into the store. */
typedef void (*scute_pow_details_fn)(void *arg, const scute_pow_damage *damage);

typedef struct scute_pow_options {
  size_t struct_size; /* sizeof(scute_pow_options) */
  uint64_t size;      /* of a new file; it grows */
  /* up to which it grows; a file that is larger already is SCUTE_E_INVALID, unless this is the
   * default: then it does not grow */
  uint64_t max_size;
  uint64_t max_memory; /* of objects, and 24 for each; more is SCUTE_E_NOSPC. 0: no limit */
  /* of a new file: a multiple of 4096, of 36864 at least with SCUTE_POW_ALWAYS. No object can be
   * larger than what fits there. Neither the default nor what a file has that is there:
   * SCUTE_E_INVALID */
  uint64_t segment_size;
  enum scute_pow_protection
      protection; /* of a new file; another one than a file has that is there: SCUTE_E_INVALID */
  enum scute_medium medium; /* as scute_options.medium */
  uint32_t mode;            /* permission bits of a new file */
  uint32_t flags;           /* SCUTE_POW_SALVAGE, ... */
  uint32_t threads;         /* that recovery uses; 0: as many as there are CPUs, 8 at most */
  /* the cleaner works while less than this part of the file counts; 0.1 to 0.9 */
  double max_live_share;
  uint64_t clean_rate; /* bytes per second that the cleaner may copy; 0: no limit */
  scute_progress_fn
      progress; /* of recovery, scute_pow_check() and scute_pow_compact(); null: none */
  void *progress_arg;
  scute_pow_damage_fn damage; /* null: none */
  void *damage_arg;
  scute_pow_details_fn details; /* null: none */
  void *details_arg;
} scute_pow_options;

/* Defaults: 4 MiB that grow up to 4 GiB, segments of 256 KiB, SCUTE_POW_DEFAULT, mode 0600, a
 * cleaner at a share of 0.5. */
SCUTE_API void scute_pow_options_init(scute_pow_options *options);

/* Opens the file, or makes it. options: null for the defaults. After a crash every durable section
 * is found again. A section that was not durable is present wholly, with all sections that it
 * depends on, or not at all. SCUTE_E_BUSY: it is open already, here or elsewhere. SCUTE_E_INVALID:
 * the options are invalid, or the file has others. SCUTE_E_UNSUPPORTED: its file system keeps no
 * locks. SCUTE_E_FORMAT, SCUTE_E_VERSION, SCUTE_E_TRUNCATED, SCUTE_E_CORRUPT: nothing was changed,
 * except that the newest of the three head pages may have been copied over the others. */
SCUTE_API int scute_pow_open(const char *path, const scute_pow_options *options, scute_pow **store);
/* Makes everything durable and lets go of the file. The handle and those of its tables are void
 * then, unless they are kept. SCUTE_E_INVALID: this thread has a section open. SCUTE_E_BUSY: a
 * section of another thread, or a call (also the one whose callback this is) does not end within
 * half a second. Calls of other threads that begin meanwhile wait. In both cases nothing is done,
 * and the store stays open. After SCUTE_E_IO the store is closed all the same. A kept handle that
 * is closed already: SCUTE_OK. */
SCUTE_API int scute_pow_close(scute_pow *store);
/* The handle, and those of its tables, stay good until as many scute_pow_drop(). Once the store is
 * closed, calls with them are SCUTE_E_INVALID; until then nothing changes. To be called while the
 * store is open, or by a thread that has another keep. */
SCUTE_API int scute_pow_keep(scute_pow *store);
/* The handle is void for the caller. It does not close the store. Null: nothing. */
SCUTE_API void scute_pow_drop(scute_pow *store);
/* All sections that have ended, of all threads, are durable when it returns. SCUTE_E_IO: it is
 * unknown whether they are; the store takes no more changes then. */
SCUTE_API int scute_pow_sync(scute_pow *store);
/* Cleans up to so many segments; *done (null: not wanted) is how many were worth it. */
SCUTE_API int scute_pow_clean(scute_pow *store, uint64_t segments, uint64_t *done);

/* Cleans all segments that are worth it, moves live data to the front of the file, and truncates
 * the rest. Other threads may work meanwhile; segments that they have open stay in place. */
SCUTE_API int scute_pow_compact(scute_pow *store);

enum scute_pow_check_flags {
  SCUTE_POW_REPAIR = 1u << 0, /* repair copies that are wrong */
  SCUTE_POW_COMPARE =
      1u
      << 1 /* objects in memory are compared with what was written of them: finds writes outside of
                                 sections */
};
/* Reads everything. Waits until no section is open; a thread that begins one waits until the check
 * has ended. SCUTE_E_INVALID: this thread has one open. SCUTE_E_BUSY: sections do not end within
 * some seconds; the caller holds no lock that they need. *lost: how many things are beyond repair,
 * or changed outside of sections; null: not wanted. */
SCUTE_API int scute_pow_check(scute_pow *store, uint32_t flags, scute_pow_damage_fn report,
                              void *arg, uint64_t *lost);

/* The same, reported in numbers. report may be null. */
SCUTE_API int scute_pow_check_details(scute_pow *store, uint32_t flags, scute_pow_details_fn report,
                                      void *arg, uint64_t *lost);

typedef struct scute_pow_info {
  size_t struct_size;
  uint64_t file_size, max_size, segment_size, segments, segments_free;
  uint64_t live_bytes, used_bytes; /* of records that count; of segments that are not free */
  uint64_t memory;                 /* as max_memory counts it */
  uint64_t session;
  uint64_t sections, bytes_written, fences, lines; /* since it was opened */
  uint64_t cleaned_segments, cleaned_bytes;
  uint64_t recovered_records, recovered_dropped; /* frames of sections that a crash had cut short */
  uint64_t recovered_repaired,
      /* damaged things that were repaired; that are beyond repair */
      recovered_lost;
  uint64_t tables, objects, object_bytes; /* that there are */
  enum scute_pow_protection protection;
  enum scute_medium medium;
  uint8_t uuid[16];
  int clean; /* it was closed properly before */
  uint64_t groups,
      segments_sealed; /* with SCUTE_POW_SEALED: how many there are; segments in them */
} scute_pow_info;
SCUTE_API int scute_pow_get_info(scute_pow *store, scute_pow_info *info);

typedef struct scute_pow_table_info {
  size_t struct_size;
  const char *name; /* during the call */
  uint32_t number, type, size;
  uint64_t objects, bytes;
} scute_pow_table_info;
/* Calls fn(arg, table) for each table of the file. fn must not call into the store. */
SCUTE_API int scute_pow_list_tables(scute_pow *store,
                                    void (*fn)(void *arg, const scute_pow_table_info *table),
                                    void *arg);

enum scute_pow_use SCUTE_ENUM {
  SCUTE_POW_FREE = 0,
  SCUTE_POW_OPEN = 1, /* some thread appends to it */
  SCUTE_POW_FULL = 2,
  SCUTE_POW_VICTIM = 3, /* the cleaner is at it */
  SCUTE_POW_SEAL = 4    /* has the XOR of eight others */
};
typedef struct scute_pow_segment_info {
  size_t struct_size;
  uint64_t offset; /* in the file */
  uint32_t number;
  enum scute_pow_use use;
  uint64_t lane, session, generation, live_bytes; /* of full ones */
  uint32_t group; /* number of the segment with the XOR; SCUTE_POW_NO_SEGMENT: it is in no group */
} scute_pow_segment_info;
SCUTE_API int scute_pow_list_segments(scute_pow *store,
                                      void (*fn)(void *arg, const scute_pow_segment_info *segment),
                                      void *arg);

/* ---- tables ---------------------------------------------------------------------------------- */

#define SCUTE_POW_INDEX_MASK (((uint64_t)1 << 48) - 1)
#define SCUTE_POW_ANY UINT64_MAX

typedef struct scute_pow_serializer {
  size_t struct_size;
  uint32_t type; /* of the objects, chosen by the program; another one later is SCUTE_E_TYPE */
  uint32_t size; /* of every object; 0: they vary */
  int chooses_indexes; /* the serializer says which index a new object has (scute_pow_new) */
  void *arg;           /* of the functions */
  /* Bytes of the object now, or a negative code, which ends the section. Not called if size is
   * given. */
  int64_t (*measure)(void *arg, uint64_t index);
  /* Writes them, as many as measure() or `size` said. Called at a section's end, in its thread, its
   * locks held. Null if there is `write`. */
  void (*encode)(void *arg, uint64_t index, void *to);
  /* An object that was found in the file; 0 or a negative code, which ends
   * scute_pow_table_open(). */
  int (*load)(void *arg, uint64_t id, const void *bytes, uint32_t n);
  /* Null, or called instead of encode(): writes `size` bytes, as many as measure() has said. 0, or
   * a negative code if they would be more or less, which ends the section with nothing written. */
  int (*write)(void *arg, uint64_t index, void *to, uint32_t size);
  /* other numbers that the table may have in any file, given by an earlier program: it is opened,
   * and has the number `type` from then on, unless the store is read-only or full */
  const uint32_t *earlier_types;
  size_t earlier_count;
  /* no id is kept longer than its object: an id may come again. Otherwise none does. An index whose
   * 65,535 ids are used up is not used again; each such index takes 16 bytes of the file */
  int ids_may_recur;
} scute_pow_serializer;

/* Opens the table of that name (1 to 255 bytes), or makes it; loads its objects. One at a time of
 * each table (SCUTE_E_BUSY). Not inside a section (SCUTE_E_INVALID). The table is valid until it or
 * the store is closed (scute_pow_keep). */
SCUTE_API int scute_pow_table_open(scute_pow *store, const char *name,
                                   const scute_pow_serializer *serializer, scute_pow_table **table);
/* Calls the serializer no more, and lets go of the handle; the table may be opened again. If a
 * section of this thread has changed objects of it, all of that section is undone now, and its
 * commit is SCUTE_E_ABORTED. No other thread's section has changed any; a scute_pow_check() of
 * another thread is waited for. The store is open still. */
SCUTE_API int scute_pow_table_close(scute_pow_table *table);

/* ---- sections -------------------------------------------------------------------------------- */

enum scute_pow_durability SCUTE_ENUM {
  SCUTE_POW_STRICT = 0, /* durable when scute_pow_commit() returns */
  SCUTE_POW_LATER =
      1 /* durable by the next scute_pow_sync() of any thread, along with all that it rests on */
};

/* Begins a section of this thread, or one inside it: only the outermost one ends anything, and is
 * as durable as it said. 127 threads are in sections at once, and others wait here: so take locks
 * after this call, not before. A thread must end its sections before it exits. No other thread can,
 * and their objects and locks stay held. */
SCUTE_API int scute_pow_begin(scute_pow *store, enum scute_pow_durability how,
                              scute_pow_section **section);
/* The one that this thread has open there. SCUTE_E_NOTX: none. */
SCUTE_API int scute_pow_current(scute_pow *store, scute_pow_section **section);
/* A lock that the caller has taken. The section releases it by unlock(lock) at its end, after the
 * fence, in any case; the caller does not. Sections that read or edit one object must have a lock
 * in common. shared: others may hold it, too. SCUTE_E_CONFLICT: see SCUTE_POW_WATCH_LOCKS; the
 * caller still has the lock. */
SCUTE_API int scute_pow_lock(scute_pow_section *section, void *lock, void (*unlock)(void *lock),
                             int shared);
/* There is an object from now on; the serializer has it already. index: SCUTE_POW_ANY, or what a
 * serializer that chooses says (SCUTE_E_EXISTS). */
SCUTE_API int scute_pow_new(scute_pow_section *section, scute_pow_table *table, uint64_t index,
                            uint64_t *id);
/* The object may be changed until the end of the section, or until scute_pow_stream(). *first: this
 * section has not had it open before, so the caller registers its undo; null: not wanted.
 * SCUTE_E_FREED; SCUTE_E_CONFLICT: another open section has it. */
SCUTE_API int scute_pow_edit(scute_pow_section *section, scute_pow_table *table, uint64_t id,
                             int *first);
SCUTE_API int scute_pow_erase(scute_pow_section *section, scute_pow_table *table, uint64_t id);
/* The last scute_pow_new(), scute_pow_edit() or scute_pow_erase() of the section, which was about
 * this object, did not happen: for a caller that could not keep its undo, and has changed nothing
 * yet. (Of scute_pow_edit() only where it said *first.) SCUTE_E_INVALID: it was about another
 * one. */
SCUTE_API int scute_pow_take_back(scute_pow_section *section, scute_pow_table *table, uint64_t id);
/* Registers an undo. An abort calls back() with both pointers, newest undo first; a commit calls
 * done(). Either may be null. */
SCUTE_API int scute_pow_undo(scute_pow_section *section, void (*back)(void *who, void *what),
                             void (*done)(void *who, void *what), void *who, void *what);
/* The same for plain bytes, with nothing to release: the section keeps a copy of these n bytes,
 * aligned for every type. An abort calls back() with the copy. */
SCUTE_API int scute_pow_undo_copy(scute_pow_section *section, void (*back)(void *who, void *what),
                                  void *who, const void *bytes, size_t n);
/* Writes the objects edited so far while the section continues (eager), so that its end has less to
 * write. To change such an object again, call scute_pow_edit() again: the end does not examine
 * written objects. */
SCUTE_API int scute_pow_stream(scute_pow_section *section);
/* Ends the innermost section; the outermost one becomes durable, and gives its locks back. After an
 * error it is aborted and ended: SCUTE_E_NOSPC, SCUTE_E_NOMEM, SCUTE_E_RANGE (an object larger than
 * a segment), SCUTE_E_ABORTED (one inside was), or what measure() said. After SCUTE_E_IO it is
 * unknown whether it is durable. */
SCUTE_API int scute_pow_commit(scute_pow_section *section);
SCUTE_API int scute_pow_abort(scute_pow_section *section);

/* ---- as in the paper (ENTS, Table 1) ------------------------------------------------------------
 * Objects are known by their address in this run. A file of objects of one size: scute_pow_alloc().
 * After a restart the program walks scute_pow_load(), rebuilds its structure, and reports the new
 * address of each object: scute_pow_adopt(). */
typedef struct scute_pow_file scute_pow_file;
SCUTE_API int scute_pow_alloc(scute_pow *store, const char *name, uint32_t size,
                              scute_pow_file **file);
/* The object at s, as it is when the section ends (inside one), or now. */
SCUTE_API int scute_pow_store(scute_pow_file *file, const void *s);
/* The same, and then the section ends, if there is one: all that it stored counts together. */
SCUTE_API int scute_pow_epoch(scute_pow_file *file, const void *s);
/* The number of objects, and the bytes of one, as found or stored last. Objects are numbered from 0
 * in the order in which they were made. The bytes are valid until the object is adopted, or stored
 * again. Objects of an aborted section are counted, and are SCUTE_E_FREED, until something is
 * stored from the same address. */
SCUTE_API int scute_pow_count(scute_pow_file *file, uint64_t *count);
SCUTE_API int scute_pow_load(scute_pow_file *file, uint64_t index, const void **bytes);
/* It is at s from now on. SCUTE_E_EXISTS: it has an address already, or another object has s. */
SCUTE_API int scute_pow_adopt(scute_pow_file *file, uint64_t index, const void *s);

#ifdef __cplusplus
}
#endif

#endif
