/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scute.h: the C interface of Scute, a persistent-memory object store.
 *
 * A *pool* is one file that holds objects. Objects are changed in *transactions*: either all of a
 * transaction's changes survive a crash or none do. A transaction changes *micro-buffers*, copies
 * of objects in DRAM; the program never writes to the pool directly (Pangolin, USENIX ATC 2019,
 * section 3.2). With full protection every object has a checksum, and parity covers every byte.
 * Damage is found when an object is opened, and repaired.
 *
 * Conventions
 *  - Functions that can fail return 0 (SCUTE_OK) or a negative SCUTE_E_* code. After an error
 *    scute_errormsg() explains it to the calling thread, and says what to do. Output parameters are
 *    written on success only.
 *  - Sizes, offsets and lengths are in bytes.
 *  - "Any thread" means that the call may run in any number of threads at once on one pool. Of two
 *    threads that change one object at the same time one may get SCUTE_E_CONFLICT. Guard direct
 *    reads of an object against commits of other threads by a lock of your own, as with any shared
 *    memory.
 *  - No C++ exception leaves a function of this header, and none is a cancellation point.
 *  - What holds for forked children, for threads that end, and for signals: <scute/api.h>.
 */
#ifndef SCUTE_SCUTE_H
#define SCUTE_SCUTE_H

#define SCUTE_VERSION_MAJOR 0
#define SCUTE_VERSION_MINOR 2
#define SCUTE_VERSION_PATCH 0

#include <scute/api.h>
#include <scute/errors.h>
#include <scute/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "major.minor.patch" of the library at run time. Static. Any thread. */
SCUTE_API const char *scute_version(void);

/* ---- options --------------------------------------------------------------------------------- */

typedef struct scute_tx scute_tx; /* a transaction of one thread; opaque */

/* Where the bytes persist. */
enum scute_medium SCUTE_ENUM {
  SCUTE_MEDIUM_AUTO = 0, /* open only: found from the file's file system */
  SCUTE_MEDIUM_DAX = 1,  /* DAX mapping (MAP_SYNC): CPU flushes and fences make bytes durable */
  /* page cache: a fence is an fdatasync that threads share, or an msync of what one thread has
   * dirtied */
  SCUTE_MEDIUM_FILE = 2,
  SCUTE_MEDIUM_RAM = 3 /* tmpfs or memfd: survives the process; CPU flushes are still issued */
};

/* How a transaction becomes durable. */
enum scute_engine SCUTE_ENUM {
  SCUTE_ENGINE_AUTO = 0, /* create only: spec on disks; else logfree with mlpc, or redo */
  SCUTE_ENGINE_REDO = 1, /* redo log, then in place (Pangolin 3.4) */
  /* in place, with the parity as the undo log (CodePM, IEEE TC 2025); needs protection mlpc. After
   * a crash the pool opens at once. The traces of the crash are resolved on first use, or by a scan
   * in the background */
  SCUTE_ENGINE_LOGFREE = 2,
  SCUTE_ENGINE_SPEC = 3 /* a sequential log of new bytes (SpecPMT, 2023); docs/guides/choose.md */
};

/* How much is protected: Pangolin's Table 2. Each level adds to the one before. */
enum scute_protection SCUTE_ENUM {
  SCUTE_PROTECT_AUTO = 4, /* create: MLPC; open: as the pool is */
  SCUTE_PROTECT_NONE = 0, /* crash consistency only: one log, no parity */
  SCUTE_PROTECT_ML = 1,   /* + logs replicated, as the superblock is at every level */
  SCUTE_PROTECT_MLP = 2,  /* + parity over everything in the zones: headers are repaired when they
                             fail; damage to payloads alone shows only in scute_check() */
  SCUTE_PROTECT_MLPC = 3  /* + checksums of objects: damage is found when an object is opened */
};

enum scute_checksum SCUTE_ENUM { SCUTE_CHECKSUM_CRC32C = 1, SCUTE_CHECKSUM_ADLER32 = 2 };

/* When the checksums of objects are tested (Pangolin 3.3). An object that is opened for writing is
 * tested under every policy, before it is copied. Chosen at each opening; has an effect with MLPC
 * only. */
enum scute_policy SCUTE_ENUM {
  SCUTE_POLICY_DEFAULT = 0, /* scute_get() and pool.get() return bytes as they are */
  /* the same; a thread scrubs the pool every `scrub_every` transactions */
  SCUTE_POLICY_SCRUB = 1,
  SCUTE_POLICY_CONSERVATIVE = 2 /* scute_get() and pool.get() test what they return */
};

enum scute_flags {
  SCUTE_READONLY = 1u << 0,    /* open: nothing reaches the file. A pool that needs recovery is
                                  recovered in private memory. Several readers may open one pool. */
  SCUTE_PREALLOCATE = 1u << 1, /* create: reserve every block now instead of on first use, so that
                                  a full file system cannot refuse a later allocation */
  SCUTE_OVERWRITE = 1u << 2,   /* create: replace an existing *pool* of that name (links are
                                  followed); any other file is left alone (SCUTE_E_EXISTS) */
  SCUTE_NO_FAULT_HANDLER = 1u << 3, /* leave SIGBUS and SIGSEGV alone: a lost page then ends the
                                       process, unless the program calls scute_handle_fault() */
  SCUTE_ACCOUNT = 1u << 4,          /* for measurements: scute_counters.unverified_bytes count */
  SCUTE_LAZY_RECOVERY = 1u << 5,    /* open, not engine redo: after a crash no thread scans the
                                       pool in the background; see scute_recovery_wait() */
  SCUTE_PLAIN_ENCODING = 1u << 6,   /* engine logfree: no pipelining (CodePM section IV) */
  SCUTE_DAMAGED = 1u << 7,          /* open: see scute_shield_open() (scute/shield.h) */
  SCUTE_WITHOUT_LOG = 1u << 8       /* open, engine spec: without POOL.log, if that is gone */
};

/* Everything that can be chosen; scute_options_init() sets struct_size and the defaults. Flags of
 * `scute` (--rows) and the environment (SCUTE_ROWS) have the same names. [create]: of a new pool;
 * opening refuses one that is neither at its default nor true of the pool (SCUTE_E_INVALID). */
typedef struct scute_options {
  size_t struct_size;       /* sizeof(scute_options), for later growth */
  uint64_t size;            /* [create] file size; multiple of 4096, at least SCUTE_SIZE_MIN */
  const char *layout;       /* [create] name of the program's data layout, at most 63 bytes;
                                  [open] if not null it must be the pool's (SCUTE_E_LAYOUT) */
  enum scute_medium medium; /* AUTO: by the file system */
  enum scute_engine engine; /* [create] */
  enum scute_protection protection; /* [create] */
  enum scute_checksum checksum;     /* [create] kind of object checksum */
  uint32_t rows;              /* [create] data rows N of a zone, 1..1000, up to 251 if P > 1; 0: by
                                  pool size. With 1, and P = 1, the parity is a mirror */
  uint32_t parity;            /* [create] parity rows P of a zone, 1..4: as many damaged cells of
                                  a column, or lost pages, can be rebuilt. 0: by protection (1
                                  with MLP and MLPC). More than 1: not with engine REDO */
  uint32_t lanes;             /* [create] transactions at once, 1..255; 0: by size; others wait */
  uint32_t chunk_size;        /* [create] unit of space, power of two, 16 to 256 KiB; 0: by size */
  uint32_t flags;             /* SCUTE_READONLY, ... */
  uint32_t mode;              /* [create] permission bits; 0: 0600, or of the replaced pool */
  scute_progress_fn progress; /* null: none */
  void *progress_arg;
  enum scute_policy policy; /* when checksums are tested, in this session */
  uint64_t scrub_every;     /* policy SCRUB: transactions from one scrub to the next, at least 1 */
  scute_event_fn event;     /* null: none */
  void *event_arg;
  uint64_t log_cap; /* [create] SPEC alone: bytes of its log, all copies, at least; 0: by size */
} scute_options;

#define SCUTE_SIZE_MIN ((uint64_t)1 << 18) /* smallest pool: 256 KiB */
#define SCUTE_SIZE_MAX ((uint64_t)1 << 46) /* largest pool: 64 TiB */

/* Fills in the defaults: 64 MiB, medium, engine and protection auto, crc32c, the rest 0. */
SCUTE_API void scute_options_init(scute_options *options);

/* Sets one option by name, as text: "size" takes 64M, 16GiB; enums take their lower-case names
 * ("mlpc", "ram"); "policy" takes default, conservative or scrub:N; "mode" is octal. Each flag has
 * a name, which takes "1" or "0": "readonly", "preallocate", "overwrite", "no_fault_handler",
 * "account", "lazy_recovery", "damaged", "plain_encoding", "without_log". `layout` keeps the
 * pointer. SCUTE_E_INVALID says what is right. */
SCUTE_API int scute_options_set(scute_options *options, const char *name, const char *value);

/* Applies every SCUTE_<NAME> variable of the environment (SCUTE_MEDIUM=file). */
SCUTE_API int scute_options_from_env(scute_options *options);

/* ---- pools ----------------------------------------------------------------------------------- */

/* Makes a pool file and opens it. With options null (here and in scute_open) the defaults apply,
 * changed by the environment (scute_options_from_env), at opening except [create]. The file is
 * sparse unless SCUTE_PREALLOCATE is given. Blocks for logs and headers are reserved now, those of
 * objects at first use. SCUTE_E_NOSPC: the file system has no room, or RLIMIT_FSIZE forbids such a
 * file (errno is EFBIG; no signal). SCUTE_E_EXISTS: something is at path, if only a link that leads
 * nowhere. On failure no new file remains. The file gets its name when it is a whole pool, durably
 * before this returns; if the process ends earlier, path is unchanged. (A temporary name, where one
 * is needed, is path with symbolic links followed, + ".scute-new". The next creation or opening at
 * path removes it if its maker is dead; else SCUTE_E_BUSY.) */
SCUTE_API int scute_create(const char *path, const scute_options *options, scute_pool **pool);

/* Opens a pool. After an unclean end the transactions that had been decided are completed and the
 * others vanish. Damaged superblock copies, logs and headers are repaired, counted
 * (scute_info.repaired) and reported as events. The traces of the unclean end itself are not. The
 * pool is locked against other processes (SCUTE_E_BUSY) until it is closed, whatever descriptors
 * the program closes (docs/guides/operate.md). SCUTE_E_UNSUPPORTED: its file system keeps no locks.
 * Parts in use that have lost their blocks (a sparse copy has holes for zeros) get new ones. If
 * there is no room for them (SCUTE_E_NOSPC), make room, or open with SCUTE_READONLY. An unclean
 * pool without its log is refused. With SCUTE_WITHOUT_LOG it loses commits since the last
 * checkpoint, with an event (SCUTE_EVENT_LOG), and needs scute_check() with repair first.
 *
 * On a full file system only allocations fail (SCUTE_E_NOSPC, nothing changed), and transactions
 * whose log does not fit a lane. On copy-on-write file systems, or with reflinks, a store that
 * finds no room ends the process by SIGBUS. */
SCUTE_API int scute_open(const char *path, const scute_options *options, scute_pool **pool);

/* Gives a closed pool another engine; objects stay as they are. Opens the pool, recovers it if need
 * be, switches and closes it; options and errors as for scute_open(). A crash leaves a pool of
 * either engine. SCUTE_E_INVALID: no engine that exists and fits the pool's protection and parity
 * rows. SCUTE_E_NOSPC: no room for the log of engine SPEC; nothing was changed. That the pool has
 * this engine already is success. */
SCUTE_API int scute_set_engine(const char *path, const scute_options *options,
                               enum scute_engine to);

/* Closes the pool and marks it clean. No thread may be inside a call on it; transactions still
 * open are aborted. Every pointer into the pool becomes invalid. pool null: does nothing. */
SCUTE_API int scute_close(scute_pool *pool);

/* The object from which all others are reached, made (zeroed) at the first call. Later calls return
 * the same oid and ignore type. SCUTE_E_RANGE if the existing root is smaller than size. Size 0
 * asks for an existing root only (SCUTE_E_NOENT if there is none yet). Not inside a transaction
 * (SCUTE_E_INVALID). Any thread. */
SCUTE_API int scute_root(scute_pool *pool, uint64_t size, uint32_t type, scute_oid *oid);

/* Facts about an open pool. */
typedef struct scute_info {
  size_t struct_size;
  uint8_t uuid[16];
  char layout[64];
  uint64_t size;    /* of the file */
  uint32_t version; /* of the format */
  enum scute_medium medium;
  int map_sync;      /* 1: the file system granted MAP_SYNC */
  int eadr;          /* 1: CPU caches are in the persistence domain */
  const char *flush; /* "clwb", "clflushopt", "clflush", "msync", "none"; static */
  const char *simd;  /* widest kernels in use, e.g. "avx512"; static */
  enum scute_engine engine;
  enum scute_protection protection;
  enum scute_checksum checksum;
  uint32_t rows, parity; /* N and P of each zone */
  uint64_t row_size;     /* length of a row */
  uint64_t zone_size, zone_count;
  uint32_t chunk_size;
  uint64_t chunk_count; /* in all zones */
  uint64_t chunks_free; /* never used or free again; not runs of which all objects are free */
  uint32_t lanes;
  uint64_t lane_size;      /* log bytes per lane and replica */
  uint64_t epoch;          /* how often the pool was opened for writing */
  int clean;               /* 1: the previous session closed the pool properly */
  uint64_t recovered;      /* transactions completed by recovery at this open */
  uint64_t recovery_ns;    /* time recovery took at this open */
  uint64_t repaired;       /* damaged structures rebuilt since this open */
  uint64_t open_ns;        /* time the whole open took */
  uint64_t overhead;       /* bytes of the file that are not object space (parity, logs, ...) */
  uint16_t tag;            /* high 16 bits of this pool's oids */
  uint64_t lost;           /* damaged structures beyond repair that were met since this open */
  uint64_t pages_repaired; /* of those repaired, pages that could not be read */
  enum scute_policy policy;
  uint64_t scrub_every;
  uint64_t last_scrub_ns;  /* CLOCK_REALTIME when a whole scrub last ended; 0: never */
  uint64_t scrub_position; /* bytes of the pool that an interrupted scrub has done; 0: none */
  int fault_handler;       /* 1: SIGBUS and SIGSEGV are handled for this pool */
  uint32_t flags;          /* SCUTE_READONLY, ... with which it was opened */
  uint64_t unresolved;     /* bytes of columns that recovery has not come to yet (logfree, spec) */
  uint64_t rolled_back;    /* fragments of undecided transactions rolled back since this open */
  uint64_t finished;       /* fragments of decided ones whose parity was completed since then */
  uint64_t log_cap;        /* engine spec: bytes of its log now, all copies; else 0 */
  uint64_t log_used;       /* of these, in segments that are in use or not yet void */
  uint64_t log_truncation_point; /* engine spec: LSN up to which the log is void, durably; else 0 */
  uint64_t log_file;  /* engine spec on a disk: bytes of PATH.log, which has its log; else 0 */
  uint64_t lost_logs; /* how often it was opened without its log (SCUTE_WITHOUT_LOG). Last time: */
  uint64_t lost_log_session;   /* the epoch whose log was lost; 0: never */
  uint64_t lost_log_since_ns;  /* all commits before that are in the pool; 0: unknown */
  uint64_t lost_log_opened_ns; /* when it was opened without it (CLOCK_REALTIME, both times) */
} scute_info;

/* Fills in *info (set info->struct_size first). Any thread. */
SCUTE_API int scute_pool_info(scute_pool *pool, scute_info *info);

/* Activity of the pool since it was opened. Bytes are those written to the medium. Lines are cache
 * lines written back or streamed. A fence is an ordering point at which the thread waited for its
 * bytes to be durable. */
typedef struct scute_counters {
  size_t struct_size;
  uint64_t transactions, aborts;
  uint64_t fences, lines;
  uint64_t bytes_data, bytes_parity, bytes_log, bytes_metadata;
  uint64_t allocs, frees;
  uint64_t lock_waits;         /* times a column lock was not free at the first try */
  uint64_t peer_invalidations; /* logs of other lanes made durably invalid on their behalf */
  uint64_t fallbacks;          /* transactions whose log did not fit its lane */
  uint64_t repairs, losses;    /* damaged objects or structures rebuilt / found beyond repair */
  uint64_t verified_bytes;     /* object bytes whose checksum was tested */
  uint64_t unverified_bytes;   /* object bytes handed out untested, with SCUTE_ACCOUNT; else 0 */
  uint64_t unverified_max; /* the most of them between two scrubs, or since the pool was opened */
  uint64_t scrubs;         /* whole scrubs completed */
  uint64_t pages_repaired; /* pages rebuilt that could not be read */
  uint64_t logged;         /* logfree: transactions logged for shared columns or in-place ranges */
  uint64_t undo_spills;    /* logfree: those of in-place ranges, for another thread or to wait */
  uint64_t drains; /* logfree: deferred parity made durable, for another thread or on request */
  uint64_t shorts; /* logfree and spec: transactions that went the short way: up to eight
                                objects of up to 4 KiB (docs/internals/logfree.md) */
} scute_counters;

/* Totals over all threads (set counters->struct_size first). Any thread. */
SCUTE_API int scute_stats(scute_pool *pool, scute_counters *counters);

/* The same for one lane (0 .. lanes-1): the transactions of one thread, while it keeps its lane. */
SCUTE_API int scute_stats_lane(scute_pool *pool, uint32_t lane, scute_counters *counters);

/* The lane of the calling thread's last transaction, if it ran on this pool; else SCUTE_E_NOENT. */
SCUTE_API int scute_thread_lane(scute_pool *pool);

/* ---- reading objects ------------------------------------------------------------------------- */

/* The object's bytes in the pool, for reading. Returns null and sets scute_errormsg() if the oid is
 * null, belongs to another pool or lies outside this one. Costs a few instructions; does not test
 * that an object is there, nor its checksum. Inside a transaction of this thread that has a
 * micro-buffer of the object, returns that (Pangolin's pgl_get). Under policy CONSERVATIVE the
 * object is tested as by scute_get_verified(). Stays valid until the object is freed or the pool
 * closed (or, for a micro-buffer, the transaction ends). Any thread. */
SCUTE_API const void *scute_get(scute_pool *pool, scute_oid oid);

/* The same after testing that a live object is there and that its checksum matches; a damaged one
 * is repaired first. SCUTE_E_OID, SCUTE_E_FREED, or SCUTE_E_CORRUPT with what was lost. With a
 * protection below MLPC only the header is tested. Any thread. */
SCUTE_API int scute_get_verified(scute_pool *pool, scute_oid oid, const void **bytes);

/* A range of an object as it lies in the pool, inside transactions too (never a micro-buffer).
 * Under policy CONSERVATIVE tests the 4 KiB fragments that the range touches, as
 * scute_get_verified() does, and that the range lies in the object (SCUTE_E_RANGE). Any thread. */
SCUTE_API int scute_get_committed(scute_pool *pool, scute_oid oid, uint64_t offset, uint64_t length,
                                  const void **bytes);

/* For C++ and for tight loops: direct address = scute_direct_base(pool) + oid, modulo 2^64. Valid
 * for oids of this pool that are not null; nothing is tested. */
SCUTE_API uintptr_t scute_direct_base(scute_pool *pool);

/* The size requested at allocation, the bytes to which the object can grow in its place, and its
 * type number. Inside a transaction of this thread the values are that transaction's (SCUTE_E_FREED
 * if it has freed the object). Each output may be null. Any thread. */
SCUTE_API int scute_object_info(scute_pool *pool, scute_oid oid, uint64_t *size, uint64_t *usable,
                                uint32_t *type);
/* The same as the pool has it, inside transactions too. */
SCUTE_API int scute_committed_info(scute_pool *pool, scute_oid oid, uint64_t *size,
                                   uint64_t *usable, uint32_t *type);

#define SCUTE_TYPE_ANY UINT32_MAX

/* Enumeration in address order: the first object of a type (or SCUTE_TYPE_ANY), and the next after
 * `after`, which must be live. *oid is SCUTE_OID_NULL at the end. Objects allocated or freed
 * meanwhile may or may not be seen. Headers are verified, and repaired as by opening the object. If
 * some are beyond repair, all readable ones are returned. The call that would end the enumeration
 * then returns SCUTE_E_CORRUPT, with SCUTE_OID_NULL; its message has their number. A zone whose
 * descriptor is lost ends it at once, with SCUTE_E_CORRUPT as well. Any thread. */
SCUTE_API int scute_first(scute_pool *pool, uint32_t type, scute_oid *oid);
SCUTE_API int scute_next(scute_pool *pool, scute_oid after, uint32_t type, scute_oid *oid);

/* ---- transactions ---------------------------------------------------------------------------- */

/* Starts a transaction in this thread, or, if it already runs one on this pool, enters it a level
 * deeper: only the outermost commit makes anything durable. A thread runs one transaction at a
 * time, on one pool (SCUTE_E_INVALID otherwise). Waits while all lanes are taken. With the handle
 * other threads get SCUTE_E_NOTX. */
SCUTE_API int scute_tx_begin(scute_pool *pool, scute_tx **tx);

/* Leaves a level; at the outermost one makes everything durable, all or nothing, and ends the
 * transaction whatever the result: on an error it has been aborted and the handle is gone.
 * SCUTE_E_CANARY: a write ran over the end (or before the start) of a micro-buffer, into the guard
 * bytes: 32 after the object, 32 to 256 before it. SCUTE_E_ABORTED: an inner level was aborted.
 * SCUTE_E_NOSPC: no room for the log of a large transaction; see scute_overwrite_max().
 * SCUTE_E_CONFLICT, SCUTE_E_FREED: another thread changed or freed an object since this one opened
 * it (changes: at mlpc). */
SCUTE_API int scute_tx_commit(scute_tx *tx);

/* Leaves a level and dooms the whole transaction; at the outermost one ends it without a trace. */
SCUTE_API int scute_tx_abort(scute_tx *tx);

/* The calling thread's transaction on this pool, or null. */
SCUTE_API scute_tx *scute_tx_current(scute_pool *pool);

/* Allocates an object: size 1 .. scute_alloc_max(), a type number of the caller's choice (not
 * SCUTE_TYPE_ANY). *bytes (may be null) is its zeroed micro-buffer, writable until the transaction
 * ends. The object exists once the transaction commits. The payload is aligned to 32 bytes. */
SCUTE_API int scute_tx_alloc(scute_tx *tx, uint64_t size, uint32_t type, scute_oid *oid,
                             void **bytes);

/* Largest object this pool could ever hold: about the space of one zone. */
SCUTE_API uint64_t scute_alloc_max(scute_pool *pool);

/* Frees an object at commit. Its micro-buffer, if any, is dropped then. SCUTE_E_INVALID if it has
 * in-place ranges in this transaction. */
SCUTE_API int scute_tx_free(scute_tx *tx, scute_oid oid);

/* Opens a whole object for writing: verifies its checksum (repairing it if it fails), copies it to
 * a micro-buffer and returns that; opened again, the same buffer. The commit writes the bytes that
 * differ from the object. The buffer ends with the transaction. For small changes to large objects
 * use scute_tx_add_range(). SCUTE_E_INVALID if it has in-place ranges. */
SCUTE_API int scute_tx_open(scute_tx *tx, scute_oid oid, void **bytes);

/* A hint that the transaction is about to open these n objects. Prefetches their first lines and
 * those of their parity all at once. Verifies, opens and locks nothing, and ignores oids that are
 * of no use. Worth while for two objects or more that are not in the processor's caches.
 * SCUTE_E_NOTX; SCUTE_E_INVALID if oids is null and n is not 0. */
SCUTE_API int scute_tx_prefetch(scute_tx *tx, const scute_oid *oids, size_t n);

/* Opens the range [offset, offset+length) of an object for writing. *bytes points at the range's
 * first byte in the micro-buffer. Write no bytes outside the added ranges. Such a write is lost, or
 * is committed if the object has up to 512 bytes, which are opened as a whole. Only a write beyond
 * the object is noticed. Ranges may overlap and repeat, and share one buffer. Costs the range,
 * whatever the object's size: verifies only the 4 KiB fragments that the range touches. A range
 * that is wholly open in place gives a pointer into the pool; one that is partly so
 * SCUTE_E_INVALID. */
SCUTE_API int scute_tx_add_range(scute_tx *tx, scute_oid oid, uint64_t offset, uint64_t length,
                                 void **bytes);

/* Opens a range for stores straight to the pool, as libpmemobj's tx_add_range does: the old bytes
 * come back if the transaction does not commit. With engine redo they are made durable first, at
 * one fence per call; with engine spec as well, unless the log has them. With engine logfree the
 * parity has them already: the range holds its columns (4 KiB of every row) until the transaction
 * ends or another one needs them. Until then other threads can see the new bytes; their writes to
 * these fragments fail (SCUTE_E_CONFLICT), and their reads count as reads of the old version. Below
 * SCUTE_PROTECT_MLPC nothing distinguishes versions: a read may return bytes that are later rolled
 * back. *bytes points into the pool, or into the micro-buffer if this transaction has the range in
 * one or allocated the object. SCUTE_E_RANGE beyond the object, or above 1 GiB; SCUTE_E_INVALID if
 * a part of the range only is in a micro-buffer. Until the transaction ends it cannot free the
 * object, open it as a whole, or add a range that is open in place in part. While the object has
 * ranges of both kinds, read it by scute_tx_get_range(), not scute_tx_get(). All these fail with
 * SCUTE_E_INVALID, and change nothing. */
SCUTE_API int scute_tx_inplace(scute_tx *tx, scute_oid oid, uint64_t offset, uint64_t length,
                               void **bytes);

/* Reads inside a transaction, its own writes included. Returns the micro-buffer if there is one
 * (completed first if only ranges had been added). Else returns the object in the pool, verified no
 * more than by scute_get. */
SCUTE_API int scute_tx_get(scute_tx *tx, scute_oid oid, const void **bytes);

/* Lets a binding read inside a transaction without a call (scute::tx does):
 *   units     (file size - SCUTE_DIRECT_MAX) / 32 while every object of up to SCUTE_DIRECT_MAX
 *             bytes may be read by its address. 0 once the transaction has opened, allocated or
 *             freed an object, and always in a pool in which the library checks every access
 *   touched   SCUTE_TOUCHED_BIT(oid) is set for every object that the transaction has opened,
 *             allocated or freed so far, and for some others. If it is clear, a read as outside of
 *             a transaction misses no change */
typedef struct scute_tx_reads {
  uint64_t units, touched;
} scute_tx_reads;
#define SCUTE_DIRECT_MAX UINT64_C(65536)
#define SCUTE_TOUCHED_BIT(oid) (UINT64_C(1) << (((oid) >> 5) * UINT64_C(0x9e3779b97f4a7c15) >> 58))

/* Valid until the transaction ends, and changes meanwhile. tx null: as if all were touched. */
SCUTE_API const scute_tx_reads *scute_tx_reading(const scute_tx *tx);

/* The same for a range; never copies more than the range. */
SCUTE_API int scute_tx_get_range(scute_tx *tx, scute_oid oid, uint64_t offset, uint64_t length,
                                 const void **bytes);

/* ---- one object at a time (Pangolin's pgl_open / pgl_commit) --------------------------------- */

/* Opens an object for writing without a transaction. The buffer is the caller's until
 * scute_obj_commit() or scute_obj_discard(). Any thread; the buffer may change threads. */
SCUTE_API int scute_obj_open(scute_pool *pool, scute_oid oid, void **bytes);

/* Writes the changes atomically, and releases the buffer (also on failure). SCUTE_E_FREED or
 * SCUTE_E_CONFLICT if it was freed or changed since; SCUTE_E_INVALID in a transaction, or if its
 * pool was closed. */
SCUTE_API int scute_obj_commit(void *bytes);

/* Releases the buffer without writing. bytes null: does nothing. */
SCUTE_API void scute_obj_discard(void *bytes);

#ifdef __cplusplus
}
#endif
#include <scute/inspect.h>
#include <scute/repair.h>
#include <scute/shield.h>
#endif
